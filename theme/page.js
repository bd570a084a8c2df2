// What mdBook's own controls lack for a reader without a pointer or without the picture.
(() => {
    'use strict';

    // The switch of the sidebar is a label: it takes no focus, and may not say whether it is open.
    const label = document.getElementById('mdbook-sidebar-toggle');
    const box = document.getElementById('mdbook-sidebar-toggle-anchor');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = label.className;
    for (const name of ['title', 'aria-label', 'aria-controls']) {
        button.setAttribute(name, label.getAttribute(name));
    }
    button.append(...label.childNodes);
    const tell = () => button.setAttribute('aria-expanded', String(box.checked));
    box.addEventListener('change', tell);
    tell();
    // mdBook listens to the label, which stays, out of sight.
    button.addEventListener('click', () => label.click());
    label.hidden = true;
    label.before(button);

    document.getElementById('mdbook-menu-bar').setAttribute('role', 'banner');
})();
