//! Every page as it is read without scripts.

use serde_json::json;

use crate::{at_both_widths, book, pages, server};

#[test]
#[ignore = "needs Chromium, chromedriver and the built book"]
fn without_scripts_every_page_is_whole() {
    let address = server::serve(book());
    at_both_widths(|browser, width| {
        let parameters = json!({"value": true});
        browser.command("Emulation.setScriptExecutionDisabled", parameters);
        for page in pages() {
            browser.open(&format!("{address}/{page}"));
            let place = format!("{page} at {width} pixels");
            assert_eq!(
                browser.run("return document.documentElement.matches('.js')"),
                false
            );
            let text = browser.run("return document.querySelector('main').innerText.length");
            assert!(text.as_u64() > Some(500), "{place}: {text} letters");
            let empty = browser.text(
                "const shown = (part) => part.checkVisibility({visibilityProperty: true}) \
                   && part.getBoundingClientRect().width > 0 && part.getBoundingClientRect().height > 0;\
                 return [...document.querySelectorAll('main .drawing > svg, main .katex-html, main pre, main td')]\
                   .filter((part) => !part.closest('details') && !shown(part) && part.textContent.trim())\
                   .map((part) => part.outerHTML.slice(0, 200)).join('\\n')",
            );
            assert_eq!(empty, "", "{place}");
            let room = browser.text(
                "return [...document.querySelectorAll('figure.figure')].filter((figure) => \
                   figure.querySelector('figcaption').getBoundingClientRect().top - \
                   figure.querySelector('svg').getBoundingClientRect().bottom > 40)\
                 .map((figure) => figure.id).join(' ')",
            );
            assert_eq!(room, "", "{place}: room is kept for what does not come");
            // The switch of the sidebar needs no script.
            browser.run("document.getElementById('mdbook-sidebar-toggle').click()");
            browser.wait(&format!(
                "const frame = document.querySelector('#mdbook-sidebar iframe');\
                 const links = [...(frame.contentDocument?.links || [])];\
                 return frame.getBoundingClientRect().right > 100 && links.length > 15 \
                   && links.every((link) => link.href.startsWith('{address}'))"
            ));
        }
    });
}
