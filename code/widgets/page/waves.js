kit.widget('waves', (() => {
    'use strict';
    const { tag, text, number, scale, path, picture } = kit;
    return {
        fields: [
            { name: 'position', label: 'Position', type: 'number', min: 0, max: 127, value: '20' },
            { name: 'd_model', label: 'Width d_model', type: 'number', min: 1, max: 128, value: '32' },
        ],
        ask: ({ position, d_model }, call) => call('waves', [position, d_model]),
        say({ numbers }, { position, d_model }) {
            const [row, distance] = numbers.slice(-2);
            if (Number.isNaN(row)) return 'Position 0: every sine is 0, every cosine is 1.';
            const stamps = Number(position) === 1 ? 'The stamp' : 'The closest stamp';
            return `Position ${position}, ${d_model} entries wide. ${stamps} before it is that of position ${row}, at distance ${number(distance, 3)}: no two rows are equal.`;
        },
        draw({ numbers }, state, width) {
            const columns = Number(state.d_model);
            const rows = Number(state.position) + 1;
            const [left, right, top, middle, grid, bottom] = [52, width - 8, 12, 112, 150, 400];
            const x = scale(0, columns, left, right);
            const y = scale(1, -1, top, middle);
            const last = Array.from(numbers.slice((rows - 1) * columns, rows * columns));
            const height = Math.min(24, (bottom - grid) / rows);
            const every = Math.max(1, Math.ceil(rows / 8 / 4) * 4);
            return {
                height: 440,
                body: [
                    [1, 0, -1].map((value) => [
                        tag('line', { x1: left, x2: right, y1: y(value), y2: y(value), stroke: 'var(--figure-grid)' }),
                        text(left - 8, y(value) + 5, number(value, 0), { 'text-anchor': 'end' }),
                    ]),
                    tag('path', { d: path(last.map((value, i) => [x(i + 0.5), y(value)])), fill: 'none', stroke: 'var(--figure-1)', 'stroke-width': 2 }),
                    last.map((value, i) => tag('circle', { cx: x(i + 0.5).toFixed(1), cy: y(value).toFixed(1), r: columns > 64 ? 2 : 3, fill: 'var(--figure-1)' })),
                    tag('image', { href: picture(numbers, columns, rows), x: left, y: grid, width: right - left, height: height * rows, preserveAspectRatio: 'none', style: 'image-rendering:pixelated' }),
                    tag('rect', { x: left, y: grid + height * (rows - 1), width: right - left, height, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 }),
                    Array.from({ length: rows }, (_, row) => row)
                        .filter((row) => row === rows - 1 || (row % every === 0 && (rows - 1 - row) * height > 16))
                        .map((row) => text(left - 8, grid + height * (row + 0.5) + 5, row, { 'text-anchor': 'end' })),
                    text((left + right) / 2, 136, width < 480 ? `position ${rows - 1}; all so far, below` : `entries of position ${rows - 1}, above; all positions so far, below`, { 'text-anchor': 'middle' }),
                    [0, columns - 1].map((column) => text(x(column + 0.5), Math.min(bottom, grid + height * rows) + 20, column, { 'text-anchor': column ? 'end' : 'start' })),
                    text((left + right) / 2, Math.min(bottom, grid + height * rows) + 20, 'entry', { 'text-anchor': 'middle' }),
                ],
                pointer: (px, py) => py > grid && py < bottom
                    ? { position: String(Math.max(0, Math.min(127, Math.floor((py - grid) / height)))) } : undefined,
            };
        },
        table({ numbers }, state) {
            const columns = Number(state.d_model);
            const row = Number(state.position);
            return {
                head: ['entry', `position ${row}`],
                rows: Array.from(numbers.slice(row * columns, (row + 1) * columns), (value, i) => [i, number(value, 6)]),
            };
        },
        code: ({ position, d_model }) => ({ position, d_model }),
    };
})());
