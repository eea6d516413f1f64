"""Every model does what is said of it, and gives the numbers that transformers computes from the same weights.

One test, over the tiny checkpoints and the bundled models; with ``--hub`` over the published checkpoints of the
registry too, which it downloads.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, spec
from tokenizers.models import WordPiece

from evidence.items import HiddenWord
from evidence.questions.measure_heads import MeasureHeads
from evidence.questions.switch_off import SwitchOff
from model_zoo import Engine, check, registry
from model_zoo.by_transformers import Plain
from model_zoo.errors import NotSupported
from model_zoo.types import AttentionRun, Change, ModelSpec, Reads, TargetAnswer
from pages.__main__ import claims
from training.finetuning.finetune import Finetune

# Cut here where a model reads more: what a machine without a GPU computes in seconds.
LONGEST = 1024


@pytest.mark.slow
def test_every_model_does_what_is_said_of_it(subject: ModelSpec) -> None:
    engine = Engine("cpu")
    info = engine.info(subject.id)
    plain = check.plainly(info)
    assert (info.family, info.n_layers, info.n_heads, info.width) == (
        subject.family,
        subject.layers,
        subject.heads,
        subject.width,
    )
    assert (info.mlm, info.nsp, info.cross_attention) == (subject.mlm, subject.nsp, subject.cross_attention)
    check_tokens(engine, subject, plain)
    check_limit(engine, subject)
    layers = check_encoder(engine, subject, plain)
    attention = check_attention(engine, subject, plain)
    masked = check_masked_words(engine, subject, plain)
    sentences = check_next_sentence(engine, subject, plain)
    compared = "yes" if masked == "yes" else "all but predictions"
    if attention == "no attention":
        compared = "all but attention"
    corpus, cause = check_corpus(engine, subject), check_cause(engine, subject)
    trained = check_training(engine, subject)
    assert claims(subject) == (attention, masked, sentences, layers, corpus, cause, compared, trained)


def check_corpus(engine: Engine, model: ModelSpec) -> str:
    """What the page "Corpus" shows: every head measured, and one switched off while a word is hidden."""
    try:
        statistics = engine.ask(MeasureHeads.example(model.id))
    except NotSupported:
        return "no attention"
    assert statistics.n_heads == model.layers * model.heads
    assert np.isfinite(statistics.measure("entropy")).all()
    try:
        off = engine.ask(SwitchOff(model.id, (HiddenWord(TEXT, (4, 7)),), (((0, 0),),)))
    except NotSupported:
        return "all but switching off"
    assert off.scores[0, 0] != off.scores[1, 0]
    return "yes, the encoder's" if model.cross_attention else "yes"


def check_cause(engine: Engine, model: ModelSpec) -> str:
    """What the page "Cause" follows: some answer of the model, with a head off, or with a word hidden."""
    reads: Reads = "mask" if model.mlm else "next token" if engine.info(model.id).lm else "next sentence"
    mask = engine.vocabulary(model.id).mask_token or "mat"
    pair = TEXT_PAIR if reads == "next sentence" else None
    intervene = partial(
        engine.intervene, model.id, check.MASKED.format(mask=mask), text_pair=pair, aim=TargetAnswer(reads)
    )
    try:
        hidden = intervene([Change(hidden=(2,))])
    except NotSupported:
        return "no prediction to track"
    assert hidden.readings[0].divergence > 0
    if not model.attention:
        with pytest.raises(NotSupported, match="no attention"):
            intervene([Change(heads=((0, 0),))])
        return "all but heads"
    (off,) = intervene([Change(heads=((0, 0),))]).readings
    assert off.divergence > 0
    return "yes"


def check_tokens(engine: Engine, model: ModelSpec, plain: Plain) -> None:
    """Ids and special tokens are the tokenizer's own, a word's pieces span it, and marks stand where words begin."""
    tokenizer = plain.tokenizer
    encoding = engine.encode(model.id, TEXT, TEXT_PAIR)
    expected = tokenizer(TEXT, TEXT_PAIR, return_special_tokens_mask=True)
    assert list(encoding.ids) == expected["input_ids"]
    assert list(encoding.tokens) == tokenizer.convert_ids_to_tokens(expected["input_ids"])
    assert [int(special) for special in encoding.special] == expected["special_tokens_mask"]
    assert encoding.n_dropped == 0
    words = [*TEXT.replace(",", " ,").replace(".", " .").split(), *TEXT_PAIR.replace(".", " .").split()]
    places: dict[int, list[int]] = {}
    for place, (word, special) in enumerate(zip(encoding.word_ids, encoding.special, strict=True)):
        assert (word is None) == special
        if word is not None:
            places.setdefault(word, []).append(place)
    assert list(places) == list(range(len(words)))
    second = words.index("She")
    wordpiece = isinstance(tokenizer.backend_tokenizer.model, WordPiece)
    for number, word in enumerate(words):
        text = TEXT if number < second else TEXT_PAIR
        spans = [encoding.offsets[place] for place in places[number]]
        start = spans[0][0]
        assert text[start : spans[-1][1]] == word
        assert {encoding.segment_ids[place] for place in places[number]} == {int(number >= second)}
        pieces = [encoding.tokens[place] for place in places[number]]
        if wordpiece:
            assert [piece.startswith("##") for piece in pieces] == [False] + [True] * (len(pieces) - 1)
        elif start > 0 and text[start - 1] == " ":
            assert [piece[0] in "Ġ▁" for piece in pieces] == [True] + [False] * (len(pieces) - 1)


def check_limit(engine: Engine, model: ModelSpec) -> None:
    """A text far too long is cut where the model's positions end, and runs."""
    limit = model.max_tokens or LONGEST
    long = "cat " * 2 * limit
    if model.max_tokens is not None:
        assert engine.info(model.id).max_tokens == limit
        encoding = engine.encode(model.id, long)
        assert len(encoding) == limit
        assert encoding.n_dropped > 0
    if model.attention:
        run = engine.attend(model.id, long, max_tokens=LONGEST)
        assert run.n_tokens <= min(limit, LONGEST)
        if model.max_tokens is not None:
            assert run.n_tokens == min(limit, LONGEST)
        np.testing.assert_allclose(run.layer(model.layers - 1).sum(-1), 1, atol=1e-4)
    else:
        states = engine.hidden_states(model.id, [long])[0]
        assert states.shape[1] == len(engine.encode(model.id, long))
        assert states.shape[1] > limit if model.max_tokens is None else states.shape[1] == limit


def check_encoder(engine: Engine, model: ModelSpec, plain: Plain) -> str:
    """Attention and hidden states of a text and of a pair; what the page "Layers" shows."""
    states = engine.hidden_states(model.id, [TEXT, TEXT_PAIR])  # batched, the shorter one padded
    texts = (TEXT, None), (TEXT_PAIR, None), (TEXT, TEXT_PAIR)
    *alone, (maps_of_pair, _) = plain.encoded(texts)
    for (text, _), hidden, (maps, expected) in zip(texts[:2], states, alone, strict=True):
        assert hidden.dtype == np.float32
        assert hidden.shape == expected.shape == (model.layers + 1, len(engine.encode(model.id, text)), model.width)
        assert check.states_difference(hidden, expected) <= check.STATES_TOLERANCE
        if model.attention:
            check_run(engine.attend(model.id, text), maps, model)
    if model.attention:
        check_run(engine.attend(model.id, TEXT, TEXT_PAIR), maps_of_pair, model)
    return "yes, the encoder's" if model.cross_attention else "yes"


def check_run(run: AttentionRun, expected: list[np.ndarray], model: ModelSpec) -> None:
    assert check.attention_difference(run, expected) <= check.tolerance(model.layers)
    for layer in range(run.n_layers):
        weights = run.layer(layer)
        assert weights.shape == (model.heads, run.n_tokens, run.n_keys)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        np.testing.assert_array_equal(run.head(layer, model.heads - 1), weights[-1])


def check_attention(engine: Engine, model: ModelSpec, plain: Plain) -> str:
    """What the page "Attention" shows: which parts there are, and whether tokens see those after them."""
    if not model.attention:
        with pytest.raises(NotSupported, match="has no attention to show"):
            engine.attend(model.id, TEXT)
        return "no attention"
    run = engine.attend(model.id, TEXT)
    assert run.n_layers == model.layers
    check_contributions(engine, model, run.n_tokens)
    if model.cross_attention:
        expected = plain.decoded(TEXT, TEXT_PAIR)
        check_run(engine.attend(model.id, TEXT, TEXT_PAIR, stack="decoder"), expected["decoder"], model)
        check_run(engine.attend(model.id, TEXT, TEXT_PAIR, stack="cross"), expected["cross"], model)
        return "encoder, decoder, cross"
    for part in ("decoder", "cross"):
        with pytest.raises(NotSupported):
            engine.attend(model.id, TEXT, TEXT_PAIR, stack=part)  # type: ignore[arg-type]
    later = np.triu(np.ones((run.n_tokens, run.n_tokens), dtype=bool), k=1)
    sees_later = any(run.layer(layer)[:, later].max() > 0 for layer in range(run.n_layers))
    return "yes" if sees_later else "yes, causal"


def check_contributions(engine: Engine, model: ModelSpec, n: int) -> None:
    """What "Show" shows of layers, where these are known part by part: shares and distances."""
    try:
        shares = engine.contributions(model.id, TEXT).maps
    except NotSupported:
        return
    assert shares.shape == (model.layers, n, n)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    zeroed = engine.contributions(model.id, TEXT, measure="value zeroing").maps
    assert zeroed.min() >= 0
    assert zeroed.max() > 0


def check_masked_words(engine: Engine, model: ModelSpec, plain: Plain) -> str:
    """What the page "Masked words" shows."""
    if not model.mlm:
        with pytest.raises(NotSupported, match=r"cannot fill masks.*embedded/bert"):
            engine.fill_mask(model.id, check.MASKED.format(mask="[MASK]"))
        return "no MLM head"
    text = check.MASKED.format(mask=plain.tokenizer.mask_token)
    predictions = engine.fill_mask(model.id, text, top_k=7)
    expected = plain.filled(text, 7)
    assert len(predictions) == len(expected) == 2
    assert check.masks_difference(predictions, expected) <= check.tolerance(model.layers)
    for answer, theirs in zip(predictions, expected, strict=True):
        assert [best.id for best in answer.best] == [token for token, _ in theirs]
        assert answer.original is None
    assert predictions == engine.fill_mask(model.id, check.MASKED.format(mask="[MASK]"), top_k=7)
    return "yes"


def check_next_sentence(engine: Engine, model: ModelSpec, plain: Plain) -> str:
    """What the page "Next sentence" shows."""
    if model.nsp is None:
        with pytest.raises(NotSupported, match=r"cannot say whether one sentence follows another.*embedded/bert"):
            engine.next_sentence(model.id, TEXT, TEXT_PAIR)
        return "no NSP head"
    score = engine.next_sentence(model.id, TEXT, TEXT_PAIR)
    assert score.kind == model.nsp
    logits = plain.sentence_logits(TEXT, TEXT_PAIR)
    assert check.sentences_difference(score, logits) <= 10 * check.tolerance(model.layers)
    odds = np.exp(logits - logits.max())
    assert score.p_next == pytest.approx(odds[0] / odds.sum(), abs=10 * check.tolerance(model.layers))
    return {"NSP": "yes", "SOP": "yes, as SOP"}[score.kind]


def check_training(engine: Engine, model: ModelSpec) -> str:
    """Two steps on two examples each leave a model that answers; a decoder is refused."""
    try:
        *_, tuned_model = engine.stream(Finetune.example(model.id))
    except NotSupported:
        return "no, only encoders"
    assert all(np.isclose(sum(prediction.probabilities), 1) for prediction in tuned_model.predictions)
    return "yes"


@pytest.mark.parametrize(
    "model", [model for model in registry.MODELS.values() if model.hub_id], ids=lambda model: model.id
)
def test_a_tiny_checkpoint_stands_for_every_model_on_the_hub(model: ModelSpec) -> None:
    """One of the same family of which the table says the same, so that the test above proves what it says."""
    assert any(
        (family.model_type, claims(spec(name, ""))) == (model.family, claims(model))
        for name, family in FAMILIES.items()
    )


@pytest.mark.parametrize("on_the_hub", [False, True])
def test_published_checkpoints_are_tested_when_asked_for_only(on_the_hub: bool, request: pytest.FixtureRequest) -> None:
    """With the option --hub, by the same test as the tiny ones; without it they are not even collected."""
    (conftest,) = (plugin for plugin in request.config.pluginmanager.get_plugins() if hasattr(plugin, "OneOfEach"))
    collected: list[str] = []
    conftest.pytest_generate_tests(
        SimpleNamespace(
            fixturenames=["subject"],
            config=SimpleNamespace(getoption={"hub": on_the_hub}.__getitem__),
            parametrize=lambda _name, values, **_: collected.extend(value.id for value in values),
        )
    )
    listed = {model.id for model in registry.MODELS.values() if on_the_hub or model.hub_id is None}
    assert set(collected) == {f"tiny-{family}" for family in FAMILIES} | {"through-a-hub"} | listed
