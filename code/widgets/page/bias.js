kit.widget('bias', (() => {
    'use strict';
    const { tag, text, number, scale, path, picture } = kit;
    const count = 64;
    const clamp = (place) => String(Math.max(0, Math.min(count - 1, place)));
    const way = (query, key) => {
        const offset = Number(key) - Number(query);
        return offset === 0 ? 'itself' : `${Math.abs(offset)} ${offset < 0 ? 'back' : 'ahead'}`;
    };
    return {
        fields: [
            { name: 'scheme', label: 'Scheme', type: 'choice', value: 'alibi', options: [['alibi', 'ALiBi'], ['t5', 'T5, with a made-up table']] },
            { name: 'direction', label: 'Direction', type: 'choice', value: 'causal', options: [['causal', 'causal'], ['bidirectional', 'bidirectional']] },
            { name: 'heads', label: 'Heads', type: 'number', min: 1, max: 64, value: '8' },
            { name: 'head', label: 'Head', type: 'number', min: 1, max: 64, value: '3' },
            { name: 'query', label: 'Query', type: 'number', min: 0, max: count - 1, value: '40' },
            { name: 'key', label: 'Key', type: 'number', min: 0, max: count - 1, value: '33' },
        ],
        ask: ({ scheme, direction, heads, head, query, key }, call) =>
            call('bias', [scheme, direction, heads, head, query, key]),
        say({ numbers }, { scheme, head, heads, query, key }) {
            const [slope, bucket, bias] = numbers.slice(-3);
            const rule = scheme === 'alibi' ? `slope ${number(slope, 5)}` : `bucket ${number(bucket, 0)}`;
            return `Head ${head} of ${heads}. Query ${query} looks at key ${key}, ${way(query, key)}: ${rule}, bias ${number(bias, 3)}.`;
        },
        draw({ numbers }, state, width) {
            const side = Math.min(300, width - 50);
            const [left, top] = [36, 8];
            const wide = width >= 560;
            const finite = Array.from(numbers.slice(0, count * count)).filter(Number.isFinite);
            const size = Math.max(...finite.map(Math.abs), 1e-9);
            const cells = Array.from(numbers.slice(0, count * count), (value) => (value === -Infinity ? NaN : value / size));
            const cell = side / count;
            const [query, key] = [Number(state.query), Number(state.key)];
            const [from, to, high, low] = wide ? [left + side + 70, width - 8, 20, 280] : [left + 14, width - 8, side + 60, side + 220];
            const x = scale(0, count - 1, from, to);
            const y = scale(Math.max(0, ...finite), Math.min(0, ...finite) - 1e-9, high, low);
            const row = Array.from(numbers.slice(query * count, query * count + count), (value, i) => [x(i), y(value)]);
            const bottom = wide ? 310 : low;
            return {
                height: wide ? 352 : side + 262,
                body: [
                    tag('image', { href: picture(cells, count, count), x: left, y: top, width: side, height: side, preserveAspectRatio: 'none', style: 'image-rendering:pixelated' }),
                    tag('rect', { x: left, y: top, width: side, height: side, fill: 'none', stroke: 'var(--figure-grid)' }),
                    tag('rect', { x: left, y: top + query * cell, width: side, height: cell, fill: 'none', stroke: 'currentColor' }),
                    tag('rect', { x: left + key * cell - 2, y: top + query * cell - 2, width: cell + 4, height: cell + 4, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 }),
                    [0, 32, 63].map((tick) => [
                        text(left - 6, top + tick * cell + 9, tick, { 'text-anchor': 'end' }),
                        text(left + (tick + 0.5) * cell, top + side + 18, tick, { 'text-anchor': 'middle' }),
                    ]),
                    text(left + side / 2, top + side + 36, 'key across, query down', { 'text-anchor': 'middle' }),
                    [high, low].map((place) => tag('line', { x1: from, x2: to, y1: place, y2: place, stroke: 'var(--figure-grid)' })),
                    text(from - 6, high + 5, number(Math.max(0, ...finite), 1), { 'text-anchor': 'end' }),
                    text(from - 6, low + 5, number(Math.min(0, ...finite), 1), { 'text-anchor': 'end' }),
                    tag('path', { d: path(row), fill: 'none', stroke: 'var(--figure-1)', 'stroke-width': 2 }),
                    Number.isFinite(numbers.at(-1)) ? tag('circle', { cx: x(key), cy: y(numbers.at(-1)), r: 5, fill: 'var(--figure-2)' }) : '',
                    text((from + to) / 2, (wide ? bottom - 6 : low + 20), `bias of query ${query}, by key`, { 'text-anchor': 'middle' }),
                ],
                pointer: (px, py) => px >= left && px <= left + side && py >= top && py <= top + side
                    ? { query: clamp(Math.floor((py - top) / cell)), key: clamp(Math.floor((px - left) / cell)) } : undefined,
            };
        },
        hover: true,
        table: ({ numbers }, { query }) => ({
            head: ['key', 'distance', `bias of query ${query}`],
            rows: Array.from(numbers.slice(Number(query) * count, Number(query) * count + count), (value, key) =>
                [key, way(query, key), number(value, 6)]),
        }),
        code: ({ scheme, direction, heads, head, query, key }) => ({
            scheme: JSON.stringify(scheme),
            direction: direction === 'causal' ? 'Direction::Causal' : 'Direction::Bidirectional',
            heads, head, query, key,
        }),
    };
})());
