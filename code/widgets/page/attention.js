kit.widget('attention', (() => {
    'use strict';
    const { tag, text, number } = kit;
    const words = ['the', 'dog', 'bit', 'the', 'man'];
    const own = '01234';
    const seats = (state) => [...state.order].map(Number);

    /// Weights, a row for each query, a column for each key; beside each row, its output.
    function matrix(left, width, names, numbers, offset) {
        const top = 50;
        const strip = 14;
        const side = Math.min(41, Math.floor((width - 56 - 4 * strip) / 5));
        const start = left + 46;
        const beside = start + 5 * side + 6;
        const small = { 'font-size': side < 41 ? 13 : 15 };
        const parts = [
            text(start + side * 2.5, 17, names.join(' '), { 'text-anchor': 'middle' }),
            text(beside + 2 * strip, top - 7, 'output', { 'text-anchor': 'middle', ...small }),
        ];
        names.forEach((query, row) => {
            const roof = top + side * row;
            parts.push(text(start - 6, roof + side / 2 + 5, query, { 'text-anchor': 'end' }));
            names.forEach((key, column) => {
                const x = start + side * column;
                if (row === 0) parts.push(text(x + side / 2, top - 7, key, { 'text-anchor': 'middle', ...small }));
                const weight = numbers[offset + 5 * row + column];
                // At most 40 % of the colour, so that the number on top stays readable.
                const shade = Math.max(0, Math.min(0.4, (weight - 0.14) * 3)).toFixed(3);
                parts.push(
                    tag('rect', { x, y: roof, width: side - 2, height: side - 2, fill: 'var(--figure-1)', 'fill-opacity': shade }),
                    text(x + side / 2 - 1, roof + side / 2 + 4, number(weight, 2), { 'text-anchor': 'middle', ...small }));
            });
            numbers.slice(offset + 25 + 4 * row, offset + 29 + 4 * row).forEach((output, entry) => parts.push(tag('rect', {
                x: beside + strip * entry, y: roof, width: strip - 2, height: side - 2,
                fill: 'var(--figure-2)', 'fill-opacity': Math.max(0, Math.min(1, output * 1.8)).toFixed(3),
            })));
        });
        return { parts, height: top + 5 * side + 11 };
    }

    return {
        fields: [
            { name: 'order', label: 'Seats', type: 'order', words, value: '04231' },
            {
                name: 'mask', label: 'Mask', type: 'choice', value: 'none',
                options: [['none', 'none'], ['causal', 'causal']],
            },
            {
                name: 'signal', label: 'Position signal', type: 'choice', value: 'none',
                options: [['none', 'none'], ['input', 'in the input (sinusoids)'],
                    ['query-and-key', 'in query and key (RoPE)'], ['score', 'in the score (ALiBi)']],
            },
        ],
        ask: ({ order, mask, signal }, call) =>
            call('attention', [mask, signal, ...[...order.padEnd(5)].slice(0, 5).map((seat) => parseInt(seat, 10))]),
        say({ numbers }, state) {
            const difference = numbers[90];
            const sentence = seats(state).map((seat) => words[seat]).join(' ');
            if (state.order === own) return `Both sides read “${sentence}”. Move a word.`;
            return difference < 1e-12
                ? `“${sentence}”: every word keeps its output, wherever it stands. The outputs are permuted, nothing else (largest difference ${number(difference, 3)}).`
                : `“${sentence}”: the outputs differ, by up to ${number(difference, 3)}. Order is seen.`;
        },
        draw({ numbers }, state, width) {
            const names = seats(state).map((seat) => words[seat]);
            if (width >= 560) {
                const left = matrix(0, width / 2, words, numbers, 0);
                const right = matrix(width / 2, width / 2, names, numbers, 45);
                return { height: left.height, body: [left.parts, right.parts] };
            }
            const above = matrix(0, width, words, numbers, 0);
            const below = matrix(0, width, names, numbers, 45);
            return {
                height: above.height + below.height,
                body: [above.parts, tag('g', { transform: `translate(0 ${above.height})` }, below.parts)],
            };
        },
        table({ numbers }, state) {
            const rows = [];
            const side = (label, order, offset) => order.forEach((seat, row) => rows.push([
                label, words[seat],
                ...Array.from(numbers.slice(offset + 5 * row, offset + 5 * row + 5), (weight) => number(weight, 4)),
                ...Array.from(numbers.slice(offset + 25 + 4 * row, offset + 29 + 4 * row), (entry) => number(entry, 4)),
            ]));
            side('own order', [0, 1, 2, 3, 4], 0);
            side('yours', seats(state), 45);
            return { head: ['sentence', 'query', ...[1, 2, 3, 4, 5].map((seat) => `weight of seat ${seat}`), ...[1, 2, 3, 4].map((entry) => `output ${entry}`)], rows };
        },
        code: (state) => ({
            order: `[${seats(state).join(', ')}]`,
            mask: { none: 'Mask::None', causal: 'Mask::Causal' }[state.mask],
            signal: JSON.stringify(state.signal),
        }),
    };
})());
