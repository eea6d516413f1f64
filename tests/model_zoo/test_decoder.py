"""Attention of a decoder and cross-attention: which tokens look at which, what is restored, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import checkpoints
import numpy as np
import pytest
import torch
from by_transformers import slow_decoder
from checkpoints import TEXT, TEXT_PAIR, WITH_DECODER, Checkpoint
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import Stack


@pytest.mark.parametrize("stack", ["decoder", "cross"])
@pytest.mark.parametrize("name", WITH_DECODER)
def test_the_decoder_equals_eager(name: str, stack: Stack, engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint(name)
    run = engine.attend(str(folder), TEXT, TEXT_PAIR, stack=stack)
    expected = slow_decoder(folder, TEXT, TEXT_PAIR)[stack]
    assert run.n_layers == len(expected) == checkpoints.N_LAYERS - 1
    assert run.stack == stack
    for layer, maps in enumerate(expected):
        np.testing.assert_allclose(run.layer(layer), maps, atol=1e-5)
        np.testing.assert_allclose(run.layer(layer).sum(-1), 1, atol=1e-5)
    q, k, scores = run.query_key(1, 2)
    assert (len(q), len(k)) == scores.shape == run.head(1, 2).shape == (run.n_tokens, run.n_keys)
    np.testing.assert_allclose(torch.from_numpy(scores.copy()).softmax(-1).numpy(), run.head(1, 2), atol=1e-6)
    assert run.value(1, 2).shape[0] == run.n_keys


@pytest.mark.parametrize("name", WITH_DECODER)
def test_which_tokens_look_and_which_are_looked_at(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint(name)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    read, written = (tokenizer(text).input_ids for text in (TEXT, TEXT_PAIR))
    start = AutoModelForSeq2SeqLM.from_pretrained(folder).config.decoder_start_token_id
    for stack in ("decoder", "cross"):
        run = engine.attend(str(folder), TEXT, TEXT_PAIR, stack=stack)
        assert run.source is not None
        assert list(run.encoding.ids) == [start, *written[:-1]]
        assert list(run.source.ids) == read
        assert run.key_encoding is (run.source if stack == "cross" else run.encoding)
        assert (run.encoding.text, run.source.text) == (TEXT_PAIR, TEXT)
        assert (run.encoding.special[0], run.encoding.word_ids[0], run.encoding.offsets[0]) == (True, None, (0, 0))
        for token, (first, last), special in zip(
            run.encoding.tokens, run.encoding.offsets, run.encoding.special, strict=True
        ):
            assert special or TEXT_PAIR[first:last].startswith(token.strip("Ġ▁"))
    later = np.triu(np.ones((len(written), len(written)), dtype=bool), k=1)
    decoder = engine.attend(str(folder), TEXT, TEXT_PAIR, stack="decoder").layer(0)
    assert decoder[:, later].max() == 0
    assert decoder[:, ~later].min() > 0
    full = engine.attend(str(folder), TEXT, TEXT_PAIR)
    assert (full.stack, full.source, full.key_encoding) == ("encoder", None, full.encoding)
    assert full.encoding.text_pair == TEXT_PAIR  # both texts are read there


def test_without_a_second_text_bart_restores_the_first(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bart"))
    alone, same = engine.attend(folder, TEXT, stack="cross"), engine.attend(folder, TEXT, TEXT, stack="cross")
    assert alone.encoding == same.encoding
    np.testing.assert_array_equal(alone.layer(1), same.layer(1))


def test_without_a_second_text_t5_has_written_nothing_yet(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("t5")
    run = engine.attend(str(folder), TEXT, stack="cross")
    assert (run.encoding.tokens, run.encoding.text) == (("<pad>",), "")
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    with torch.no_grad():  # the first step of writing
        written = model.generate(
            **inputs, max_new_tokens=1, do_sample=False, output_attentions=True, return_dict_in_generate=True
        )
    for layer, maps in enumerate(written.cross_attentions[0]):
        np.testing.assert_allclose(run.layer(layer), maps[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "gpt2", "mpnet"])
@pytest.mark.parametrize("stack", ["decoder", "cross"])
def test_a_model_of_one_stack_has_no_other_part(
    name: str, stack: Stack, engine: Engine, checkpoint: Checkpoint
) -> None:
    folder = str(checkpoint(name))
    with pytest.raises(NotSupported, match=r"a single stack of layers.*choose an encoder-decoder"):
        engine.attend(folder, TEXT, stack=stack)


def test_a_part_that_does_not_exist(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(InvalidInput, match=r"'middle'.*encoder, decoder, cross"):
        engine.attend(str(checkpoint("bart")), TEXT, stack="middle")  # type: ignore[arg-type]


def test_both_texts_are_cut_at_the_limit(engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint("bart")), "cat " * 90, "the " * 80, stack="cross")
    assert run.source is not None
    assert (run.n_tokens, run.n_keys) == (checkpoints.POSITIONS, checkpoints.POSITIONS)
    assert run.encoding.n_dropped > 0
    assert run.source.n_dropped > 0


def test_a_decoder_without_a_start_token_is_refused(engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint("t5"), tmp_path / "t5"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"decoder_start_token_id": None}))
    with pytest.raises(NotSupported, match=r"decoder_start_token_id.*Look at its encoder"):
        engine.attend(str(folder), TEXT, stack="cross")
    assert engine.attend(str(folder), TEXT).n_tokens > 1
