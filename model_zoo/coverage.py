"""Which architectures of transformers open here, and how far off they are: ``python -m model_zoo.coverage [NAME ...]``.

For every architecture that the installed transformers has, a tiny checkpoint with random weights is built, opened, and
held against transformers alone (``check``), and every question is asked. Prints a row each; without names, all of them
are written into docs/models.md: a table of those that read text, and the others with the reason.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import logging
import os
import pkgutil
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import CONFIG_MAPPING, PreTrainedTokenizerFast
from transformers.models.auto import modeling_auto
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name, TOKENIZER_MAPPING_NAMES

from model_zoo import check, questions
from model_zoo.by_transformers import TYPED, NotComparable
from model_zoo.engine import Engine
from model_zoo.errors import ModelZooError
from model_zoo.question import Comparison, Question

DOC = Path(__file__).parents[1] / "docs" / "models.md"
COLUMNS = ("architecture", "attention", "predictions", "states", "interventions", "questions")

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = "the cat sat on mat because it was tired and dog waiting she walked home".split()
_LETTERS = [chr(code) for code in (*range(97, 123), *range(48, 58), 44, 46)]
_VOCABULARY = [*_SPECIAL, *_WORDS, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
_IDS = {"pad": 0, "bos": 2, "cls": 2, "eos": 3, "sep": 3, "mask": 4, "decoder_start": 2}

# Sizes of a tiny network, by what a setting's name says that it is; the first that fits.
_SIZES: Mapping[str, int] = {
    r"vocab|n_words": len(_VOCABULARY),
    r"qk_head_dim": 16,
    r"head_dim|d_kv|d_head|head_size": 8,
    r"rotary_dim": 4,
    r"d_state|state_size|chunk_size": 16,
    r"expert_groups?$|kv_heads|kv_n_heads|key_value_heads|n_groups?$|query_groups|moe_k$": 2,
    r"experts?_per_tok|topk_group|top_k$|topk$": 2,
    r"experts(?!.*(size|dim))|heads?$|intermediate_groups": 4,
    r"layers?$|num_blocks|num_groups$|n_block": 2,
    r"intermediate|ffn|d_?ff$|n_inner|hidden_dim|mlp_dim": 64,
    r"rank|window": 8,
    r"max_\w*position|n_positions|n_ctx|max_seq": 128,
    r"bottleneck|hidden_size|d_model|n_embd|emb\w*(size|dim)|^dim$|lru_width|d_inner": 32,
}
_UNSET = {"vocab_size": len(_VOCABULARY), "head_dim": 8, "num_key_value_heads": 2, "num_experts_per_tok": 2}
_MOST_PARAMETERS = 20_000_000

_ROPE = {"rope_type": "default", "rope_theta": 1e4}
_MAMBA = {"mamba_d_head": 16, "mamba_n_heads": 4}
_HYBRID = {
    "num_hidden_layers": 4,
    "layers_block_type": ["linear_attention", "hybrid"] * 2,
    "attention_head_dim": 16,
    "attention_hidden_size": 64,
}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "bamba": {**_MAMBA, "attn_layer_indices": [1]},
    "blt": {"use_cache": False},
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"full_attention": _ROPE, "sliding_attention": _ROPE},
    },
    "dbrx": {
        "attn_config": {"rope_theta": 1e4, "kv_n_heads": 2, "clip_qkv": 8},
        "ffn_config": {"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "dots1": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "falcon_h1": {**_MAMBA, "mamba_d_ssm": 64},
    "glm5_next_text": {"index_kpool": 2, "index_topk": 16},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {**_MAMBA, "layer_types": ["linear_attention", "full_attention"]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "lfm2_moe": {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"], "num_dense_layers": 1},
    "lilt": {"hidden_size": 48},
    "mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 2},
    "mobilebert": {"hidden_size": 64},
    "mistral4": {"head_dim": 16},
    "qwen4_exp_text": {
        "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 16,
        "indexer_compress_ratio": 4,
    },  # fmt: skip
    "recurrent_gemma": {"num_hidden_layers": 3},
    "reformer": {"axial_pos_embds_dim": [16, 16], "axial_pos_shape": [8, 16], "attn_layers": ["local", "lsh"]},
    "xmod": {"default_language": "en_XX", "languages": ["en_XX"]},
    "zamba": _HYBRID,
    "zamba2": _HYBRID,
    **dict.fromkeys(
        ("glm4v_text", "glm_image_text", "glm_ocr_text", "hunyuan_vl_text", "qwen2_5_vl_text", "qwen2_vl_text"),
        {"rope_parameters": {**_ROPE, "mrope_section": [2, 1, 1]}},
    ),
    "cosmos3_edge_text": {"rope_parameters": {**_ROPE, "mrope_section": [2, 1, 1]}},
    "glm4v_moe_text": {"rope_parameters": {**_ROPE, "partial_rotary_factor": 0.5, "mrope_section": [1, 1, 0]}},
}


_HEADS: Mapping[str, tuple[str, ...]] = {
    "FOR_MASKED_LM_": ("fill_mask",),
    "FOR_SEQ_TO_SEQ_CAUSAL_LM_": ("fill_mask",),
    "FOR_CAUSAL_LM_": ("next_token",),
    "": (),
}
_TITLES = {"fill_mask": "masked words", "next_token": "next token", "next_sentence": "next sentence"}


class NoText(Exception):
    """An architecture that reads something else than text, or not text alone: the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one architecture came to: its cells, or the ``reason`` for which it is none of those that read text."""

    kind: str
    cells: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        return f"| {' | '.join((self.kind, *self.cells))} |" if self.cells else f"- {self.kind}: {self.reason}"


def row(kind: str) -> Row:
    """Build an architecture, open it, compare it."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            heads = _build(kind, Path(folder) / kind)
            return Row(kind, tuple(_cells(str(Path(folder) / kind), heads)))
    except NoText as error:
        return Row(kind, reason=str(error))
    except Exception as error:
        return Row(kind, (_told(error, ""), *[""] * (len(COLUMNS) - 2)))


def _build(kind: str, folder: Path) -> tuple[str, ...]:
    """Write a tiny checkpoint; returns what its heads predict, by the methods of ``SideBySide``. Raises NoText."""
    settings = CONFIG_MAPPING[kind]
    if settings.model_type != kind:
        raise NoText(f"another name of {settings.model_type}")
    try:
        network, heads = _network(settings)
        _refuse_other_senses(settings, modeling_auto.MODEL_MAPPING.get(settings, network))
    except (ImportError, ValueError) as error:  # the second where transformers lists a class that it has not
        raise NoText(f"cannot be built: {_first_line(error)}") from error
    try:
        config = settings(**_tiny(settings, settings()) | _OWN.get(kind, {}))
        with torch.device("meta"):
            if sum(weights.numel() for weights in network(config).parameters()) > _MOST_PARAMETERS:
                raise ValueError("no small network can be built of it")
        torch.manual_seed(sum(kind.encode()))
        if config.is_encoder_decoder:
            config.decoder_start_token_id = _IDS["decoder_start"]
        model = network(config).eval()
        with torch.no_grad():
            for weights in model.parameters():  # wide enough that attention is far from even; a forgotten bias shows
                if weights.requires_grad:
                    weights.add_(torch.randn_like(weights), alpha=max(*weights.shape[-1:], 25) ** -0.5)
            ids = torch.tensor([[2, *range(5, 20), 3]])
            model(input_ids=ids, **({"decoder_input_ids": ids} if config.is_encoder_decoder else {}))
    except Exception as error:
        raise NoText(f"does not run on a text alone: {_first_line(error)}") from error
    model.save_pretrained(folder)
    _tokenizer(_gives_types(kind, config.to_dict()), "next_token" in heads).save_pretrained(folder)
    return heads


def _network(settings: Any) -> tuple[Any, tuple[str, ...]]:
    """The class with the most heads that an architecture was trained with, and what they predict."""

    def of(name: str) -> Any:
        mapping = getattr(modeling_auto, f"MODEL_{name}MAPPING")
        found = mapping[settings] if settings in mapping else None
        return found[0] if isinstance(found, tuple | list) else found

    pretrained = of("FOR_PRETRAINING_")
    labels = inspect.signature(pretrained.forward).parameters if pretrained else ()
    if any(name.startswith(("next_sentence", "sentence_order")) for name in labels):
        return pretrained, ("fill_mask", "next_sentence")
    for name, heads in _HEADS.items():
        found = of(name)
        if found is not None:
            return found, heads
    if pretrained is None:
        raise NoText("a part of other networks")
    return pretrained, ()


def _refuse_other_senses(settings: Any, network: Any) -> None:
    """Raises NoText for what takes no text, or pictures or sound beside it, or makes sound."""
    network = network[0] if isinstance(network, tuple | list) else network
    takes = inspect.signature(network.forward).parameters
    modalities = (network.input_modalities,) if isinstance(network.input_modalities, str) else network.input_modalities
    others = [each for each in modalities if each != "text"]
    marks = (*others, "pixel", "feature", "latents")
    if "input_ids" not in takes or network.main_input_name != "input_ids" or "text" not in modalities:
        raise NoText(f"reads {' and '.join(others) or network.main_input_name}")
    if others and any(mark in name for name in takes for mark in marks):
        raise NoText(f"reads {', '.join(others)} and text")
    for name in ("WAVEFORM", "SPECTROGRAM"):
        if settings in getattr(modeling_auto, f"MODEL_FOR_TEXT_TO_{name}_MAPPING"):
            raise NoText("turns text into sound")


def _tiny(settings: Any, default: Any) -> dict[str, Any]:
    """Settings of a small network of a kind; of every kind of layer one, two at least."""
    known = {
        name: value
        for name, value in default.to_dict().items()
        if not isinstance(getattr(settings, name, None), property)
    }
    tiny: dict[str, Any] = {name: value for name, value in _UNSET.items() if name in known and known[name] is None}
    n_heads = next((known[name] for name in ("num_attention_heads", "n_head") if name in known), 0)
    for name, value in known.items():
        if name in settings.sub_configs:
            part = getattr(default, name)
            if part is not None:
                tiny[name] = part.to_dict() | _tiny(type(part), part)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
            size = next((size for pattern, size in _SIZES.items() if re.search(pattern, name)), value)
            tiny[name] = 4 if size == 2 and "heads" in name and value == n_heads else size
    n_layers = known.get("num_hidden_layers")
    lists = {name: value for name, value in known.items() if isinstance(value, list) and len(value) == n_layers}
    if lists:
        rows = [repr(values) for values in zip(*lists.values(), strict=True)]
        first = [rows.index(values) for values in dict.fromkeys(rows)][:4]
        chosen = first if len(first) > 1 else [0, 1]
        tiny["num_hidden_layers"] = len(chosen)
        tiny |= {name: [value[place] for place in chosen] for name, value in lists.items()}
    if isinstance(known.get("intermediate_size"), list):
        tiny["intermediate_size"] = [64] * tiny["num_hidden_layers"]
    if "per_layer_config" in known:
        tiny["per_layer_config"] = {}
    if "type_vocab_size" in known and not _gives_types(settings.model_type, known):
        tiny["type_vocab_size"] = 1  # as published, whatever the default is
    return tiny | {f"{name}_token_id": number for name, number in _IDS.items() if f"{name}_token_id" in known}


def _gives_types(kind: str, settings: Mapping[str, Any]) -> bool:
    """Whether an architecture is told which text a token is of, by its own tokenizer or by whoever calls it."""
    own = tokenizer_class_from_name(TOKENIZER_MAPPING_NAMES.get(kind) or "") or PreTrainedTokenizerFast
    return kind in TYPED or ("token_type_ids" in own.model_input_names and "type_vocab_size" in settings)


def _tokenizer(types: bool, causal: bool) -> Any:
    """Words and letters; a causal network is given a text without an end."""
    tokenizer = Tokenizer(models.WordPiece({token: place for place, token in enumerate(_VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A" if causal else "[CLS] $A [SEP]",
        pair="[CLS] $A $B" if causal else "[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = ["input_ids", *(["token_type_ids"] if types else []), "attention_mask"]
    ends = {f"{name}_token": _SPECIAL[number] for name, number in _IDS.items() if name != "decoder_start"}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", model_input_names=names, model_max_length=128, **ends
    )


def _cells(folder: str, heads: Sequence[str]) -> Iterator[str]:
    with closing(Engine("cpu", dtype="float32")) as engine:
        try:
            info = engine.info(folder)
        except Exception as error:
            yield f"not opened: {_told(error, folder)}"
            yield from [""] * (len(COLUMNS) - 2)
            return
        both = check.SideBySide(engine, info, check.plainly(info), top_k=len(_VOCABULARY))
        rounding = check.tolerance(info.n_layers)
        yield _measured(both.attention, folder, rounding)
        told = (f"{_TITLES[head]} {_measured(getattr(both, head), folder, 10 * rounding)}" for head in heads)
        yield "; ".join(told) or "no head"
        yield _measured(both.states, folder, check.STATES_TOLERANCE)
        yield _measured(both.without_head, folder, 10 * rounding)
        yield _answered(engine, folder)


def _measured(difference_of: Callable[[], float], folder: str, most: float) -> str:
    """A difference, as a cell says it: bold where it is more than rounding."""
    try:
        difference = difference_of()
    except NotComparable:
        return "yes"
    except Exception as error:
        return _told(error, folder)
    if difference == 0:
        return "exact"
    return f"{difference:.0e}".replace("e-0", "e-") if difference <= most else f"**{difference:.2g}**"


def _told(error: Exception, folder: str) -> str:
    """The first sentence of a refusal, without the model's name; a failure that is none, in bold, with its place."""
    if isinstance(error, ModelZooError):
        sentence = str(error).replace(folder, "…").replace("“…”", "…").split(". ")[0].removesuffix(".")
        return sentence.replace("|", "/")
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"**{type(error).__name__}: {_first_line(error)} ({Path(place.filename).name}:{place.lineno})**"


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120].replace("|", "/") or type(error).__name__


def _answered(engine: Engine, folder: str) -> str:
    """How many questions are answered; what fails without a sentence of ours."""
    found, failures = 0, []
    for kind in kinds():
        try:
            question = kind.example(folder)
            if isinstance(question, Comparison):
                list(engine.stream(question))
            elif question.model == folder:
                engine.ask(question)
            found += 1
        except ModelZooError:
            pass
        except Exception as error:
            failures.append(f"{kind.__name__} {_told(error, folder)}")
    return "; ".join([str(found), *failures])


def kinds() -> list[Any]:
    """The questions there are."""
    files = [importlib.import_module(each.name) for each in pkgutil.iter_modules(questions.__path__, "model_zoo.questions.")]
    return [
        each
        for file in files
        for each in vars(file).values()
        if isinstance(each, type) and issubclass(each, Question | Comparison) and each.__module__ == file.__name__
    ]


def _prepare() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    logging.disable(logging.ERROR)


def rows(names: Sequence[str] | None = None) -> Iterator[Row]:
    """Of all architectures or those named, as they are done, in two processes or as many as there are cores."""
    with get_context("spawn").Pool(os.cpu_count(), _prepare) as pool:
        yield from pool.imap_unordered(row, names or list(CONFIG_MAPPING), chunksize=4)
        pool.close()
        pool.join()


def write(found: Sequence[Row], file: Path = DOC) -> None:
    """The document, of all rows."""
    ordered = sorted(found, key=lambda each: each.kind)
    table = [each for each in ordered if each.cells]
    file.write_text(
        "\n".join(
            [
                _HEAD.format(version=transformers.__version__, n=len(table)),
                f"| {' | '.join(COLUMNS)} |",
                f"|{'---|' * len(COLUMNS)}",
                *map(str, table),
                _OTHERS,
                *(str(each) for each in ordered if not each.cells),
                "",
            ]
        ),
        encoding="utf-8",
    )


_HEAD = """\
# Models

Every architecture of transformers {version} that reads text: {n}. Each is built with random weights, opened, and held
against transformers alone in float32. A cell says the largest difference there was, "exact" where there was none, or why
there is nothing to show. `python -m model_zoo.coverage` writes this page.

- attention: weights of all heads and layers, of two texts in a batch and of a pair.
- predictions: probabilities of the whole vocabulary, of texts in a batch; of the sentence head, its two scores.
- states: hidden states after every layer, as a share of the largest number.
- interventions: what is predicted when the first head is switched off; "yes" where transformers has no such run.
- questions: how many kinds of questions are answered; the others are refused with the reason.
"""

_OTHERS = """
## Not of text alone
"""


def read(file: Path = DOC) -> dict[str, Row]:
    """The rows of a document that ``write`` wrote, by architecture."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            kind, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found[kind] = Row(kind, tuple(cells))
        elif line.startswith("- "):
            kind, _, reason = line[2:].partition(": ")
            found[kind] = Row(kind, reason=reason)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m model_zoo.coverage", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="an architecture (model_type); without, all are written")
    names = parser.parse_args(arguments).names
    found = []
    for each in rows(names):
        print(each, flush=True)
        found.append(each)
    if not names:
        write(found)
    return int(any("**" in cell for each in found for cell in each.cells))


if __name__ == "__main__":
    sys.exit(main())
