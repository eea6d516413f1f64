"""Every listed model in the layout that the hub has for it, in tiny, and some that no listed model has: from the
question whether to download it to the maps that transformers computes from the same weights, saved as it saves today.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
import sentencepiece
from checkpoints import FAMILIES, TEXT, TEXT_PAIR
from loopback_hub import Hub
from published import LAYOUTS, Publication
from published.tokenizing import SENTENCEPIECE, sentencepiece_model
from transformers import CONFIG_MAPPING, AutoTokenizer
from tried_texts import texts

from model_zoo import Engine, registry, sources
from model_zoo.by_transformers import Plain
from model_zoo.encoding import encode
from model_zoo.errors import NotDownloaded
from model_zoo.families import family_of
from model_zoo.tokenizer import read_tokenizer
from model_zoo.types import NamedPooling

LISTED = {model.hub_id: model for model in registry.MODELS.values() if model.hub_id is not None}
# Once as the hub has it, and where the hub has an offer to its owner, once more without that.
CASES = [
    pytest.param(hub_id, offer, id=hub_id if offer else f"{hub_id}, no offer")
    for hub_id, layout in LAYOUTS.items()
    for offer in ((True, False) if layout.conversion else (True,))
]


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model comes with a package."""
    monkeypatch.setattr(sources, "packaged", lambda _model: None)


def test_every_listed_model_is_published() -> None:
    for hub_id, model in LISTED.items():
        assert model.family == FAMILIES[LAYOUTS[hub_id].checkpoint].model_type, hub_id


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_installed", "converted_once")
@pytest.mark.parametrize(("hub_id", "offer"), CASES)
def test_a_published_model_is_downloaded_and_computes_what_its_weights_say(
    hub_id: str, offer: bool, hub: Hub, publication: Callable[[str], Publication]
) -> None:
    published = publication(hub_id)
    published.put_on(hub)
    if not offer:
        hub.conversions.clear()
    engine = Engine("cpu", ask_before_download=True)
    try:
        with pytest.raises(NotDownloaded):
            engine.info(hub_id)
        assert not [request for request in hub.requests if "/resolve/" in request]
        engine.download(hub_id).wait()
        info = engine.info(hub_id)
        family, listed = FAMILIES[published.layout.checkpoint], LISTED.get(hub_id)
        promised = (listed.mlm, listed.nsp) if listed is not None else (family.mlm, family.nsp)
        assert (info.mlm, info.nsp) == promised
        assert info.pooling == (NamedPooling(("mean",), 256) if published.layout.pooling else None)
        assert (info.cross_attention, info.family) == (family.cross_attention, family.model_type)
        for text, pair in ((TEXT, None), (TEXT, TEXT_PAIR)):
            ((maps, states),) = Plain(published.original).encoded([(text, pair)])
            run = engine.attend(hub_id, text, pair)
            encoded = AutoTokenizer.from_pretrained(published.original)(text, pair, return_offsets_mapping=True)
            assert list(run.encoding.ids) == encoded["input_ids"]
            sides = [pair if side else text for side in encoded.sequence_ids()]
            assert words(sides, run.encoding.offsets) == words(sides, encoded["offset_mapping"])
            assert run.n_layers == len(maps)
            for layer, expected in enumerate(maps):
                np.testing.assert_allclose(run.layer(layer), expected, atol=1e-5)
            actual = engine.encoded_states(hub_id, [(text, pair) if pair else text], layers=range(len(states)))
            for layer, expected in enumerate(states):
                np.testing.assert_allclose(actual[0].states[layer], expected, atol=1e-4, err_msg=str(layer))
        if family_of(info.family).anatomy is not None:
            np.testing.assert_allclose(engine.contributions(hub_id, TEXT).maps.sum(axis=-1), 1, atol=1e-5)
        wanted = {name for name in hub.requests if name.startswith("GET") and "/resolve/" in name}
        assert not [name for name in wanted if name.rsplit("/", 1)[-1] in published.layout.beside]
    finally:
        engine.close()


def words(sides: Sequence[str | None], offsets: Iterable[tuple[int, int]]) -> list[str]:
    """What stands in the text for each token: some tokenizers count the space before a word to it."""
    return [(side or "")[start:end].strip() for side, (start, end) in zip(sides, offsets, strict=True)]


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_pieces_are_those_of_sentencepiece(kind: str, publication: Callable[[str], Publication]) -> None:
    name, model = sentencepiece_model(kind)
    layouts = [layout for layout in LAYOUTS.values() if FAMILIES[layout.checkpoint].tokenizer == kind]
    assert any(name in layout.tokenizer for layout in layouts)
    tokenizer = AutoTokenizer.from_pretrained(publication(layouts[0].hub_id).original)
    text = TEXT.lower() if kind == "AlbertTokenizer" else TEXT
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model).encode(text, out_type=str)
    assert tokenizer.tokenize(TEXT) == pieces


# One layout for each set of files, class and way to write them.
_KINDS = {
    (layout.checkpoint, str(layout.tokenizer), str(layout.tokenizer_json), layout.cased): hub_id
    for hub_id, layout in LAYOUTS.items()
}


@pytest.mark.parametrize("hub_id", _KINDS.values())
def test_ids_and_offsets_are_those_of_transformers(hub_id: str, publication: Callable[[str], Publication]) -> None:
    """Of the files as they are published, and of the same tokenizer as it is saved whole today."""
    published = publication(hub_id)
    kind = json.loads((published.original / "config.json").read_text(encoding="utf-8"))["model_type"]
    config = CONFIG_MAPPING[kind].from_pretrained(published.original)
    ours = read_tokenizer(published.folder, config, hub_id, listed=True)
    full = AutoTokenizer.from_pretrained(published.original)
    for text in texts():
        expected = full(text, truncation=False, padding=False, return_offsets_mapping=True, verbose=False)
        encoding = encode(ours, text, None, 10**6)
        assert list(encoding.ids) == expected["input_ids"], text
        assert encoding.n_dropped == 0
        for mine, theirs in zip(encoding.offsets, expected["offset_mapping"], strict=True):
            assert _without_marks(text[slice(*mine)]) == _without_marks(text[slice(*theirs)]), text
            assert mine[0] >= theirs[0]


def _without_marks(span: str) -> str:
    """What a token stands for, without the space that some count to it, and without the accents at its end, which the
    app gives to the letter that they stand on.
    """
    kept = span.strip()
    while kept and unicodedata.category(kept[-1]).startswith("M"):
        kept = kept[:-1]
    return kept
