"""Writes exact.json: the subject's formulas in arithmetic of 100 digits (mpmath).

In the folder of the crate:

    python tests/references/make_exact.py > tests/references/exact.json

With the argument `wide` it draws about ten times as many cases: the bounds in the documentation of
the functions were measured on those, and the file that is kept holds a part of them. Every value
is written as two doubles, the nearest one and the nearest to what is left: 32 digits. They are
text, since not every reader of JSON rounds to the nearest double. Inputs are doubles as they
stand, so that no rounding of an input enters.
"""

import json
import math
import platform
import random
import sys
from fractions import Fraction

import mpmath
from mpmath import mpf

mpmath.mp.dps = 100
SEED = 20260802
RNG = random.Random(SEED)
WIDE = "wide" in sys.argv[1:]
POSITIONS = [1, 4096, 131_072, 999_102, 1_000_000]


def pair(value):
    high = float(value)
    return f"{high!r} {float(value - mpf(high))!r}"


def frequency(base, i, width):
    return mpmath.power(mpf(base), mpf(-2 * i) / width)


def some(count, pairs):
    """A few of the pairs: the fastest, the slowest and some between."""
    between = RNG.sample(range(pairs), min(pairs, 40 if WIDE else count))
    return sorted({0, pairs - 1, *between})


def positions():
    drawn = [RNG.randrange(1_000_001) for _ in range(40 if WIDE else 1)]
    return POSITIONS + drawn


def inv_freq():
    cases = []
    for base in (1e4, 2000.5, 5e5, 1e6):
        for width in (6, 64, 117, 128, 512) + ((10, 14, 22, 48, 80, 96, 99, 256, 1024) if WIDE else ()):
            pairs = some(5, (width + 1) // 2)
            cases.append({"base": base, "width": width, "pairs": pairs, "values": [pair(frequency(base, i, width)) for i in pairs]})
    return cases


def encoding():
    """Sine and cosine of each pair of the paper's layout."""
    cases = []
    for width in (5, 8, 64, 117, 512) + ((2, 16, 33, 96, 128, 256, 768, 1024) if WIDE else ()):
        pairs = some(3, (width + 1) // 2) if width != 117 else [0, 4, 58]
        for position in positions():
            angles = [position * frequency(1e4, i, width) for i in pairs]
            cases.append({
                "d_model": width, "position": position, "pairs": pairs,
                "sin": [pair(mpmath.sin(angle)) for angle in angles], "cos": [pair(mpmath.cos(angle)) for angle in angles],
            })
    return cases


def table():
    """Cells of long tables: the last rows, and the anchors, one row in 256, whose angle loses most."""
    def anchors(length, width, wave):
        def lost(position, i):
            w = math.pow(1e4, -2 * i / width)
            return abs(Fraction(position * w) - Fraction(position) * Fraction(w)) * abs(wave(position * w))

        starts = range(0, length, 256)
        return [position for i in (1, 2) for position in sorted(starts, key=lambda start: lost(start, i))[-2:]]

    cases = []
    for length, width in ((131_072, 64), (1_000_001, 6)):
        last = (length - 1) // 256 * 256
        rows = {255, 256, last - 1, last, *(RNG.randrange(length) for _ in range(200 if WIDE else 2))}
        rows.update(range(length - (100 if WIDE else 12), length))
        rows.update(anchors(length, width, math.sin) + anchors(length, width, math.cos))
        pairs = range(width // 2) if WIDE or width < 10 else [0, 1, 2, 5, 20, 31]
        for position in sorted(rows):
            angles = [position * frequency(1e4, i, width) for i in pairs]
            cases.append({
                "seq_len": length, "d_model": width, "position": position, "pairs": list(pairs),
                "sin": [pair(mpmath.sin(angle)) for angle in angles], "cos": [pair(mpmath.cos(angle)) for angle in angles],
            })
    return cases


def tensor2tensor():
    cases = []
    for width in (2, 5, 64) + ((4, 8, 33, 512) if WIDE else ()):
        half = width // 2
        pairs = some(2, half)
        for position in positions():
            angles = [position * mpmath.power(10000, mpf(-i) / max(half - 1, 1)) for i in pairs]
            cases.append({
                "d_model": width, "position": position, "pairs": pairs,
                "sin": [pair(mpmath.sin(angle)) for angle in angles], "cos": [pair(mpmath.cos(angle)) for angle in angles],
            })
    return cases


def rotate():
    """A pair (x, y) turned by position times its frequency."""
    cases = []
    for base, width in ((1e4, 2), (1e4, 6), (5e5, 64), (1e6, 128)) + (((1e4, 128), (2000.5, 22), (5e5, 128), (1e6, 10)) if WIDE else ()):
        pairs = some(2, width // 2)
        for position in positions():
            turned = []
            for i in pairs:
                x, y = (RNG.randrange(-128, 129) / 64 for _ in range(2))
                angle = position * frequency(base, i, width)
                cos, sin = mpmath.cos(angle), mpmath.sin(angle)
                turned.append({"pair": i, "from": [x, y], "to": [pair(x * cos - y * sin), pair(x * sin + y * cos)]})
            cases.append({"base": base, "rotary_dim": width, "position": position, "turned": turned})
    return cases


def slopes():
    def geometric(heads):
        return [mpmath.power(2, mpf(-8 * head) / heads) for head in range(1, heads + 1)]

    cases = []
    for heads in range(1, 257) if WIDE else (1, 2, 3, 5, 7, 12, 16, 20, 33, 71):
        power = 2 ** (heads.bit_length() - 1)
        values = (geometric(power) + geometric(2 * power)[::2])[:heads]
        cases.append({"heads": heads, "slopes": [pair(value) for value in values]})
    return cases


def t5():
    """The first distance of each bucket of one direction, in whole numbers alone."""
    def bucket(distance, buckets, max_distance):
        exact = buckets // 2
        if distance < exact:
            return distance
        if distance >= max_distance:
            return buckets - 1
        steps, step = buckets - exact, 0
        while distance**steps * exact ** (step + 1) >= max_distance ** (step + 1) * exact**steps:
            step += 1
        return min(exact + step, buckets - 1)

    cases = []
    for buckets, max_distance in [(32, 128), (16, 128), (2, 20), (3, 64), (7, 50), (9, 128), (10, 160), (19, 16), (19, 288), (16, 1000), (64, 1024), (64, 4096), (99, 144), (128, 4096)]:
        found = [bucket(distance, buckets, max_distance) for distance in range(max_distance + 1)]
        assert found == sorted(found)
        first = {}
        for distance, number in enumerate(found):
            first.setdefault(number, distance)
        cases.append({"buckets": buckets, "max_distance": max_distance, "first": sorted((distance, number) for number, distance in first.items())})
    return cases


def softmax():
    """Rows of scores: the last one long, score k being a fixed fraction, so that it is not listed."""
    cases = []
    for length, spread in [(1, 1), (7, 1), (7, 30), (17, 30), (17, 700)] + ([(64, s) for s in (1, 8, 64, 700)] * 5 if WIDE else []):
        scores = [RNG.uniform(-spread, spread) for _ in range(length)]
        exponentials = [mpmath.exp(score) for score in scores]
        total = mpmath.fsum(exponentials)
        cases.append({"scores": [repr(score) for score in scores], "weights": [pair(value / total) for value in exponentials]})
    keys, kept = 4096, [0, 1, 17, 2048, 4095]
    exponentials = [mpmath.exp(mpf(k * 37 % 1024 - 512) / 64) for k in range(keys)]
    total = mpmath.fsum(exponentials)
    return {"rows": cases, "long": {"keys": keys, "kept": kept, "weights": [pair(exponentials[k] / total) for k in kept]}}


def attention():
    """Causal attention with a bias, as many queries as keys."""
    cases = []
    for length, head_dim, value_dim in [(1, 1, 1), (6, 3, 2), (9, 8, 3)] + ([(24, 16, 4), (33, 5, 2)] if WIDE else []):
        draw = lambda rows, columns: [[RNG.randrange(-128, 129) / 64 for _ in range(columns)] for _ in range(rows)]
        q, k, v, bias = draw(length, head_dim), draw(length, head_dim), draw(length, value_dim), draw(length, length)
        out = []
        for m in range(length):
            scores = [mpmath.fdot(map(mpf, q[m]), map(mpf, k[n])) / mpmath.sqrt(head_dim) + bias[m][n] for n in range(m + 1)]
            weights = [mpmath.exp(score) for score in scores]
            total = mpmath.fsum(weights)
            out.append([pair(mpmath.fsum(w * v[n][c] for n, w in enumerate(weights)) / total) for c in range(value_dim)])
        cases.append({"queries": q, "keys": k, "values": v, "bias": bias, "out": out})
    return cases


def scaled(rule, base, width, length, seq_len, factor):
    """All frequencies of a rule, and its attention factor."""
    base, factor, pi2 = mpf(base), mpf(factor), 2 * mpmath.pi
    plain = [frequency(base, i, width) for i in range(width // 2)]
    stretched = lambda s: [frequency(base * mpmath.power(s, mpf(width) / (width - 2)), i, width) for i in range(width // 2)]
    blend = lambda kept: [(1 - t) * w / factor + t * w for w, t in zip(plain, kept)]
    cut = lambda t: min(max(t, mpf(0)), mpf(1))
    temperature = mpf("0.1") * mpmath.log(factor) + 1
    if rule == "position_interpolation":
        return [w / factor for w in plain], mpf(1)
    if rule == "ntk_aware":
        return stretched(factor), mpf(1)
    if rule == "dynamic_ntk":
        return stretched(max(mpf(1), mpf(seq_len) / length)), mpf(1)
    if rule == "dynamic_ntk_with_factor":
        return stretched(factor * max(seq_len, length) / length - (factor - 1)), mpf(1)
    if rule == "ntk_by_parts":
        return blend([cut((length * w / pi2 - 1) / 31) for w in plain]), mpf(1)
    if rule in ("yarn_pairs", "yarn_whole_pairs"):
        low, high = (width * mpmath.log(length / (pi2 * turns)) / (2 * mpmath.log(base)) for turns in (32, 1))
        if rule == "yarn_whole_pairs":
            low, high = mpmath.floor(low), mpmath.ceil(high)
        low, high = max(low, 0), min(high, width - 1)
        return blend([1 - cut((i - low) / (high - low)) for i in range(width // 2)]), temperature
    if rule == "yarn_turns":
        return scaled("ntk_by_parts", base, width, length, seq_len, factor)[0], temperature
    if rule == "llama3":
        kept = [cut((length * w / pi2 - 1) / 3) for w in plain]
        return blend(kept), mpf(1)
    assert rule == "longrope"
    divisors = [1 + mpf(i) / 8 for i in range(width // 2)] if seq_len > length else [mpf(1)] * (width // 2)
    return [w / by for w, by in zip(plain, divisors)], mpmath.sqrt(1 + mpmath.log(factor) / mpmath.log(length))


def scaling():
    """Some pairs of every rule, at its default bounds."""
    rules = [
        "position_interpolation", "ntk_aware", "dynamic_ntk", "dynamic_ntk_with_factor", "ntk_by_parts",
        "yarn_turns", "yarn_pairs", "yarn_whole_pairs", "llama3", "longrope",
    ]
    trained = [(1e4, 6, 4096, 16), (2000.5, 10, 8192, 5.5), (5e5, 64, 8192, 8)]
    if WIDE:
        trained += [(1e4, 128, 4096, 64), (1e6, 128, 32_768, 4), (1e6, 80, 131_072, 8), (5e6, 256, 32_768, 31.25), (150_000, 64, 4096, 32), (1e4, 96, 2048, 3)]
        for _ in range(30):
            base, width, length = 10 ** RNG.uniform(3.4, 6.6), 2 * RNG.randrange(8, 129), RNG.randrange(1024, 200_000)
            trained.append((base, width, length, RNG.uniform(1.5, 64)))
    cases = []
    for rule in rules:
        for base, width, length, factor in trained:
            seq_len = 1_000_000
            values, attention_factor = scaled(rule, base, width, length, seq_len, factor)
            pairs = list(range(width // 2)) if WIDE else some(4, width // 2)
            cases.append({
                "rule": rule, "base": repr(base), "rotary_dim": width, "length": length, "factor": repr(factor), "seq_len": seq_len,
                "pairs": pairs, "inv_freq": [pair(values[i]) for i in pairs], "attention_factor": pair(attention_factor),
            })
    return cases


def main():
    sections = [inv_freq, encoding, table, tensor2tensor, rotate, slopes, t5, softmax, attention, scaling]
    head = {"mpmath": mpmath.__version__, "digits": mpmath.mp.dps, "python": platform.python_version(), "seed": SEED}
    print(json.dumps(head)[:-1] + ",")
    print(",\n".join(f'"{section.__name__}": {json.dumps(section())}' for section in sections) + "}")


if __name__ == "__main__":
    main()
