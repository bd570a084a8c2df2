"""Writes modules.json: what PyTorch and the released transformers library compute, module by module.

In the folder of the crate, and in an environment that holds the versions it prints (torch for the CPU):

    python tests/references/make_modules.py > tests/references/modules.json

Nothing is downloaded. "double" marks values computed in double precision, by torch or by a
function of transformers that was handed doubles; "single" marks those that the library computes
in single precision and no other way. Inputs are drawn with a fixed seed as multiples of 1/64, which
every format holds exactly.
"""

import json
import math
import platform
import sys

import torch
import torch.nn.functional as F
import transformers
from torch.nn.attention.bias import causal_lower_right
from transformers import LlamaConfig, T5Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import _get_alibi_slopes, build_alibi_tensor
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings
from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb as rotate_neox
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as rotate_gptj
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as rotate_llama
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings
from transformers.models.t5.modeling_t5 import T5Attention

transformers.logging.set_verbosity_error()

SEED = 20260801
POSITIONS = [0, 1, 7, 4096, 131_072, 1_000_000]
DRAW = torch.Generator().manual_seed(SEED)


def draw(*shape):
    """Multiples of 1/64 from -2 to 2."""
    return torch.randint(-128, 129, shape, generator=DRAW).double() / 64


def numbers(tensor):
    """Doubles with all their digits, singles with the nine that tell them apart."""
    digits = ".17g" if tensor.dtype == torch.float64 else ".9g"
    return json.loads(json.dumps(tensor.tolist()), parse_float=lambda text: float(format(float(text), digits)))


def attention():
    """torch.nn.functional.scaled_dot_product_attention, in doubles."""
    cases = []
    # Queries, keys, head_dim, value_dim: one of each, odd ones, more keys than queries (a cache), more rows than a tile.
    for seq_len, key_len, head_dim, value_dim in [(1, 1, 1, 1), (5, 5, 3, 3), (4, 9, 8, 5), (1, 17, 7, 2), (67, 67, 5, 2)]:
        q, k, v = draw(seq_len, head_dim), draw(key_len, head_dim), draw(key_len, value_dim)
        bias = draw(seq_len, key_len)
        causal = torch.zeros(seq_len, key_len, dtype=torch.float64)
        causal[~causal_lower_right(seq_len, key_len)._materialize().bool()] = -math.inf
        attend = lambda mask: F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0]
        case = {
            "queries": q, "keys": k, "values": v, "bias": bias,
            "weights": torch.softmax(q @ k.T / math.sqrt(head_dim) + causal, dim=-1),
            "none": attend(None), "causal": attend(causal),
            "bias_none": attend(bias), "bias_causal": attend(bias + causal),
        }
        if seq_len > 9:
            del case["weights"], case["bias"], case["bias_none"], case["bias_causal"]
        cases.append({name: numbers(value) for name, value in case.items()})
    return cases


def sinusoidal():
    """The paper's layout and Tensor2Tensor's, at every position and width named."""
    cases = []
    positions = torch.tensor(POSITIONS)
    for width in [1, 2, 5, 8, 33, 64]:
        pairs = torch.arange(0, width, 2, dtype=torch.float64)
        angles = positions.double()[:, None] * torch.pow(torch.tensor(10000.0, dtype=torch.float64), -pairs / width)
        both = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]
        cases.append({"layout": "paper", "by": "torch", "precision": "double", "positions": POSITIONS, "d_model": width, "rows": numbers(both)})
        if width < 4:
            continue
        half = width // 2
        angles = positions.double()[:, None] * torch.exp(torch.arange(half, dtype=torch.float64) * -(math.log(10000) / (half - 1)))
        rows = torch.cat([angles.sin(), angles.cos(), torch.zeros(len(positions), width % 2, dtype=torch.float64)], dim=1)
        cases.append({"layout": "tensor2tensor", "by": "torch", "precision": "double", "positions": POSITIONS, "d_model": width, "rows": numbers(rows)})
        rows = M2M100SinusoidalPositionalEmbedding.get_embedding(4097, width)
        few = POSITIONS[:4]
        cases.append({"layout": "tensor2tensor", "by": "M2M100", "precision": "single", "positions": few, "d_model": width, "rows": numbers(rows[few])})
    # The library computes these two in doubles and stores singles.
    for width, length in [(5, 1_000_001), (33, 131_073)]:
        table = create_sinusoidal_embeddings(length, width, torch.empty(length, width))
        few = [position for position in POSITIONS if position < length]
        cases.append({"layout": "paper", "by": "DistilBERT", "precision": "stored single", "positions": few, "d_model": width, "rows": numbers(table[few])})
    return cases


def rope():
    """Rotations in both layouts; the first rotary_dim entries of a head turn."""
    cases = []
    positions = torch.tensor(POSITIONS)
    for head_dim, rotary_dim, base in [(2, 2, 1e4), (6, 6, 1e4), (13, 10, 2000.5), (24, 24, 5e5), (32, 8, 1e6)]:
        frequencies = torch.pow(torch.tensor(base, dtype=torch.float64), -torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)
        x = draw(1, 1, len(positions), head_dim)
        angles = positions.double()[:, None] * frequencies
        twice = torch.cat([angles, angles], dim=-1)[None]
        half, _ = rotate_neox(x, x, twice.cos(), twice.sin())
        if head_dim == rotary_dim:
            llama, _ = rotate_llama(x, x, twice.cos(), twice.sin())
            assert torch.equal(llama, half)
        rows = x.transpose(1, 2)
        gptj = torch.cat([rotate_gptj(rows[..., :rotary_dim], angles.sin()[None], angles.cos()[None]), rows[..., rotary_dim:]], dim=-1)
        pairs = torch.view_as_complex(rows[0, :, 0, :rotary_dim].reshape(len(positions), -1, 2).contiguous())
        turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(1)
        complex_form = torch.cat([turned, rows[0, :, 0, rotary_dim:]], dim=-1)
        cases.append({
            "head_dim": head_dim, "rotary_dim": rotary_dim, "base": base, "positions": POSITIONS,
            "inv_freq": numbers(frequencies), "x": numbers(x[0, 0]), "half": numbers(half[0, 0]),
            "interleaved": numbers(gptj[0, :, 0]), "complex": numbers(complex_form),
        })
    config = LlamaConfig(hidden_size=24, num_attention_heads=2, rope_parameters={"rope_type": "default", "rope_theta": 1e4})
    x = draw(1, 1, len(positions), 12).float()
    cos, sin = LlamaRotaryEmbedding(config)(x, positions[None])
    whole, _ = rotate_llama(x, x, cos, sin)
    single = {"head_dim": 12, "base": 1e4, "positions": POSITIONS, "x": numbers(x[0, 0]), "half": numbers(whole[0, 0])}
    return {"double": cases, "single": single}


def t5():
    """Buckets and biases of T5's own attention; the library takes the logarithm in singles."""
    near = list(range(-140, 141))
    far = [sign * distance for distance in (1000, 4096, 131_072, 1_000_000) for sign in (-1, 1)]
    cases = []
    for buckets, max_distance in [(32, 128), (8, 20), (4, 3), (6, 50), (64, 1000)]:
        for bidirectional in (False, True):
            found = T5Attention._relative_position_bucket(torch.tensor(near + far), bidirectional, buckets, max_distance)
            cases.append({"buckets": buckets, "max_distance": max_distance, "bidirectional": bidirectional, "near": found[: len(near)].tolist(), "far": found[len(near) :].tolist()})
    odd = T5Attention._relative_position_bucket(torch.tensor(near + far), False, 7, 50)
    cases.append({"buckets": 7, "max_distance": 50, "bidirectional": False, "near": odd[: len(near)].tolist(), "far": odd[len(near) :].tolist()})
    biases = []
    for decoder in (False, True):
        config = T5Config(num_heads=3, d_kv=4, d_model=12, relative_attention_num_buckets=8, relative_attention_max_distance=20, is_decoder=decoder)
        module = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).double()
        module.relative_attention_bias.weight.data = draw(8, 3)
        with torch.no_grad():
            biases.append({
                "bidirectional": not decoder, "max_distance": 20, "table": numbers(module.relative_attention_bias.weight),
                "square": numbers(module.compute_bias(7, 7)[0]),
                "after_131070": numbers(module.compute_bias(2, 131_072, past_seen_tokens=131_070)[0, :, :, -9:]),
            })
    return {"near": [near[0], near[-1]], "far": far, "buckets": cases, "biases": biases}


def alibi():
    """Slopes and biases of BLOOM and MPT; both compute in singles."""
    slopes = {heads: numbers(_get_alibi_slopes(heads, torch.device("cpu"))) for heads in [1, 2, 3, 5, 7, 8, 12, 16, 20, 33, 71, 112]}
    mpt = []
    for heads, length, ago in [(3, 7, range(7)), (8, 1_000_001, [0, 1, 4096, 131_072, 1_000_000]), (12, 131_073, [0, 1, 4096, 131_072])]:
        row = build_mpt_alibi_tensor(heads, length)[:, 0]
        mpt.append({"heads": heads, "distances": list(ago), "bias": numbers(torch.stack([row[:, length - 1 - k] for k in ago], dim=1))})
    padded = torch.tensor([[0, 0, 1, 1, 1, 1, 1]])
    bloom = [{"heads": 5, "tokens": padded[0].tolist(), "bias": numbers(build_alibi_tensor(padded, 5, torch.float32)[:, 0])}]
    whole = build_alibi_tensor(torch.ones(1, 1_000_001, dtype=torch.long), 6, torch.float32)[:, 0]
    far = {"heads": 6, "positions": POSITIONS, "bias": numbers(whole[:, POSITIONS])}
    return {"slopes": slopes, "mpt": mpt, "bloom": bloom, "bloom_far": far}


def learned():
    """torch.nn.functional.interpolate with align_corners, in doubles, and RoBERTa's positions."""
    cases = []
    for old, new, width in [(1, 1, 2), (1, 4, 1), (4, 1, 3), (5, 7, 3), (7, 5, 1), (64, 131_072, 1), (33, 1_000_000, 2)]:
        table = draw(old, width)
        rows = F.interpolate(table.T[None], size=new, mode="linear", align_corners=True)[0].T
        few = range(new) if new < 10 else [0, 1, 2, new // 3, new // 2, new - 2, new - 1]
        cases.append({"table": numbers(table), "max_positions": new, "rows": list(few), "values": numbers(rows[list(few)])})
    ids = [[0, 31414, 2, 1, 1], [1, 1, 0, 5, 2], [7], [1], [3, 1, 4, 1, 5]]
    positions = [RobertaEmbeddings.create_position_ids_from_input_ids(torch.tensor([row]), pad)[0].tolist() for pad in (1, 3) for row in ids]
    return {"interpolated": cases, "ids": ids, "padding": [1, 3], "positions": positions}


def scaling():
    """The library's own functions for each rope_type, in singles, beside the arguments."""
    cases = []
    for head_dim, base, length in [(6, 1e4, 512), (10, 2000.5, 1000), (22, 5e5, 8192), (32, 1e6, 131_072)]:
        pairs = head_dim // 2
        scalings = {
            "linear": {"factor": 8.0},
            "dynamic": {"factor": 2.0},
            "yarn": {"factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0},
            "yarn pairs": {"factor": 5.5, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False},
            "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
            "longrope": {"factor": 32.0, "short_factor": numbers(1 + draw(pairs).abs()), "long_factor": numbers(1 + 8 * draw(pairs).abs())},
        }
        for name, given in scalings.items():
            kind = name.split()[0]
            given = {**given, "original_max_position_embeddings": length}
            extended = int(length * given["factor"]) if kind != "dynamic" else length
            config = LlamaConfig(
                hidden_size=head_dim, num_attention_heads=1, max_position_embeddings=extended,
                rope_parameters={"rope_type": kind, "rope_theta": base, **given},
            )
            for seq_len in [length, length + 1, 131_072, 1_000_000] if kind in ("dynamic", "longrope") else [1_000_000]:
                if kind == "dynamic" and seq_len < length:
                    continue
                inv_freq, factor = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"), seq_len=seq_len)
                cases.append({"rule": name, "rotary_dim": head_dim, "base": base, "length": length, "seq_len": seq_len, "given": given, "inv_freq": numbers(inv_freq.float()), "attention_factor": float(factor)})
    return cases


def precision():
    """torch's own casts, of doubles to the shorter formats."""
    values = [0.1, 257.0, 259.0, 2049.0, 65_519.0, 65_520.0, 131_071.0, 1_000_000.0, 16_777_217.0, 0.8659643233600653, 1e-5, 6e-8, 1e-8, -3.14159, 1e39]
    x = torch.tensor(values, dtype=torch.float64)
    formats = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    # As text: not every reader of JSON rounds to the nearest double, and here the last bit counts.
    text = lambda tensor: [repr(value) for value in tensor.double().tolist()]
    return {"x": text(x), **{name: text(x.to(kind)) for name, kind in formats.items()}}


def block():
    """torch's layer norm, linear, attention and tanh recurrence put together, in doubles."""
    d_model, head_dim, value_dim, hidden, seq_len = 5, 3, 2, 7, 6
    weights = {
        "query": draw(d_model, head_dim), "key": draw(d_model, head_dim), "value": draw(d_model, value_dim),
        "output": draw(value_dim, d_model), "expand": draw(d_model, hidden), "contract": draw(hidden, d_model),
    }
    x = draw(seq_len, d_model)
    normal = F.layer_norm(x, (d_model,))
    out = {}
    for name, causal in (("none", False), ("causal", True)):
        q, k, v = (normal @ weights[part] for part in ("query", "key", "value"))
        seen = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0] @ weights["output"]
        added = x + seen
        out[name] = numbers(added + F.relu(F.layer_norm(added, (d_model,)) @ weights["expand"]) @ weights["contract"])
    network = torch.nn.RNN(3, 4, bias=False, batch_first=True).double()
    network.weight_ih_l0.data, network.weight_hh_l0.data = draw(4, 3), draw(4, 4)
    tokens = draw(9, 3)
    with torch.no_grad():
        _, state = network(tokens[None])
    return {
        "weights": {name: numbers(value) for name, value in weights.items()}, "x": numbers(x), **out,
        "recurrent": {
            "token_weight": numbers(network.weight_ih_l0.data.T), "state_weight": numbers(network.weight_hh_l0.data.T),
            "tokens": numbers(tokens), "state": numbers(state[0, 0]),
        },
    }


def main():
    torch.set_grad_enabled(True)
    sections = [attention, sinusoidal, rope, t5, alibi, learned, scaling, precision, block]
    head = {
        "transformers": transformers.__version__, "torch": torch.__version__,
        "python": platform.python_version(), "seed": SEED,
    }
    print(json.dumps(head)[:-1] + ",")
    lines = [f'"{section.__name__}": {json.dumps(section())}' for section in sections]
    print(",\n".join(lines) + "}")


if __name__ == "__main__":
    sys.exit(main())
