kit.widget('similarity', (() => {
    'use strict';
    const { tag, text, number, scale, path } = kit;
    const positions = 128;
    return {
        fields: [
            { name: 'position', label: 'Position', type: 'number', min: 0, max: 127, value: '40' },
            { name: 'd_model', label: 'Width d_model', type: 'number', min: 2, max: 512, step: 2, value: '64' },
            { name: 'base', label: 'Base', type: 'number', value: '10000' },
        ],
        ask: ({ position, d_model, base }, call) => call('similarity', [position, d_model, base]),
        say({ numbers }, { position, d_model }) {
            const curve = numbers.slice(Number(d_model));
            const at = Number(position);
            const steps = [1, 8].map((offset) => at + offset < positions ? at + offset : at - offset);
            return `Position ${at}: similarity 1 with itself, ${number(curve[steps[0]], 3)} one step away, ${number(curve[steps[1]], 3)} eight steps away, before and after alike.`;
        },
        draw({ numbers }, state, width) {
            const columns = Number(state.d_model);
            const at = Number(state.position);
            const [left, right] = [52, width - 8];
            const entry = scale(0, columns, left, right);
            const value = scale(1, -1, 12, 112);
            const x = scale(0, positions - 1, left + 4, right - 4);
            const y = scale(1, -0.5, 160, 330);
            const curve = Array.from(numbers.slice(columns), (similarity, other) => [x(other), y(similarity)]);
            const bar = Math.max(0.8, (right - left) / columns - 1);
            return {
                height: 380,
                body: [
                    [1, 0, -1].map((tick) => text(left - 8, value(tick) + 5, number(tick, 0), { 'text-anchor': 'end' })),
                    tag('line', { x1: left, x2: right, y1: value(0), y2: value(0), stroke: 'var(--figure-grid)' }),
                    Array.from(numbers.slice(0, columns), (entryValue, i) => tag('rect', {
                        x: entry(i).toFixed(1), width: bar.toFixed(1),
                        y: Math.min(value(0), value(entryValue)).toFixed(1),
                        height: Math.abs(value(entryValue) - value(0)).toFixed(1),
                        fill: i % 2 ? 'var(--figure-2)' : 'var(--figure-1)',
                    })),
                    text((left + right) / 2, 134, width < 480 ? `sines (blue) and cosines of position ${at}` : `the ${columns} entries of position ${at}: sines blue, cosines orange`, { 'text-anchor': 'middle', 'font-size': width < 480 ? 13 : 15 }),
                    [1, 0.5, 0, -0.5].map((tick) => [
                        tag('line', { x1: left, x2: right, y1: y(tick), y2: y(tick), stroke: 'var(--figure-grid)' }),
                        text(left - 8, y(tick) + 5, number(tick, 1), { 'text-anchor': 'end' }),
                    ]),
                    tag('line', { x1: x(at), x2: x(at), y1: 156, y2: 330, stroke: 'currentColor', 'stroke-dasharray': '3 4' }),
                    tag('path', { d: path(curve), fill: 'none', stroke: 'var(--figure-1)', 'stroke-width': 2 }),
                    tag('circle', { cx: x(at), cy: y(1), r: 5, fill: 'var(--figure-2)' }),
                    [0, 32, 64, 96, 127].map((tick) => text(x(tick), 350, tick, { 'text-anchor': 'middle' })),
                    text((left + right) / 2, 372, 'similarity with every position; click one', { 'text-anchor': 'middle' }),
                ],
                pointer: (px, py) => py > 140
                    ? { position: String(Math.max(0, Math.min(positions - 1, Math.round((px - left - 4) / (right - left - 8) * (positions - 1))))) } : undefined,
            };
        },
        table: ({ numbers }, state) => ({
            head: ['position', 'offset', 'similarity'],
            rows: Array.from(numbers.slice(Number(state.d_model)), (similarity, other) =>
                [other, number(other - Number(state.position), 0), number(similarity, 6)]),
        }),
        code: ({ position, d_model, base }) => ({ position, d_model, base: kit.real(base) }),
    };
})());
