kit.widget('arrows', (() => {
    'use strict';
    const { tag, text, number, scale } = kit;
    const last = 120;
    let held = 'query';

    /// An arrow from the middle of a plane; the vector is in its own units.
    function arrow([x, y], unit, [right, up], name, style) {
        const tip = [x + right * unit, y - up * unit];
        const angle = Math.atan2(-(tip[1] - y), tip[0] - x);
        const back = (turn) => [tip[0] - 10 * Math.cos(angle + turn), tip[1] + 10 * Math.sin(angle + turn)];
        const head = [tip, back(0.42), back(-0.42)].map((point) => point.map((c) => c.toFixed(1)).join(',')).join(' ');
        return [
            tag('line', { x1: x, y1: y, x2: tip[0].toFixed(1), y2: tip[1].toFixed(1), stroke: style.color, 'stroke-width': 2, 'stroke-dasharray': style.dashes }),
            tag('polygon', { points: head, fill: style.color }),
            text((tip[0] + 14 * Math.cos(angle)).toFixed(1), (tip[1] - 14 * Math.sin(angle) + 5).toFixed(1), name, { 'text-anchor': 'middle' }),
        ];
    }

    return {
        fields: [
            { name: 'query', label: 'Position of the query', type: 'number', min: 0, max: last, value: '5' },
            { name: 'key', label: 'Position of the key', type: 'number', min: 0, max: last, value: '8' },
            { name: 'together', label: 'Move', type: 'choice', value: 'both', options: [['both', 'both together'], ['one', 'one alone']] },
            { name: 'frequency', label: 'Frequency (radians a position)', type: 'number', min: 0, max: 3.2, step: 0.05, value: '0.25' },
        ],
        change(state, change) {
            if ((change.together || state.together) !== 'both') return change;
            const [moved, other] = change.query !== undefined ? ['query', 'key'] : ['key', 'query'];
            if (change[moved] === undefined || change[other] !== undefined || change[moved].trim() === '') return change;
            const place = Number(state[other]) + Number(change[moved]) - Number(state[moved]);
            return Number.isInteger(place) && place >= 0 ? { ...change, [other]: String(place) } : change;
        },
        ask: ({ query, key, frequency }, call) => call('arrows', [query, key, frequency]),
        say({ numbers }, { query, key }) {
            const offset = Number(key) - Number(query);
            return `Query at ${query}, key at ${key}: offset ${number(offset, 0)}, angle from query to key ${number(numbers[6], 3)} radians, dot product ${number(numbers[4], 4)}. Moved to the start of the text at the same offset: ${number(numbers[5], 4)}.`;
        },
        draw({ numbers }, { query, key }, width) {
            const middle = [width / 2, 130];
            const [left, right, line] = [28, width - 28, 290];
            const x = scale(0, last, left, right);
            const mark = (position, name, color, y) => position <= last ? [
                tag('circle', { cx: x(position).toFixed(1), cy: line, r: 9, fill: color }),
                text(x(position).toFixed(1), y, name, { 'text-anchor': 'middle' }),
            ] : [];
            const color = { q: 'var(--figure-1)', k: 'var(--figure-2)' };
            return {
                height: 336,
                body: [
                    tag('line', { x1: middle[0] - 130, x2: middle[0] + 130, y1: middle[1], y2: middle[1], stroke: 'var(--figure-grid)' }),
                    tag('line', { x1: middle[0], x2: middle[0], y1: 4, y2: 256, stroke: 'var(--figure-grid)' }),
                    tag('circle', { cx: middle[0], cy: middle[1], r: (48 * Math.sqrt(5)).toFixed(1), fill: 'none', stroke: 'var(--figure-grid)' }),
                    arrow(middle, 48, numbers.slice(0, 2), 'q', { color: color.q }),
                    arrow(middle, 48, numbers.slice(2, 4), 'k', { color: color.k, dashes: '8 4' }),
                    tag('line', { x1: left, x2: right, y1: line, y2: line, stroke: 'currentColor' }),
                    [0, 30, 60, 90, 120].map((tick) => text(x(tick), line + 30, tick, { 'text-anchor': 'middle' })),
                    mark(Number(query), 'q', color.q, line - 14),
                    mark(Number(key), 'k', color.k, line - 14),
                ],
                pointer(px, py, type) {
                    if (py < 262) return undefined;
                    const place = Math.max(0, Math.min(last, Math.round((px - left) / (right - left) * last)));
                    if (type === 'pointerdown') held = Math.abs(place - Number(query)) <= Math.abs(place - Number(key)) ? 'query' : 'key';
                    return { [held]: String(place) };
                },
            };
        },
        table: ({ numbers }) => ({
            head: ['', 'first entry', 'second entry'],
            rows: [
                ['rotated query', number(numbers[0], 6), number(numbers[1], 6)],
                ['rotated key', number(numbers[2], 6), number(numbers[3], 6)],
                ['dot product', number(numbers[4], 12), ''],
                ['dot product at the start', number(numbers[5], 12), ''],
                ['angle, radians', number(numbers[6], 6), ''],
            ],
        }),
        code: ({ query, key, frequency }) => ({ query_position: query, key_position: key, frequency: kit.real(frequency) }),
    };
})());
