kit.widget('layouts', (() => {
    'use strict';
    const { tag, text, number, scale, path } = kit;
    const both = [['interleaved', 'interleaved'], ['half', 'half']];
    const [first, count] = [2, 39];

    /// Which entries pair up: boxes with the number of their pair.
    function boxes(name, pairs, y, left) {
        return [
            text(0, y + 21, name),
            Array.from(pairs, (pair, entry) => [
                tag('rect', {
                    x: left + 44 * entry, y, width: 40, height: 30, stroke: 'currentColor',
                    fill: pair ? 'var(--figure-2)' : 'var(--figure-1)', 'fill-opacity': 0.25,
                }),
                text(left + 44 * entry + 20, y + 21, `${pair}`, { 'text-anchor': 'middle' }),
            ]),
        ];
    }

    function verdict(numbers, { weights, query, key, convert }) {
        if (numbers[1 + count] > 1e-9) {
            return `Shapes fit, nothing fails, and it is wrong: moving both tokens changes the score by up to ${number(numbers[1 + count], 3)}. Query and key are rotated in different layouts.`;
        }
        if (Math.abs(numbers[1] - numbers[0]) > 1e-9) {
            return `Moving both tokens changes nothing, so it looks sound; but the score is ${number(numbers[1], 3)} where training had ${number(numbers[0], 3)}. The weights are made for ${weights}, ${convert === 'yes' && query === key ? 'and were moved though the code agreed' : `the code rotates ${query}`}.`;
        }
        return `Right: the score is ${number(numbers[1], 3)} wherever the two tokens stand, as in training.`;
    }

    return {
        fields: [
            { name: 'weights', label: 'Weights made for', type: 'choice', value: 'interleaved', options: both },
            { name: 'query', label: 'Query rotated as', type: 'choice', value: 'interleaved', options: both },
            { name: 'key', label: 'Key rotated as', type: 'choice', value: 'half', options: both },
            { name: 'convert', label: 'Convert the weights first', type: 'choice', value: 'no', options: [['no', 'no'], ['yes', 'yes, to the layout of the query']] },
        ],
        ask: ({ weights, query, key, convert }, call) => call('layouts', [weights, query, key, convert]),
        say: ({ numbers }, state) => verdict(numbers, state),
        draw({ numbers }, state, width) {
            const [left, right] = [52, width - 10];
            const scores = Array.from(numbers.slice(1, 1 + count));
            const values = [...scores, numbers[0], 0];
            const [low, high] = [Math.floor(Math.min(...values) / 5) * 5, Math.ceil((Math.max(...values) + 0.01) / 5) * 5];
            const x = scale(first, 40, left, right);
            const y = scale(low, high, 330, 150);
            const pairs = numbers.slice(2 + count);
            const ticks = Array.from({ length: Math.round((high - low) / 5) + 1 }, (_, step) => low + 5 * step);
            const start = width < 480 ? 90 : 200;
            return {
                height: 384,
                body: [
                    boxes('weights', pairs.slice(0, 4), 4, start),
                    boxes('query', pairs.slice(4, 8), 40, start),
                    boxes('key', pairs.slice(8, 12), 76, start),
                    text(0, 132, 'score of the two tokens at offset −2'),
                    ticks.map((tick) => [
                        tag('line', { x1: left, x2: right, y1: y(tick), y2: y(tick), stroke: 'var(--figure-grid)' }),
                        text(left - 8, y(tick) + 5, number(tick, 0), { 'text-anchor': 'end' }),
                    ]),
                    tag('line', { x1: left, x2: right, y1: y(numbers[0]), y2: y(numbers[0]), stroke: 'var(--figure-3)', 'stroke-width': 2, 'stroke-dasharray': '8 4' }),
                    text(right, y(numbers[0]) - 6, 'as in training', { 'text-anchor': 'end' }),
                    tag('path', { d: path(scores.map((score, i) => [x(first + i), y(score)])), fill: 'none', stroke: 'var(--figure-1)', 'stroke-width': 2 }),
                    [2, 10, 20, 30, 40].map((tick) => text(x(tick), 352, tick, { 'text-anchor': 'middle' })),
                    text((left + right) / 2, 374, 'position of the query', { 'text-anchor': 'middle' }),
                ],
            };
        },
        table: ({ numbers }) => ({
            head: ['position of the query', 'position of the key', 'score', 'as in training'],
            rows: Array.from(numbers.slice(1, 1 + count), (score, i) => [first + i, i, number(score, 9), number(numbers[0], 9)]),
        }),
        code: (state) => ({
            ...Object.fromEntries(['weights', 'query', 'key'].map((name) =>
                [name, state[name] === 'half' ? 'Layout::Half' : 'Layout::Interleaved'])),
            convert: String(state.convert === 'yes'),
        }),
    };
})());
