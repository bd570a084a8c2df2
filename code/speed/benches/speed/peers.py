"""Prints what NumPy and PyTorch take for the groups named as arguments, a line of JSON each.

Each is written as its users write it: whole-array expressions, on one thread, results in fresh
memory. The median of seven runs, after one that does not count.
"""

import json
import statistics
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None
    print("NumPy is not installed: left out", file=sys.stderr)
try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None
    print("PyTorch is not installed: left out", file=sys.stderr)

HEADS, HEAD_DIM = 32, 128
RUNS = 7


def number_of(library, kind):
    return library.float32 if kind == "f32" else library.float64


def measure(group, who, run):
    run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"group": group, "who": who, "milliseconds": statistics.median(times)}))


def sinusoidal(group):
    def table():
        angles = numpy.arange(131_072.0)[:, None] * 10_000.0 ** (-numpy.arange(0, 512, 2) / 512)
        result = numpy.empty((131_072, 512))
        result[:, 0::2] = numpy.sin(angles)
        result[:, 1::2] = numpy.cos(angles)
        return result

    if numpy:
        measure(group, "NumPy", table)


def rotation(group, kind, layout, seq_len):
    """Queries of shape (heads, positions, head_dim), cosines and sines made beforehand."""
    seq_len = int(seq_len)
    inv_freq = [10_000.0 ** (-2 * i / HEAD_DIM) for i in range(HEAD_DIM // 2)]

    def halves(x, cos, sin, join):
        first, second = x[..., : HEAD_DIM // 2], x[..., HEAD_DIM // 2 :]
        return x * cos + join((-second, first), -1) * sin

    if torch:
        number = number_of(torch, kind)
        positions = torch.arange(seq_len, dtype=torch.float64)
        angles = torch.outer(positions, torch.tensor(inv_freq, dtype=torch.float64))
        x = torch.ones(HEADS, seq_len, HEAD_DIM, dtype=number)
        if layout == "half":
            angles = torch.cat((angles, angles), -1)
            cos, sin = angles.cos().to(number), angles.sin().to(number)
            measure(group, "PyTorch", lambda: halves(x, cos, sin, torch.cat))
        else:
            turns = torch.polar(torch.ones_like(angles), angles)
            turns = turns.to(torch.complex64 if kind == "f32" else torch.complex128)

            def multiply():
                pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
                return torch.view_as_real(pairs * turns).flatten(-2)

            measure(group, "PyTorch", multiply)
    if numpy and layout == "half" and seq_len <= 4_096:
        number = number_of(numpy, kind)
        angles = numpy.outer(numpy.arange(seq_len), inv_freq * 2)
        x = numpy.ones((HEADS, seq_len, HEAD_DIM), dtype=number)
        cos, sin = numpy.cos(angles).astype(number), numpy.sin(angles).astype(number)
        measure(group, "NumPy", lambda: halves(x, cos, sin, numpy.concatenate))


def alibi(group, kind):
    if not torch:
        return
    number = number_of(torch, kind)
    slopes = torch.tensor([2.0 ** (-8 * (h + 1) / HEADS) for h in range(HEADS)], dtype=number)
    positions = torch.arange(4_096)

    def bias():
        offsets = (positions[None, :] - positions[:, None]).to(number)
        offsets = offsets.masked_fill(offsets > 0, float("-inf"))
        return slopes[:, None, None] * offsets

    measure(group, "PyTorch", bias)


def t5(group, kind):
    """Bidirectional, 32 buckets up to 128, looked up in a table as an embedding is."""
    if not torch:
        return
    number = number_of(torch, kind)
    table = torch.full((32, HEADS), 0.5, dtype=number)
    positions = torch.arange(4_096)

    def bias():
        offsets = positions[None, :] - positions[:, None]
        distance = offsets.abs()
        far = 8 + (torch.log(distance.clamp(min=1) / 8) / torch.log(torch.tensor(16.0)) * 8).long()
        bucket = torch.where(distance < 8, distance, far.clamp(max=15)) + 16 * (offsets > 0)
        return table[bucket].permute(2, 0, 1).contiguous()

    measure(group, "PyTorch", bias)


SUBJECTS = {"sinusoidal": sinusoidal, "rotation": rotation, "alibi": alibi, "t5": t5}
for group in sys.argv[1:]:
    subject, *sizes = group.split()
    if subject in SUBJECTS:
        SUBJECTS[subject](group, *sizes)
