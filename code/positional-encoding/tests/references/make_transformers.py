"""Writes transformers.json: rotary frequencies as the released transformers library computes them.

In the folder of the crate, and in an environment that holds the versions it prints (torch for the CPU):

    python tests/references/make_transformers.py > tests/references/transformers.json

Every value comes from the library's own modules: a configuration is read with its class, its
rotary embedding is built and, for a current length, called once with positions up to that
length. Nothing is downloaded. Cases are the bare model types, for the defaults that a file may
leave out, and configurations drawn with a fixed seed for every kind of frequencies.
"""

import importlib
import inspect
import json
import math
import platform
import random
import sys
import warnings

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()

SEED = 20260730
FAMILIES = """
afmoe apertus arcee aria_text axk1 bailing_hybrid bamba bitnet chameleon cohere cohere2
cohere2_moe cwm dbrx deepseek_v2 deepseek_v3 deepseek_v32 diffllama doge dots1 emu3_text_model
ernie4_5 ernie4_5_moe eurobert exaone exaone4 exaone_moe falcon falcon_h1 flex_olmo gemma gemma2
gemma3_text gemma3n_text gemma4_text glm glm4 glm4_moe glm4_moe_lite glm4v_moe_text glm_moe_dsa
gpt_neox gpt_neox_japanese gpt_oss granite granitemoe granitemoeshared gte helium
hunyuan_v1_dense hunyuan_v1_moe internlm3 jais2 jetmoe jina_embeddings_v3 laguna lfm2 lfm2_moe
llama llama4_text longcat_flash mimo_v2_flash minicpm3 minimax minimax_m2 ministral ministral3
mistral mistral4 mixtral mllama_text_model modernbert modernbert-decoder nanochat nemotron
nomic_bert olmo olmo2 olmo3 olmoe persimmon phi phi3 phi4_multimodal phimoe qwen2
qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_5_text qwen3_5_moe_text
qwen3_moe qwen3_next qwen3_omni_moe_text qwen3_vl_text qwen3_vl_moe_text recurrent_gemma seed_oss
smollm3 solar_open stablelm starcoder2 t5gemma2_text t5gemma2_decoder t5_gemma_module vaultgemma
youtu zamba2 hy_v3 sarvam_moe
""".split()

# Types whose defaults alone make no head of even width.
HEAD_DIM = {"glm4_moe": 128, "qwen3_omni_moe_text": 128}


def text_config(config):
    cls = CONFIG_MAPPING[config["model_type"]]
    return cls.from_dict(json.loads(json.dumps(config))).get_text_config()


def modeling(text):
    path = type(text).__module__.replace("configuration_", "modeling_")
    if "qwen2_5_omni" in path:
        return importlib.import_module("transformers.models.qwen2_5_vl.modeling_qwen2_5_vl")
    return importlib.import_module(path)


def rotary_class(module):
    found = []
    for name, cls in inspect.getmembers(module, inspect.isclass):
        other = any(word in name for word in ("Vision", "Audio", "Indexer", "Encoder", "Patch"))
        if "Rotary" in name and not other and cls.__module__ == module.__name__:
            found.append(cls)
    if not found:
        raise LookupError(f"no rotary embedding in {module.__name__}")
    return max(found, key=lambda cls: (("Text" in cls.__name__), -len(cls.__name__)))


def numbers(tensor):
    return [float(f"{value:.9g}") for value in tensor.float().reshape(-1).tolist()]


def answer(config, length):
    """The tables of one configuration at one length, by kind of layer."""
    text = text_config(config)
    embedding = rotary_class(modeling(text))(text)
    kinds = [k[: -len("_inv_freq")] for k in dict(embedding.named_buffers()) if k.endswith("_inv_freq")]
    kinds = [kind for kind in kinds if not kind.endswith("original")] or [None]
    positions = torch.arange(max(0, length - 2), length)[None]
    tables = {}
    for kind in kinds:
        layer = {} if kind is None else {"layer_type": kind}
        hidden = torch.zeros(1, 1, positions.shape[1], 8)
        try:
            embedding(hidden, positions, **layer)
        except TypeError:
            embedding(hidden, positions[None].expand(3, 1, -1), **layer)
        except RuntimeError:
            embedding(hidden, positions.expand(3, 1, -1).clone(), **layer)
        prefix = "" if kind is None else f"{kind}_"
        scaling = getattr(embedding, f"{prefix}attention_scaling", 1.0)
        tables[kind or "all"] = {
            "inv_freq": numbers(getattr(embedding, f"{prefix}inv_freq")),
            "attention_factor": float(scaling),
        }
    return tables


def score(q, k, m, n, frequencies, interleaved):
    """The score of a rotated query and key, in the layout named, in double precision."""
    total = 0.0
    pairs = len(frequencies)
    for i, w in enumerate(frequencies):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
        c, s = math.cos((m - n) * w), math.sin((m - n) * w)
        total += c * (q[a] * k[a] + q[b] * k[b]) + s * (q[a] * k[b] - q[b] * k[a])
    return total


def layout(config):
    """The layout, told by the scores that the library's own rotation gives."""
    text = text_config(config)
    module = modeling(text)
    embedding = rotary_class(module)(text)
    interleave = getattr(module, "apply_rotary_pos_emb_interleave", None)
    if interleave and getattr(text, "rope_interleave", True):
        rotate = interleave
    else:
        rotate = getattr(module, "apply_rotary_pos_emb", None) or module.apply_rotary_emb
    buffers = dict(embedding.named_buffers())
    kind = next((k[: -len("_inv_freq")] for k in buffers if k.endswith("attention_inv_freq") and "original" not in k), None)
    layer = {} if kind is None else {"layer_type": kind}
    frequencies = (buffers.get("inv_freq") if kind is None else buffers[f"{kind}_inv_freq"]).tolist()
    width = 2 * len(frequencies)
    torch.manual_seed(SEED)
    q, k = torch.randn(2, 1, 1, 2, width)
    positions = torch.tensor([[5, 3]])
    try:
        angles = embedding(q, positions, **layer)
    except (TypeError, RuntimeError):
        angles = embedding(q, positions.expand(3, 1, -1).clone(), **layer)
    if isinstance(angles, tuple):
        try:
            turned_q, turned_k = rotate(q, k, *angles)
        except TypeError:
            turned_q, turned_k = rotate(q, *angles), rotate(k, *angles)
    else:
        if rotate.__module__.endswith("llama4"):
            turned_q, turned_k = rotate(q.transpose(1, 2), k.transpose(1, 2), angles)
            turned_q, turned_k = turned_q.transpose(1, 2), turned_k.transpose(1, 2)
        else:
            turned_q, turned_k = rotate(q, k, angles)
    factor = float(getattr(embedding, "attention_scaling", 1.0) or 1.0) if kind is None else 1.0
    got = float((turned_q[0, 0, 0] * turned_k[0, 0, 1]).sum()) / factor**2
    q, k = q[0, 0, 0].tolist(), k[0, 0, 1].tolist()
    fits = [
        name
        for name, interleaved in (("half", False), ("interleaved", True))
        if abs(score(q, k, 5, 3, frequencies, interleaved) - got) < 1e-4 * width
    ]
    return fits[0] if len(fits) == 1 else None


def softmax(config):
    """What the attention's scale is multiplied by beside 1 / sqrt(head_dim)."""
    text = text_config(config)
    module = modeling(text)
    for name, cls in inspect.getmembers(module, inspect.isclass):
        if name.endswith("Attention") and cls.__module__ == module.__name__:
            attention = cls(text, 0)
            if hasattr(attention, "scaling"):
                head_dim = getattr(attention, "qk_head_dim", None) or attention.head_dim
                return attention.scaling * math.sqrt(head_dim)
    raise LookupError(module.__name__)


def case(name, config, lengths, **more):
    answers = []
    for length in lengths:
        tables = answer(config, length)
        for known in answers:
            if known["tables"] == tables:
                known["lengths"].append(length)
                break
        else:
            answers.append({"lengths": [length], "tables": tables})
    return {"id": name, "config": config, "answers": answers, **more}


def drawn(rng):
    """Configurations of every kind, with lengths below, at and above the trained one."""
    def base():
        return rng.choice([10000, 10000.0, 500000.0, 1000000.0, 150000.0, 5000000, 2000.5])

    def shape():
        heads = rng.choice([2, 4, 8, 12])
        head_dim = rng.choice([8, 16, 32, 40, 64, 80])
        return {"hidden_size": heads * head_dim, "num_attention_heads": heads}

    def start(model_type="llama"):
        return {"model_type": model_type, **shape(), "num_hidden_layers": 4}

    def around(trained, longest):
        return [max(1, trained // 3), trained, trained + 1, (trained + longest) // 2 + 1, longest]

    def place(config, rope, theta):
        """Puts the settings where files of different ages have them."""
        style = rng.randrange(4)
        if style == 0:
            config.update(rope_theta=theta, rope_scaling=rope)
        elif style == 1:
            config.update(rope_parameters={**rope, "rope_theta": theta})
        elif style == 2:
            rope = dict(rope)
            rope["type"] = rope.pop("rope_type")
            config.update(rope_theta=theta, rope_scaling=rope)
        else:
            config.update(rope_theta=theta, rope_parameters=rope)
        return config

    for i in range(6):
        length = rng.choice([64, 512, 2048, 4096])
        config = start(rng.choice(["llama", "qwen2", "mistral", "olmo2", "granite", "stablelm"]))
        config.update(max_position_embeddings=length, rope_theta=base())
        if config["model_type"] == "stablelm":
            config.update(partial_rotary_factor=rng.choice([0.25, 0.5]))
        yield f"default-{i}", config, around(length, 2 * length)
    for i in range(8):
        length = rng.choice([512, 2048, 4096])
        factor = rng.choice([2, 4, 8.0, 3.7, 0.5])
        config = place({**start(), "max_position_embeddings": length}, {"rope_type": "linear", "factor": factor}, base())
        yield f"linear-{i}", config, around(length, 2 * length)
    for i in range(12):
        length = rng.choice([256, 512, 2048])
        factor = rng.choice([1, 2, 4.0, 1.5, 8])
        config = place({**start(), "max_position_embeddings": length}, {"rope_type": "dynamic", "factor": factor}, base())
        yield f"dynamic-{i}", config, around(length, 8 * length)
    for i in range(20):
        length = rng.choice([256, 1024, 4096, 8192])
        factor = rng.choice([2, 4.0, 8, 16.0, 32, 2.5])
        rope = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": length}
        for key, values in {
            "truncate": [True, False], "attention_factor": [1.0, 1.3],
            "beta_fast": [32.0, 32, 16, 48.5], "beta_slow": [1, 1.0, 2.0, 0.5],
        }.items():
            if rng.random() < 0.4:
                rope[key] = rng.choice(values)
        if rng.random() < 0.5:
            rope.update(mscale=rng.choice([1.0, 0.707, 0]), mscale_all_dim=rng.choice([1.0, 0.5, 0]))
        if rng.random() < 0.2:
            rope["factor"] = None
        longest = int(length * factor)
        config = place({**start(rng.choice(["llama", "qwen3", "mistral"])), "max_position_embeddings": longest}, rope, base())
        if config["model_type"] == "qwen3":
            config["head_dim"] = rng.choice([16, 32, 64])
        yield f"yarn-{i}", config, around(length, longest)
    for i in range(12):
        length = rng.choice([256, 1024, 8192])
        factor = rng.choice([2, 8.0, 32])
        rope = {
            "rope_type": "llama3", "factor": factor, "original_max_position_embeddings": length,
            "low_freq_factor": rng.choice([1, 1.0, 0.5]), "high_freq_factor": rng.choice([4, 4.0, 2.0, 8]),
        }
        config = place({**start(), "max_position_embeddings": int(length * factor)}, rope, base())
        yield f"llama3-{i}", config, around(length, int(length * factor))
    for i in range(12):
        length = rng.choice([512, 4096])
        longest = length * rng.choice([1, 8, 32])
        phi3 = i % 2 == 0
        config = {**start("phi3" if phi3 else "llama"), "max_position_embeddings": longest}
        pairs = config["hidden_size"] // config["num_attention_heads"] // 2
        rope = {
            "rope_type": "longrope",
            "short_factor": [round(rng.uniform(1, 1.5), 3) for _ in range(pairs)],
            "long_factor": [round(rng.uniform(1, 64), 3) for _ in range(pairs)],
        }
        if phi3:
            config.update(original_max_position_embeddings=length, pad_token_id=0, vocab_size=64)
        else:
            rope["original_max_position_embeddings"] = length
        more = rng.randrange(3)
        if more == 1:
            rope["factor"] = rng.choice([4, 16.0])
        if more == 2:
            rope["attention_factor"] = rng.choice([1.0, 1.5])
        yield f"longrope-{i}", place(config, rope, base()), around(length, 2 * longest)
    for i in range(4):
        heads = rng.choice([2, 4])
        config = {
            "model_type": "gemma4_text", "hidden_size": 64, "num_attention_heads": heads,
            "head_dim": rng.choice([16, 32]), "global_head_dim": rng.choice([32, 64]),
            "num_hidden_layers": 6, "max_position_embeddings": 4096,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": base()},
                "full_attention": {
                    "rope_type": "proportional", "rope_theta": base(),
                    "partial_rotary_factor": rng.choice([0.25, 0.5, 1.0]),
                },
            },
        }
        yield f"proportional-{i}", config, [100, 4096, 8192]
    for i in range(4):
        config = {
            "model_type": "gemma3_text", "hidden_size": 64, "num_attention_heads": 4,
            "head_dim": 16, "num_hidden_layers": 6, "max_position_embeddings": 4096,
            "rope_theta": base(), "rope_local_base_freq": base(),
        }
        if i % 2:
            config["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
        yield f"two-bases-{i}", config, [100, 4096, 8192]
    config = {"model_type": "modernbert", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 6}
    yield "two-bases-modernbert", {**config, "global_rope_theta": 80000.0, "local_rope_theta": 5000.0}, [8192]
    config = {"model_type": "olmo3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 8, "rope_theta": 500000}
    rope = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192, "attention_factor": 1.2079441541679836, "beta_fast": 32.0, "beta_slow": 1.0}
    yield "one-kind-scaled-olmo3", {**config, "max_position_embeddings": 65536, "rope_scaling": rope}, [100, 8192, 65536]
    config = {"model_type": "gpt_neox", "hidden_size": 96, "num_attention_heads": 4, "rotary_pct": 0.5, "rotary_emb_base": 40000}
    yield "other-names-gpt_neox", config, [2048]
    config = {"model_type": "deepseek_v3", "hidden_size": 64, "num_attention_heads": 4, "qk_rope_head_dim": 16, "qk_nope_head_dim": 32, "max_position_embeddings": 163840, "rope_theta": 10000}
    rope = {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}
    yield "split-head-deepseek_v3", {**config, "rope_scaling": rope}, [100, 4096, 163840]
    config = {"model_type": "hunyuan_v1_dense", "hidden_size": 128, "num_attention_heads": 4, "head_dim": 32, "max_position_embeddings": 32768, "rope_theta": 10000.0}
    rope = {"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0}
    yield "fixed-stretch-hunyuan", {**config, "rope_scaling": rope}, [100, 32768, 65536]


SOFTMAX = {
    "deepseek_v2": {"rope_theta": 10000, "q_lora_rank": None},
    "deepseek_v3": {"rope_theta": 10000, "q_lora_rank": None},
    "glm4_moe_lite": {"rope_theta": 10000},
    "minicpm3": {"rope_theta": 10000},
    "youtu": {"rope_theta": 10000},
    "ministral3": {"rope_theta": 10000},
}


def main():
    rng = random.Random(SEED)
    cases = []
    for name in FAMILIES:
        try:
            config = {"model_type": name}
            if name in HEAD_DIM:
                config["head_dim"] = HEAD_DIM[name]
            length = getattr(text_config(config), "max_position_embeddings", None) or 2048
            cases.append(case(f"bare-{name}", config, [length], layout=layout(config)))
        except Exception as error:
            print(f"left out: bare-{name}: {type(error).__name__}: {error}", file=sys.stderr)
    for name, config, lengths in drawn(rng):
        try:
            cases.append(case(name, config, sorted(set(lengths))))
        except Exception as error:
            print(f"left out: {name}: {type(error).__name__}: {error}", file=sys.stderr)
    for name, extra in SOFTMAX.items():
        for all_dim in (1.0, 0.707, 0):
            config = {
                "model_type": name, "hidden_size": 64, "num_attention_heads": 2,
                "max_position_embeddings": 4096 * 40, **extra,
                "rope_scaling": {
                    "rope_type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": all_dim,
                    "original_max_position_embeddings": 4096,
                },
            }
            try:
                factor = softmax(config)
                cases.append(case(f"softmax-{name}-{all_dim}", config, [4096], softmax_scale_factor=factor))
            except Exception as error:
                print(f"left out: softmax-{name}: {type(error).__name__}: {error}", file=sys.stderr)
    head = {
        "transformers": transformers.__version__, "torch": torch.__version__,
        "python": platform.python_version(), "seed": SEED,
    }
    print(json.dumps(head)[:-1] + ', "cases": [')
    print(",\n".join(json.dumps(entry) for entry in cases))
    print("]}")


if __name__ == "__main__":
    main()
