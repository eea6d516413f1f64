"""Which architectures of transformers open here, and how far off they are: ``python -m model_zoo.coverage [NAME ...]``.

For every architecture that the installed transformers has, a tiny checkpoint with random weights is built, opened, and
held against transformers alone (``check``), and every question that runs a network is asked. Prints a row each; without
names, or with ``--write``, they are written into docs/models.md: a table of those that read text, and the others with
the reason. Sizes are in coverage.toml.
"""

from __future__ import annotations

import argparse
import inspect
import logging
import os
import re
import sys
import tempfile
import tomllib
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import CONFIG_MAPPING, PreTrainedTokenizerFast
from transformers.models.auto import modeling_auto
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from model_zoo import check, questions
from model_zoo.by_transformers import TYPED, NotComparable
from model_zoo.engine import Engine
from model_zoo.errors import ModelZooError
from model_zoo.question import Comparison
from model_zoo.questions.measure_cost import MeasureCost

DOC = Path(__file__).parents[1] / "docs" / "models.md"
COLUMNS = ("architecture", "attention", "predictions", "states", "interventions", "questions")

_TINY = tomllib.loads((Path(__file__).parent / "coverage.toml").read_text(encoding="utf-8"))
_MOST_PARAMETERS = 20_000_000
_IDS = {"pad": 0, "bos": 2, "cls": 2, "eos": 3, "sep": 3, "mask": 4, "decoder_start": 2}
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,"
_VOCABULARY = [*_SPECIAL, *_TINY["vocabulary"].split(), *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]

# Heads by the mapping of transformers that has them, the best first, as methods of ``SideBySide``; and their titles.
_HEADS = {"MASKED_LM": "fill_mask", "SEQ_TO_SEQ_CAUSAL_LM": "fill_mask", "CAUSAL_LM": "next_token"}
_TITLES = {"fill_mask": "masked words", "next_token": "next token", "next_sentence": "next sentence"}

_HEAD = """\
# Models

Every architecture of transformers {version} that reads text: {n}. Each is built with random weights, opened, and held
against transformers alone in float32. A cell says the largest difference that there was, "exact" where there was none,
or why there is nothing to show. `python -m model_zoo.coverage` writes this page.

* attention: weights of all heads and layers, of two texts in a batch and of a pair.
* predictions: probabilities of the whole vocabulary, of texts in a batch; of the sentence head, its two scores.
* states: hidden states after every layer, as a share of the largest number.
* interventions: what is predicted when the first head is switched off; "yes" where transformers has no such run.
* questions: how many kinds of questions are answered; the others are refused with the reason.

| {columns} |
"""


class NoText(Exception):
    """An architecture that does not read text, or not text alone: the message says why."""


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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, kind)
        try:
            return Row(kind, tuple(_cells(str(path), _build(kind, path))))
        except NoText as error:
            return Row(kind, reason=str(error))


def _build(kind: str, folder: Path) -> Sequence[str]:
    """Write a tiny checkpoint; returns what its heads predict. Raises NoText."""
    settings = CONFIG_MAPPING[kind]
    if settings.model_type != kind:
        raise NoText(f"another name of {settings.model_type}")
    try:
        network, heads = _network(settings)
    except (ImportError, ValueError) as error:  # the second where transformers lists a class that it has not
        raise NoText(f"cannot be built: {_first_line(error)}") from error
    try:
        config = settings(**_tiny(settings()) | _TINY["own"].get(kind, {}))
        if config.is_encoder_decoder:
            config.decoder_start_token_id = _IDS["decoder_start"]
        with torch.device("meta"):
            if sum(weights.numel() for weights in network(config).parameters()) > _MOST_PARAMETERS:
                raise ValueError("no small network can be built of it")
        torch.manual_seed(sum(kind.encode()))
        model = network(config).eval()
        with torch.no_grad():
            for weights in model.parameters():  # wide enough that attention is far from even; a forgotten bias shows
                if weights.requires_grad:
                    spread = _TINY["spread"].get(kind, 1.0) * max(*weights.shape[-1:], 25) ** -0.5
                    weights.add_(torch.randn_like(weights), alpha=spread)
            ids = torch.tensor([[2, *range(5, 20), 3]])
            model(input_ids=ids, **({"decoder_input_ids": ids} if config.is_encoder_decoder else {}))
    except Exception as error:
        raise NoText(f"no small one was built that runs on a text alone: {_first_line(error)}") from error
    model.save_pretrained(folder)
    _tokenizer(_gives_types(config), "next_token" in heads).save_pretrained(folder)
    return heads


def _network(settings: Any) -> tuple[Any, Sequence[str]]:
    """The class with the most heads that an architecture was trained with, and what they predict. Raises NoText for
    what takes no text, or pictures or sound beside it, or makes sound.
    """

    def class_for(name: str) -> Any:
        network = getattr(modeling_auto, f"MODEL_{name}MAPPING").get(settings, None)
        return network[0] if isinstance(network, tuple | list) else network

    base, pretrained = class_for(""), class_for("FOR_PRETRAINING_")
    by_head = ((class_for(f"FOR_{name}_"), (head,)) for name, head in _HEADS.items())
    with_head = next((pair for pair in by_head if pair[0]), None)
    if with_head is None and base is None:
        raise NoText("a part of other networks")
    reader = base or with_head[0]  # type: ignore[index]
    takes = inspect.signature(reader.forward).parameters
    senses = [reader.input_modalities] if isinstance(reader.input_modalities, str) else reader.input_modalities
    others = [sense for sense in senses if sense != "text"]
    if "input_ids" not in takes or reader.main_input_name != "input_ids" or "text" not in senses:
        raise NoText(f"reads {' and '.join(others) or reader.main_input_name}")
    besides = [name for name in takes if any(mark in name for mark in (*others, "pixel", "feat", "latents"))]
    if besides:
        raise NoText(f"reads {', '.join(others) or besides[0]} and text")
    if class_for("FOR_TEXT_TO_WAVEFORM_") or class_for("FOR_TEXT_TO_SPECTROGRAM_"):
        raise NoText("turns text into sound")
    labels = inspect.signature(pretrained.forward).parameters if pretrained else ()
    if any(name.startswith(("next_sentence", "sentence_order")) for name in labels):
        return pretrained, ("fill_mask", "next_sentence")
    return with_head or (base, ())


def _tiny(default: Any) -> dict[str, Any]:
    """Settings of a small network: of every kind of layer one, two at least."""
    config_class = type(default)
    known = {
        name: value
        for name, value in default.to_dict().items()
        if not isinstance(getattr(config_class, name, None), property)
    }
    tiny = {name: value for name, value in _TINY["unset"].items() if name in known and known[name] is None}
    n_heads = known.get("num_attention_heads", known.get("n_head"))
    for name, value in known.items():
        if name in config_class.sub_configs and value is not None:
            tiny[name] = value | _tiny(getattr(default, name))
        elif re.search("vocab_size|n_words|vocab$", name) and not isinstance(value, str | list | dict):
            tiny[name] = len(_VOCABULARY)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
            size = next((size for pattern, size in _TINY["sizes"].items() if re.search(pattern, name)), value)
            tiny[name] = 4 if size == 2 and "heads" in name and value == n_heads else size
    lists = {
        name: value
        for name, value in known.items()
        if isinstance(value, list) and len(value) == known.get("num_hidden_layers")
    }
    if lists:
        rows = [repr(values) for values in zip(*lists.values(), strict=True)]
        chosen = [rows.index(values) for values in dict.fromkeys(rows)][:4]
        chosen = chosen if len(chosen) > 1 else [0, 1]
        tiny |= {name: [value[place] for place in chosen] for name, value in lists.items()}
        tiny["num_hidden_layers"] = len(chosen)
        if "intermediate_size" in lists:
            tiny["intermediate_size"] = [64] * len(chosen)
    if "per_layer_config" in known:
        tiny["per_layer_config"] = {}
    if "type_vocab_size" in known and not _gives_types(default):
        tiny["type_vocab_size"] = 1  # as published, whatever the default is
    return tiny | {f"{name}_token_id": number for name, number in _IDS.items() if f"{name}_token_id" in known}


def _gives_types(config: Any) -> bool:
    """Whether an architecture was trained with token types, by its own tokenizer or by its authors' code."""
    name = TOKENIZER_MAPPING_NAMES.get(config.model_type) or ""
    tokenizer_class = tokenizer_class_from_name(name) or PreTrainedTokenizerFast
    return config.model_type in TYPED or (
        "token_type_ids" in tokenizer_class.model_input_names and hasattr(config, "type_vocab_size")
    )


def _tokenizer(types: bool, causal: bool) -> Any:
    """Words and letters; a causal network is given a text without an end."""
    tokenizer = Tokenizer(
        models.WordPiece({token: place for place, token in enumerate(_VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A" if causal else "[CLS] $A [SEP]",
        pair="[CLS] $A $B" if causal else "[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        model_input_names=["input_ids", *(["token_type_ids"] if types else []), "attention_mask"],
        model_max_length=128,
        **{f"{name}_token": _SPECIAL[number] for name, number in _IDS.items() if name != "decoder_start"},
    )


def _cells(folder: str, heads: Sequence[str]) -> Iterator[str]:
    with closing(Engine("cpu", dtype="float32")) as engine:
        try:
            info = engine.info(folder)
            both = check.SideBySide(engine, info, check.plainly(info), top_k=len(_VOCABULARY))
        except Exception as error:
            yield from (f"not opened: {_reason_in(error, folder)}", "", "", "", "")
            return
        rounding = 10 * check.tolerance(info.n_layers)
        yield _measured(both.attention, folder, rounding)
        predictions = (f"{_TITLES[head]} {_measured(getattr(both, head), folder, rounding)}" for head in heads)
        yield "; ".join(predictions) or "no head"
        yield _measured(both.states, folder, check.STATES_TOLERANCE)
        yield _measured(both.without_head, folder, rounding)
        yield "; ".join(_answered(engine, folder))


def _measured(difference_of: Callable[[], float], folder: str, most: float) -> str:
    """A difference, as a cell says it: in bold where it is more than rounding."""
    try:
        difference = difference_of()
    except NotComparable:
        return "yes"
    except Exception as error:
        return _reason_in(error, folder)
    if difference <= most:
        return f"{difference:.0e}".replace("e-0", "e-") if difference else "exact"
    return f"**{difference:.2g}**"


def _reason_in(error: Exception, folder: str) -> str:
    """The first sentence of a refusal, without the model's name; a failure that is none, in bold, with its place."""
    if isinstance(error, ModelZooError):
        sentence = str(error).replace(folder, "…").replace("“…”", "…").split(". ")[0].removesuffix(".")
        return f"**{sentence}**" if isinstance(error, check.Unlike) else sentence.replace("|", "/")
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"**{type(error).__name__}: {_first_line(error)} ({Path(place.filename).name}:{place.lineno})**"


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120].replace("|", "/") or type(error).__name__


def _answered(engine: Engine, folder: str) -> Iterator[str]:
    """How many questions are answered; what fails without a sentence of ours."""
    n_answered, failures = 0, []
    for kind in questions.questions_in(questions):
        if kind is MeasureCost or not getattr(kind, "runs_model", True):  # costs are counted on 300 sentences
            continue
        question = kind.example(folder)
        try:
            if isinstance(question, Comparison):
                list(engine.stream(question))
            elif question.model == folder:
                engine.ask(question)
            n_answered += 1
        except ModelZooError:
            pass
        except Exception as error:
            failures.append(f"{kind.__name__} {_reason_in(error, folder)}")
    yield from (str(n_answered), *failures)


def _prepare() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    logging.disable(logging.ERROR)


def rows(kinds: Sequence[str] = ()) -> Iterator[Row]:
    """Of those named, or of all architectures, as they are done, in as many processes as there are cores."""
    with get_context("spawn").Pool(os.cpu_count(), _prepare) as pool:
        yield from pool.imap_unordered(row, kinds or list(CONFIG_MAPPING), chunksize=4)
        pool.close()
        pool.join()


def read_table(file: Path = DOC) -> dict[str, Row]:
    """The rows of the page, by architecture."""
    by_kind = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith(f"| {COLUMNS[0]} |"):
            kind, *cells = (cell.strip() for cell in line[1:-1].split("|"))
            by_kind[kind] = Row(kind, tuple(cells))
        elif line.startswith("- "):
            kind, _, reason = line[2:].partition(": ")
            by_kind[kind] = Row(kind, reason=reason)
    return by_kind


def write_table(rows: Iterable[Row], file: Path = DOC) -> None:
    """The page, of all rows."""
    ordered = sorted(rows, key=lambda row: row.kind)
    table, others = ([str(row) for row in ordered if bool(row.cells) is text] for text in (True, False))
    head = _HEAD.format(version=transformers.__version__, n=len(table), columns=" | ".join(COLUMNS))
    lines = [f"{head}|{'---|' * len(COLUMNS)}", *table, "", "## Not of text alone", "", *others, ""]
    file.write_text("\n".join(lines), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 1 where something is wrong."""
    parser = argparse.ArgumentParser(f"python -m {__spec__.name}", description="How far off every model is.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="an architecture (model_type); without, all are written"
    )
    parser.add_argument("--write", action="store_true", help="write the rows of those named, too")
    options = parser.parse_intermixed_args(arguments)
    by_kind = {}
    for result in rows(options.names):
        print(result, flush=True)
        by_kind[result.kind] = result
    if not options.names or options.write:
        write_table(((read_table() if options.names else {}) | by_kind).values())
    return int(any("**" in cell for row in by_kind.values() for cell in row.cells))


if __name__ == "__main__":
    sys.exit(main())
