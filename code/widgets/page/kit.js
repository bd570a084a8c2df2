// What every widget is made of: the door to the module, controls, drawing, and words.
// It computes nothing of the subject; see code/widgets/src for that.
(() => {
    'use strict';
    if (window.kit) return;
    const still = /\/print\.html$/.test(location.pathname);
    let own;

    class Refusal extends Error {}

    /// The module of this name, which a script of the page holds, compressed.
    async function load(name) {
        const packed = Uint8Array.from(atob(window.bookModules[name]), (byte) => byte.charCodeAt(0));
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
        const bytes = await new Response(stream).arrayBuffer();
        return (await WebAssembly.instantiate(bytes, {})).instance.exports;
    }

    /// The module that reads a pasted file: fetched when it is first asked for.
    let reader;
    function fetchReader() {
        reader ??= new Promise((resolve, reject) => {
            const script = document.createElement('script');
            script.src = 'config-reader.js';
            script.onload = () => load('reader').then(resolve, reject);
            script.onerror = () => reject(new Refusal('config-reader.js, which stands beside this page, cannot be loaded; reload the page'));
            document.head.append(script);
        });
        return reader;
    }

    /// Calls a function of the module with numbers; a refusal is thrown, in the crate's words.
    function call(name, numbers, module = own) {
        const place = module.input(numbers.length);
        new Float64Array(module.memory.buffer, place, numbers.length).set(numbers);
        const count = module[name]();
        const text = new TextDecoder().decode(
            new Uint8Array(module.memory.buffer, module.text(), module.text_length()));
        if (count < 0) throw new Refusal(text);
        const answer = new Float64Array(module.memory.buffer, module.numbers(), count).slice();
        return { numbers: answer, text };
    }

    const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

    /// Markup of an element; attributes that are undefined are left out.
    function tag(name, attributes, ...content) {
        const list = Object.entries(attributes || {}).filter(([, value]) => value !== undefined)
            .map(([key, value]) => ` ${key}="${escape(value)}"`).join('');
        return `<${name}${list}>${content.flat(Infinity).join('')}</${name}>`;
    }

    const text = (x, y, words, more) => tag('text', { x, y, ...more }, escape(words));

    /// A vertical scale of values and where a value stands on it.
    const scale = (from, to, start, end) => (value) =>
        start + (value - from) / (to - from) * (end - start);

    /// The points of a curve; what is not finite, or lies off the scale, is left out.
    const path = (points) => {
        let pen = 'M';
        return points.map(([x, y]) => {
            if (!Number.isFinite(x + y)) {
                pen = 'M';
                return '';
            }
            const step = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
            pen = 'L';
            return step;
        }).join('');
    };

    /// A number in words of at most a few digits, with a true minus sign.
    function number(value, decimals = 3) {
        if (Number.isNaN(value)) return '–';
        if (!Number.isFinite(value)) return value < 0 ? '−∞' : '∞';
        const size = Math.abs(value);
        const fixed = size < 1e5 && (size === 0 || size >= 10 ** -decimals);
        const shown = fixed ? size.toFixed(decimals) : size.toExponential(2);
        return (value < 0 && Number(shown) !== 0 ? '−' : '') + shown;
    }

    /// A typed number as Rust writes a real one.
    const real = (typed) => (/^-?\d+$/.test(String(Number(typed))) ? `${Number(typed)}.0` : String(Number(typed)));

    /// The colours of values from −1 to 1: blue, white, red, as in the drawn heat maps.
    const stops = [[16, 48, 110], [92, 150, 205], [246, 246, 242], [226, 132, 88], [128, 22, 30]];
    const palette = Uint32Array.from({ length: 256 }, (_, level) => {
        const place = level / 255 * 4;
        const stop = Math.min(3, Math.floor(place));
        const [red, green, blue] = stops[stop].map((from, i) =>
            Math.round(from + (stops[stop + 1][i] - from) * (place - stop)));
        return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    });
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d', { willReadFrequently: true });

    /// A grid of values between −1 and 1 as a picture, one pixel a cell; NaN leaves its cell empty.
    function picture(values, columns, rows) {
        canvas.width = columns;
        canvas.height = rows;
        const image = context.createImageData(columns, rows);
        const pixels = new Uint32Array(image.data.buffer);
        for (let cell = 0; cell < pixels.length; cell++) {
            const value = values[cell];
            pixels[cell] = value === value ? palette[Math.round((value + 1) * 127.5)] : 0;
        }
        context.putImageData(image, 0, 0);
        return canvas.toDataURL();
    }

    function element(name, properties, ...children) {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(properties || {})) {
            if (key in made) made[key] = value; else made.setAttribute(key, value);
        }
        made.append(...children);
        return made;
    }

    const read = (field, value) => {
        if (field.options) return field.options.findIndex(([key]) => key === value);
        return value.trim() === '' ? NaN : Number(value);
    };

    // Controls. Each is a labelled element that shows `value` and reports a new one.

    function numberControl(field, id, report) {
        const box = element('input', { id, type: 'text', inputMode: 'decimal', autocomplete: 'off' });
        box.addEventListener('input', () => report(box.value));
        const parts = [box];
        let slider;
        if (field.max !== undefined) {
            slider = element('input', {
                type: 'range', min: field.min, max: field.max, step: field.step || 1,
                'aria-label': `${field.label}, slider`,
            });
            slider.addEventListener('input', () => report(slider.value));
            parts.unshift(slider);
        }
        const show = (value) => {
            if (box.value !== value) box.value = value;
            if (slider && slider.value !== value) slider.value = value;
        };
        return { node: element('span', { className: 'entry' }, ...parts), input: box, show };
    }

    function choiceControl(field, id, report) {
        const box = element('select', { id }, ...field.options.map(([value, label]) =>
            element('option', { value, textContent: label })));
        box.addEventListener('change', () => report(box.value));
        return { node: box, input: box, show: (value) => { box.value = value; } };
    }

    function textControl(field, id, report) {
        const box = element('textarea', { id, rows: 4, spellcheck: false, autocomplete: 'off' });
        if (field.placeholder) box.placeholder = field.placeholder;
        box.addEventListener('input', () => report(box.value));
        return { node: box, input: box, show: (value) => { if (box.value !== value) box.value = value; } };
    }

    /// Words that change seats: by dragging, or with the arrow keys on the one in focus.
    function orderControl(field, id, report) {
        const row = element('span', { className: 'tokens', id, role: 'group', 'aria-label': field.label });
        const tokens = field.words.map((word, index) => {
            const token = element('button', { type: 'button', className: 'token', textContent: word });
            token.dataset.index = index;
            return token;
        });
        row.append(...tokens);
        const order = () => [...row.children].map((token) => token.dataset.index).join('');
        const move = (token, seat) => {
            const seats = [...row.children];
            const from = seats.indexOf(token);
            if (seat < 0 || seat >= seats.length || seat === from) return;
            const next = seat > from ? seats[seat].nextSibling : seats[seat];
            row.insertBefore(token, next);
            token.focus();
            report(order());
        };
        row.addEventListener('keydown', (event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
            const token = event.target.closest('.token');
            if (!step || !token) return;
            event.preventDefault();
            move(token, [...row.children].indexOf(token) + step);
        });
        row.addEventListener('pointerdown', (event) => {
            const token = event.target.closest('.token');
            if (!token) return;
            token.focus();
            token.classList.add('held');
            // Captured by the row: moving the token itself would end its own capture.
            row.setPointerCapture(event.pointerId);
            const drag = (event) => {
                const seat = [...row.children].findIndex((other) => {
                    const box = other.getBoundingClientRect();
                    return event.clientX >= box.left && event.clientX <= box.right &&
                        event.clientY >= box.top - 20 && event.clientY <= box.bottom + 20;
                });
                if (seat >= 0) move(token, seat);
            };
            const drop = () => {
                token.classList.remove('held');
                row.removeEventListener('pointermove', drag);
            };
            row.addEventListener('pointermove', drag);
            row.addEventListener('pointerup', drop, { once: true });
            row.addEventListener('pointercancel', drop, { once: true });
        });
        const show = (value) => {
            if (order() === value || !/^\d+$/.test(value)) return;
            const named = [...value].map((index) => tokens[index]);
            if (named.every(Boolean)) row.append(...named);
        };
        return { node: row, input: row, show };
    }

    const controls = { number: numberControl, choice: choiceControl, text: textControl, order: orderControl };

    /// Brings the figure of this name to life, as `design` says.
    function start(figure, name, design) {
        const defaults = Object.fromEntries(design.fields.map((field) => [field.name, field.value]));
        let state = { ...defaults };
        const panel = element('div', { className: 'panel' });
        const live = element('div', { className: 'live-drawing' });
        const drawing = figure.querySelector('.drawing');
        const caption = figure.querySelector('figcaption');
        const shown = {};
        const fields = element('div', { className: 'fields' });
        for (const field of design.fields) {
            const id = `${figure.id}-${field.name}`;
            const control = controls[field.type](field, id, (value) => set({ [field.name]: value }));
            const refusal = element('p', { className: 'refusal', id: `${id}-refusal`, role: 'alert' });
            control.input.setAttribute('aria-describedby', refusal.id);
            const label = element('label', { htmlFor: id, textContent: field.label });
            const wrap = element('div', { className: `field ${field.type}` }, label, control.node, refusal);
            fields.append(wrap);
            shown[field.name] = { ...control, refusal, wrap };
        }
        const sentence = element('p', { className: 'sentence', 'aria-live': 'polite' });
        const tableButton = element('button', {
            type: 'button', textContent: 'Table of numbers', 'aria-expanded': 'false', title: 'Key: t',
            'aria-keyshortcuts': 't',
        });
        const codeButton = element('button', { type: 'button', textContent: 'Copy as code' });
        const resetButton = element('button', { type: 'button', textContent: 'Reset' });
        const said = element('span', { className: 'said', role: 'status' });
        const numbers = element('div', { className: 'numbers', hidden: true, tabIndex: 0, role: 'group', ariaLabel: 'Table of numbers' });
        const code = element('pre', { className: 'code', hidden: true, tabIndex: 0 });
        panel.append(fields, sentence,
            element('div', { className: 'actions' }, tableButton, codeButton, resetButton, said), numbers, code);

        let answer;
        let reader;
        let pointer;
        let timer;

        // Asked for once and then told: to ask at every change would lay out the whole page.
        let room = drawing.clientWidth;

        function render() {
            const width = Math.max(300, Math.min(640, Math.floor(room) || 640));
            const picture = design.draw(answer, state, width);
            pointer = picture.pointer;
            live.innerHTML = tag('svg', {
                viewBox: `0 0 ${width} ${picture.height}`, width, height: picture.height, role: 'img',
                'aria-label': sentence.textContent, xmlns: 'http://www.w3.org/2000/svg',
            }, picture.body);
        }

        function tabulate() {
            const { head, rows } = design.table(answer, state);
            const cells = (name, row) => row.map((cell) => tag(name, {}, escape(cell)));
            numbers.innerHTML = tag('table', {},
                tag('thead', {}, tag('tr', {}, cells('th', head))),
                tag('tbody', {}, rows.map((row) => tag('tr', {}, cells('td', row)))));
        }

        function snippet() {
            const source = document.querySelector(`script[data-code="${name}"]`);
            if (!source) return '';
            let rust = source.textContent.trim();
            for (const [variable, value] of Object.entries(design.code(state, answer))) {
                rust = rust.replace(new RegExp(`(let ${variable}(?:: [^=;]+)? = )[^;]+;`), (_, start) => `${start}${value};`);
            }
            return rust + '\n';
        }

        function refuse(message) {
            const at = design.fields.find((field) => message.startsWith(`${field.name} `)) ||
                design.fields.find((field) => field.type === 'text') || design.fields[0];
            for (const field of design.fields) {
                const said = field === at ? message : '';
                const { refusal, input } = shown[field.name];
                if (refusal.textContent !== said) refusal.textContent = said;
                if (said) input.setAttribute('aria-invalid', 'true'); else input.removeAttribute('aria-invalid');
            }
        }

        function update() {
            for (const field of design.fields) {
                shown[field.name].show(state[field.name]);
                shown[field.name].wrap.hidden = Boolean(field.when && !field.when(state));
            }
            if (design.needsReader && design.needsReader(state) && !reader) {
                fetchReader().then((module) => {
                    reader = module;
                    update();
                }, (error) => refuse(error.message));
                return;
            }
            try {
                const values = Object.fromEntries(design.fields.map((field) =>
                    [field.name, field.type === 'text' || field.type === 'order' ? state[field.name] : read(field, state[field.name])]));
                answer = design.ask(values, call, reader);
            } catch (error) {
                if (!(error instanceof Refusal)) throw error;
                refuse(error.message);
                return;
            }
            for (const field of design.fields) {
                const { refusal, input } = shown[field.name];
                refusal.textContent = '';
                input.removeAttribute('aria-invalid');
            }
            sentence.textContent = design.say(answer, state);
            render();
            if (!numbers.hidden) tabulate();
            if (!code.hidden) code.textContent = snippet();
        }

        function set(change) {
            state = { ...state, ...(design.change ? design.change(state, change) : change) };
            update();
            clearTimeout(timer);
            timer = setTimeout(remember, 200);
        }

        function remember() {
            const changed = design.fields.filter((field) => field.type !== 'text' && state[field.name] !== defaults[field.name]);
            const query = changed.map((field) => `${field.name}=${encodeURIComponent(state[field.name])}`).join('&');
            // A page opened from disk may refuse to rewrite its address; the widget works without.
            try {
                history.replaceState(null, '', `#${name}${query ? `?${query}` : ''}`);
            } catch (error) { /* the address stays as it was */ }
        }

        function recall() {
            const [at, query] = decodeURI(location.hash.slice(1)).split('?');
            if (at !== name) return;
            const given = new URLSearchParams(query || '');
            const next = { ...defaults };
            for (const field of design.fields) {
                if (!given.has(field.name)) continue;
                const value = given.get(field.name);
                if (!field.options || field.options.some(([key]) => key === value)) next[field.name] = value;
            }
            state = next;
            update();
            figure.scrollIntoView({ block: 'start' });
        }

        function toggleTable() {
            numbers.hidden = !numbers.hidden;
            tableButton.setAttribute('aria-expanded', String(!numbers.hidden));
            if (!numbers.hidden) tabulate();
        }

        async function copy() {
            code.hidden = false;
            code.textContent = snippet();
            try {
                await navigator.clipboard.writeText(code.textContent);
                said.textContent = 'Copied.';
            } catch (error) {
                getSelection().selectAllChildren(code);
                said.textContent = 'Selected; press your copy key.';
            }
        }

        tableButton.addEventListener('click', toggleTable);
        codeButton.addEventListener('click', copy);
        resetButton.addEventListener('click', () => set({ ...defaults }));
        figure.addEventListener('keydown', (event) => {
            const typing = event.target.matches('textarea, input[type=text]');
            if (event.key === 't' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
                event.stopPropagation();
                toggleTable();
            }
            // The book turns pages at the arrow keys, and searches at others.
            if (event.key.startsWith('Arrow') || typing) event.stopPropagation();
        });
        const point = (event) => {
            const svg = live.firstElementChild;
            if (!pointer || !svg) return;
            const box = svg.getBoundingClientRect();
            const width = svg.viewBox.baseVal.width;
            const change = pointer((event.clientX - box.left) / box.width * width,
                (event.clientY - box.top) / box.width * width, event.type);
            if (change) set(change);
        };
        live.addEventListener('pointerdown', (event) => {
            if (!pointer) return;
            try { live.setPointerCapture(event.pointerId); } catch (error) { /* a pointer that is gone */ }
            point(event);
        });
        live.addEventListener('pointermove', (event) => {
            if (event.buttons || design.hover) point(event);
        });
        addEventListener('hashchange', recall);

        panel.querySelectorAll('input, select, textarea').forEach((input) => input.setAttribute('autocapitalize', 'off'));
        update();
        if (!answer) throw new Error(`the widget ${name} refuses its own defaults`);
        drawing.append(live);
        drawing.removeAttribute('tabindex');
        figure.insertBefore(panel, caption);
        figure.classList.add('live');
        new ResizeObserver(([entry]) => {
            if (entry.contentRect.width === room) return;
            room = entry.contentRect.width;
            render();
        }).observe(drawing);
        recall();
        figure.dataset.ready = '';
        performance.mark(name);
    }

    /// Gives life to the figures of this name; where that fails they stay as they were drawn.
    async function widget(name, design) {
        for (const figure of document.querySelectorAll(`figure[data-widget="${name}"]`)) {
            try {
                if (still) throw new Error('the printed book holds still');
                await ready;
                start(figure, name, design);
            } catch (error) {
                figure.classList.add('still');
                if (!still) console.error(error);
            }
        }
    }

    const ready = still ? undefined : load(Object.keys(window.bookModules)[0]).then((module) => { own = module; });
    window.kit = { widget, tag, text, scale, path, number, picture, real };
})();
