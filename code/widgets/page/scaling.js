kit.widget('scaling', (() => {
    'use strict';
    const { tag, text, number, scale, path } = kit;
    const models = [
        ['llama-2', 'Llama 2 7B', 'rotary_dim: 128, base: 10_000.0, length: 4096'],
        ['llama-3', 'Llama 3 8B', 'rotary_dim: 128, base: 500_000.0, length: 8192'],
        ['mistral', 'Mistral 7B v0.1', 'rotary_dim: 128, base: 10_000.0, length: 32_768'],
        ['qwen2.5', 'Qwen2.5 7B', 'rotary_dim: 128, base: 1_000_000.0, length: 32_768'],
        ['phi-3', 'Phi-3 mini', 'rotary_dim: 96, base: 10_000.0, length: 4096'],
        ['gpt-oss', 'gpt-oss', 'rotary_dim: 64, base: 150_000.0, length: 4096'],
    ];
    const rules = [
        ['none', 'none', 'Scaling::None'],
        ['linear', 'position interpolation', 'Scaling::PositionInterpolation(FACTOR)'],
        ['ntk', 'NTK-aware', 'Scaling::NtkAware(FACTOR)'],
        ['dynamic', 'dynamic NTK', 'Scaling::DynamicNtk'],
        ['by-parts', 'NTK-by-parts', 'Scaling::NtkByParts(ByParts { factor: FACTOR, ..ByParts::default() })'],
        ['yarn', 'YaRN', 'Scaling::Yarn(Yarn { factor: FACTOR, ..Yarn::default() })'],
        ['llama3', 'Llama 3', 'Scaling::Llama3(Llama3 { factor: FACTOR, ..Llama3::default() })'],
    ];
    const pasted = (state) => state.config.trim() !== '';
    const label = (list, value) => list.find(([key]) => key === value)[1];
    /// The lists after the six numbers: before, after, trained, unscaled, scaled, leaves.
    const list = (numbers, place) => Array.from(numbers.slice(6 + place * numbers[0], 6 + (place + 1) * numbers[0]));
    return {
        fields: [
            { name: 'model', label: 'Model', type: 'choice', value: 'llama-2', options: models, when: (state) => !pasted(state) },
            { name: 'scaling', label: 'Scaling', type: 'choice', value: 'yarn', options: rules, when: (state) => !pasted(state) },
            { name: 'factor', label: 'Factor', type: 'number', value: '4', when: (state) => !pasted(state) && !['none', 'dynamic'].includes(state.scaling) },
            { name: 'length', label: 'Length (tokens)', type: 'number', value: '16384' },
            { name: 'table', label: 'Kind of layer (from 0)', type: 'number', value: '0', when: pasted },
            { name: 'config', label: 'Or paste a config.json', type: 'text', value: '', placeholder: '{ "model_type": "llama", … }' },
        ],
        needsReader: pasted,
        ask({ model, scaling, factor, length, table, config }, call, reader) {
            if (config.trim() === '') return call('scaling', [model, scaling, factor, length]);
            return call('config', [length, table, ...new TextEncoder().encode(config)], reader);
        },
        say({ numbers, text: words }, state) {
            const [pairs, trained, length, factor, never, leaving] = numbers;
            const [model, ...notes] = words.split('\n');
            const name = pasted(state) ? `Pasted file (${[model || 'no model_type', ...notes].join('; ')})`
                : `${label(models, state.model)}, scaling: ${label(rules, state.scaling)}`;
            const range = leaving === 0 ? 'no pair leaves the trained range'
                : `${leaving} ${leaving === 1 ? 'pair leaves' : 'pairs leave'} the trained range`;
            return `${name}. Trained at ${trained}: ${never} of ${pairs} pairs never complete a turn. At ${length}: ${range}. Attention factor ${number(factor, 4)}.`;
        },
        draw({ numbers }, state, width) {
            const pairs = numbers[0];
            const [trained, unscaled, now, leaves] = [2, 3, 4, 5].map((place) => list(numbers, place));
            const [left, right, top, bottom] = [58, width - 10, 40, 354];
            const all = [...trained, ...unscaled, ...now].filter((turns) => turns > 0);
            const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all, 1)))];
            const x = scale(0, Math.max(1, pairs - 1), left + 6, right - 6);
            const y = (turns) => scale(low, high, bottom, top)(Math.log10(turns));
            const curve = (turns) => path(turns.map((value, pair) => [x(pair), y(value)]));
            const ticks = Array.from({ length: high - low + 1 }, (_, step) => low + step);
            const legend = (place, words, sample) => [
                tag('g', { transform: `translate(${[left, left + (right - left) * 0.36, left + (right - left) * 0.7][place].toFixed(0)} 18)` },
                    sample, text(28, 0, words, { 'font-size': width < 480 ? 12 : 15 })),
            ];
            return {
                height: 400,
                body: [
                    ticks.map((tick) => [
                        tag('line', { x1: left, x2: right, y1: y(10 ** tick), y2: y(10 ** tick), stroke: 'var(--figure-grid)' }),
                        text(left - 6, y(10 ** tick) + 5, tick < -2 || tick > 4 ? `1e${number(tick, 0)}` : 10 ** tick, { 'text-anchor': 'end' }),
                    ]),
                    tag('line', { x1: left, x2: right, y1: y(1), y2: y(1), stroke: 'currentColor', 'stroke-dasharray': '2 3' }),
                    text(right - 4, y(1) - 6, 'one turn', { 'text-anchor': 'end' }),
                    tag('path', { d: curve(trained), fill: 'none', stroke: 'var(--figure-1)', 'stroke-width': 2 }),
                    tag('path', { d: curve(unscaled), fill: 'none', stroke: 'var(--figure-2)', 'stroke-width': 2, 'stroke-dasharray': '8 4' }),
                    now.map((turns, pair) => leaves[pair]
                        ? tag('path', { d: `M${x(pair) - 4} ${y(turns) - 4}l8 8m0 -8l-8 8`, stroke: 'var(--figure-6)', 'stroke-width': 2 })
                        : tag('circle', { cx: x(pair).toFixed(1), cy: y(turns).toFixed(1), r: 3, fill: 'var(--figure-3)' })),
                    legend(0, 'as trained', tag('line', { x1: 0, x2: 22, y1: -5, y2: -5, stroke: 'var(--figure-1)', 'stroke-width': 2 })),
                    legend(1, 'unscaled', tag('line', { x1: 0, x2: 22, y1: -5, y2: -5, stroke: 'var(--figure-2)', 'stroke-width': 2, 'stroke-dasharray': '8 4' })),
                    legend(2, 'scaled', tag('circle', { cx: 14, cy: -5, r: 4, fill: 'var(--figure-3)' })),
                    [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * (pairs - 1))).map((pair) =>
                        text(x(pair), bottom + 18, pair, { 'text-anchor': 'middle' })),
                    text((left + right) / 2, bottom + 38, width < 560 ? 'turns of each pair; × leaves the range' : 'pair, fastest first; turns up to the last position; × leaves the range', { 'text-anchor': 'middle', 'font-size': width < 480 ? 13 : 15 }),
                ],
            };
        },
        table({ numbers }) {
            const lists = [0, 1, 2, 3, 4, 5].map((place) => list(numbers, place));
            return {
                head: ['pair', 'frequency before', 'after', 'turns as trained', 'unscaled', 'scaled', 'leaves the range'],
                rows: lists[0].map((_, pair) => [pair, ...lists.slice(0, 2).map((values) => values[pair].toPrecision(9)),
                    ...lists.slice(2, 5).map((values) => number(values[pair], 4)), lists[5][pair] ? 'yes' : 'no']),
            };
        },
        code: (state) => ({
            config: `r####"${state.config}"####`,
            table: state.table,
            length: state.length,
            trained: `Trained { ${models.find(([key]) => key === state.model)[2]} }`,
            rule: rules.find(([key]) => key === state.scaling)[2].replace('FACTOR', kit.real(state.factor)),
        }),
    };
})());
