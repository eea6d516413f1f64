"""Masked words equal what transformers computes from the same weights, one mask and one run at a time; what is asked
of a text word by word runs in one batch where it can; the lens on layers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from by_transformers import slow_log_probabilities, slow_model
from checkpoints import FAMILIES, N_LAYERS, WITH_HEAD, Checkpoint

from model_zoo import Engine, prediction_heads
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.questions.fill_mask import FillMask
from model_zoo.questions.score_tokens import ScoreTokens
from model_zoo.types import Scheme, TokenScores

TEXT = "The cat sat on the mat because it was tired."


@pytest.mark.parametrize("name", ["bert", "distilbert"])
def test_a_masked_position_is_a_typed_mask(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    encoding = engine.encode(model, TEXT)
    position = encoding.tokens.index("cat") if "cat" in encoding.tokens else 2
    clicked = engine.fill_mask(model, TEXT, masked=[position])[0]
    typed = engine.fill_mask(model, engine.masked_text(model, TEXT, [position]))[0]
    assert clicked.best == typed.best
    assert clicked.position == typed.position == position
    logs = slow_log_probabilities(
        checkpoint(name),
        [engine.vocabulary(model).mask_id if p == position else i for p, i in enumerate(encoding.ids)],  # type: ignore[misc]
    )[position]
    assert clicked.original.id == encoding.ids[position]
    assert clicked.log_probability == pytest.approx(logs[encoding.ids[position]], abs=1e-5)
    assert clicked.rank == 1 + int((logs > logs[encoding.ids[position]]).sum())


def test_a_mask_takes_the_accent_of_the_word_along(engine: Engine) -> None:
    """ "cafe" and a combining acute, which the tokenizer drops: it is no part of what stays."""
    text = "The cafe\u0301 is big."
    assert engine.masked_text("embedded/bert", text, [2]) == "The [MASK] is big."


def test_log_total_gives_the_logits_back(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("roberta")
    model, tokenizer = slow_model(folder)
    text = f"The cat {tokenizer.mask_token} on the mat."
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(ids).logits[0]
    answer = engine.fill_mask(str(folder), text, top_k=3)[0]
    for best in answer.best:
        assert np.log(best.probability) + answer.log_total == pytest.approx(
            float(logits[answer.position, best.id]), abs=1e-4
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_HEAD)
def test_token_scores_equal_one_mask_at_a_time(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint(name)
    scores = engine.token_scores(str(folder), TEXT)
    ids, mask = list(scores.encoding.ids), engine.vocabulary(str(folder)).mask_id
    for place, special in enumerate(scores.encoding.special):
        if special:
            assert np.isnan(scores.log_probabilities[place])
            continue
        logs = slow_log_probabilities(folder, [mask if p == place else i for p, i in enumerate(ids)])[place]  # type: ignore[misc]
        assert scores.log_probabilities[place] == pytest.approx(logs[ids[place]], abs=1e-4)
        guess = scores.guesses[place]
        assert guess.probability == pytest.approx(float(np.exp(logs.max())), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert", "roberta", "modernbert"])
def test_a_word_in_pieces_is_scored_piece_after_piece(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """PLL-word-l2r by its definition: what follows a piece in its word is masked as well."""
    folder = checkpoint(name)
    text = "Unbelievably unhappy catfish walked."
    scores, original = (engine.token_scores(str(folder), text, scheme=s) for s in ("word l2r", "original"))  # type: ignore[arg-type]
    encoding, mask = scores.encoding, engine.vocabulary(str(folder)).mask_id
    assert (scores.scheme, original.scheme) == ("word l2r", "original")
    words = [word for word in encoding.word_ids if word is not None]
    assert len(set(words)) < len(words)  # some word is in pieces
    for place, (word, special) in enumerate(zip(encoding.word_ids, encoding.special, strict=True)):
        if special:
            continue
        later = [p for p in range(place, len(encoding)) if p == place or encoding.word_ids[p] == word]
        hidden = [mask if p in later else token for p, token in enumerate(encoding.ids)]
        logs = slow_log_probabilities(folder, hidden)[place]  # type: ignore[arg-type]
        assert scores.log_probabilities[place] == pytest.approx(logs[encoding.ids[place]], abs=1e-4)
        if len(later) == 1:  # the last piece of a word sees what the original score lets it see
            assert scores.log_probabilities[place] == pytest.approx(original.log_probabilities[place], abs=1e-5)
    with pytest.raises(InvalidInput, match="no scheme 'backwards'"):
        engine.token_scores(str(folder), text, scheme="backwards")  # type: ignore[arg-type]


def test_a_word_that_its_own_pieces_give_away(engine: Engine) -> None:
    """The case that was shown wrong: the surprisal of "clavichord" came out nine bits too small."""
    text = "She played the clavichord in the hall."
    bits = {}
    for scheme in ("word l2r", "original"):
        scores = engine.token_scores("embedded/bert", text, scheme=scheme)  # type: ignore[arg-type]
        pieces = [i for i, word in enumerate(scores.encoding.word_ids) if word == 3]
        bits[scheme] = -scores.log_probabilities[pieces].sum() / np.log(2)
    assert len(pieces) > 1
    assert bits["word l2r"] > bits["original"] + 3


def test_batches_do_not_change_scores(engine: Engine, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    model = str(checkpoint("bert"))
    full = engine.token_scores(model, TEXT).log_probabilities
    monkeypatch.setattr("model_zoo.running._BATCH_TOKENS", 20)
    monkeypatch.setattr("model_zoo.prediction_heads.HEAD_NUMBERS", 300)
    engine.close()
    np.testing.assert_allclose(engine.token_scores(model, TEXT).log_probabilities, full, atol=1e-5)


def test_models_without_a_head_refuse(engine: Engine, checkpoint: Checkpoint) -> None:
    """Those of every family, tests/model_zoo/test_every_model.py asks for masks."""
    for ask in (engine.mask_lens, engine.token_scores):
        with pytest.raises(NotSupported, match="cannot fill masks"):
            ask(str(checkpoint("bert_headless")), "The [MASK] sat.")


def test_filling_all_takes_the_surest_first(engine: Engine, checkpoint: Checkpoint) -> None:
    """Step by step with ``fill_mask`` alone: the surest mask, its best token written in, and again."""
    folder = checkpoint("bert")
    model, masked = str(folder), [2, 4, 7]
    ids = list(engine.encode(model, TEXT).ids)
    mask = engine.vocabulary(model).mask_id
    for place in masked:
        ids[place] = mask  # type: ignore[call-overload]
    left = list(masked)
    for step in engine.fill_all(model, TEXT, masked=masked):
        logs = slow_log_probabilities(folder, ids)
        surest = max(left, key=lambda place: logs[place].max())
        assert step.position == surest
        assert step.best[0].id == int(logs[surest].argmax())
        ids[surest] = step.best[0].id
        left.remove(surest)
    assert left == []


def test_restoring_reads_other_ids(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("bert")
    model = str(folder)
    ids = list(engine.encode(model, TEXT).ids)
    original, ids[3] = ids[3], ids[5]
    answer = engine.restore(model, TEXT, ids, [3])[0]
    assert answer.log_probability == pytest.approx(slow_log_probabilities(folder, ids)[3, original], abs=1e-5)
    assert engine.restore(model, TEXT, ids, []) == ()
    with pytest.raises(InvalidInput, match="Give one id per token"):
        engine.restore(model, TEXT, ids[1:], [3])


def test_shifts_are_differences_of_log_probabilities(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("bert")
    model, after = str(folder), TEXT.replace("cat", "dog")
    position = 3
    masked = [p for p, s in enumerate(engine.encode(model, after).offsets) if after[slice(*s)] == "mat"] or [3]
    sides = [
        slow_log_probabilities(
            folder,
            [engine.vocabulary(model).mask_id if p == at else i for p, i in enumerate(engine.encode(model, text).ids)],  # type: ignore[misc]
        )[at]
        for text, at in ((TEXT, position), (after, masked[0]))
    ]
    first_mask = engine.mask_shifts(model, (TEXT, [position]), (after, masked[:1]), top_k=4)[0]
    candidates = set(np.argsort(-sides[0])[:50].tolist()) | set(np.argsort(-sides[1])[:50].tolist())
    differences = sides[1] - sides[0]
    largest = sorted(candidates, key=lambda token: -abs(differences[token]))[:4]
    assert [shift.id for shift in first_mask] == largest
    np.testing.assert_allclose([s.difference for s in first_mask], differences[largest], atol=1e-4)
    with pytest.raises(InvalidInput, match="2 masks before the change and 1 after"):
        engine.mask_shifts(model, (TEXT, [2, 3]), (after, [2]))


@pytest.mark.parametrize(
    ("text", "position", "token", "expected"),
    [
        ("The unhappy cat sat.", 3, "dog", "The unhappy dog sat."),
        ("The cat sat.", 2, "##s", "Thes sat."),  # a piece joins the word before it
        ("The [MASK] sat.", 2, "dog", "The dog sat."),
        ("Cats sat.", 1, "dogs", "dogs sat."),
    ],
)
def test_a_token_is_put_as_it_reads_well(text: str, position: int, token: str, expected: str, engine: Engine) -> None:
    vocabulary = engine.vocabulary("embedded/bert")
    assert engine.put("embedded/bert", text, {position: vocabulary.tokens.index(token)}) == expected


@pytest.mark.parametrize("name", ["bert", "roberta", "modernbert"])
def test_the_same_tokens_put_back_give_the_same_ids(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    encoding = engine.encode(model, TEXT)
    fills = {p: i for p, i in enumerate(encoding.ids) if not encoding.special[p]}
    again = engine.put(model, TEXT, fills)
    assert engine.encode(model, again).ids == encoding.ids


def test_bad_input(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    for text, message in {
        "The cat sat.": "There is no mask",
        "The <mask> sat.": "is the mask of other models",
        "The [mask] sat.": r"^\[mask\] looks like a mask",
        " ": "is empty",
        "word " * 100 + "[MASK]": r"No mask is left: .* 64 tokens",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            engine.fill_mask(model, text)
    for position in (0, 99, -1):
        with pytest.raises(InvalidInput, match="cannot be masked"):
            engine.fill_mask(model, TEXT, masked=[position])


def test_a_hundred_masks_and_everything_masked(engine: Engine) -> None:
    answers = engine.fill_mask("embedded/bert", "[MASK] " * 100, top_k=3)
    assert [answer.position for answer in answers] == list(range(1, 101))
    encoding = engine.encode("embedded/bert", TEXT)
    everything = [p for p, special in enumerate(encoding.special) if not special]
    answers = engine.fill_mask("embedded/bert", TEXT, masked=everything)
    assert [a.original.id for a in answers if a.original] == [encoding.ids[p] for p in everything]


def test_more_predictions_than_there_are_tokens(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    best = engine.fill_mask(model, "The [MASK] sat.", top_k=1000)[0].best
    assert len(best) == len(engine.vocabulary(model).tokens)
    assert sum(entry.probability for entry in best) == pytest.approx(1, abs=1e-4)


def test_the_embedded_model_knows_its_language(engine: Engine) -> None:
    answer = engine.fill_mask("embedded/bert", "Paris is the capital of [MASK].", top_k=5)[0]
    assert "france" in [entry.token for entry in answer.best]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_HEAD)
def test_many_texts_are_filled_and_scored_as_each_alone(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    texts = ["The [MASK] sat on the mat.", "A [MASK].", "She [MASK] in the [MASK] of the house, and he did not."]
    fresh = Engine("cpu")
    for text, together in zip(texts, engine.fill_mask(model, texts, top_k=3), strict=True):
        alone = fresh.fill_mask(model, text, top_k=3)
        assert [answer.position for answer in together] == [answer.position for answer in alone]
        for mine, expected in zip(together, alone, strict=True):
            assert [best.probability for best in mine.best] == pytest.approx(
                [best.probability for best in expected.best], abs=1e-4
            )
    written = [TEXT, "The mat.", TEXT, "She walked home with the dog."]
    scores = engine.token_scores(model, written)
    assert scores[0] is scores[2]  # run once, and remembered
    assert engine.token_scores(model, TEXT) is scores[0]
    for text, score in zip(written, scores, strict=True):
        single = fresh.token_scores(model, text)
        assert score.encoding == single.encoding
        np.testing.assert_allclose(score.log_probabilities, single.log_probabilities, atol=2e-4)
    assert engine.token_scores(model, []) == engine.fill_mask(model, []) == []


def test_a_text_of_masks_has_nothing_to_score(engine: Engine) -> None:
    first, second = engine.token_scores("embedded/bert", ["[MASK]", "The cat."])
    assert (first.n_scored, first.log_likelihood) == (0, 0)
    assert second.n_scored == 3


@pytest.mark.parametrize("name", ["bert", "roberta", "albert", "xlm-roberta", "modernbert", "deberta-v2", "mpnet"])
def test_targets_have_the_probability_of_their_token(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Between words a word is another token than alone ("\u0120cat" of RoBERTa): that of the whole text with it in."""
    folder = checkpoint(name)
    model = str(folder)
    first, second = engine.fill_mask(model, "The [MASK] was on [MASK].", top_k=2, targets=["was", "it"])
    tokens = {token.strip("\u0120\u2581"): token for token in engine.encode(model, "The it was on was it.").tokens}
    read = engine.encode(model, "The [MASK] was on [MASK].")
    assert [target.word for target in first.targets] == ["was", "it"]
    for answer in (first, second):
        assert [target.token for target in answer.targets] == [tokens["was"], tokens["it"]]
    logs = slow_log_probabilities(folder, list(read.ids))
    for answer in (first, second):
        for target in answer.targets:
            assert target.log_probability == pytest.approx(logs[answer.position, target.id], abs=1e-4)
            assert target.probability == pytest.approx(np.exp(target.log_probability))
            assert target.rank == 1 + int((logs[answer.position] > logs[answer.position, target.id]).sum())
    position = engine.encode(model, "She was on it.").tokens.index(tokens["was"])
    (clicked,) = engine.fill_mask(model, "She was on it.", masked=[position], targets=["it"])
    assert clicked.targets[0].token == tokens["it"]
    assert clicked.original is not None  # followed beside the targets, not in their place


def test_targets_may_be_tokens_and_ids(engine: Engine) -> None:
    model = "embedded/bert"
    (answer,) = engine.fill_mask(model, "He is in [MASK] now.", targets=["##ing", "Paris", 1999])
    known = engine.vocabulary(model).tokens
    assert [target.token for target in answer.targets] == ["##ing", "paris", known[1999]]
    assert answer.targets[0].id == known.index("##ing")
    (inside,) = engine.fill_mask(model, "He is bark[MASK] now.", targets=["s"])
    assert inside.targets[0].token == "##s"  # "barks" as this tokenizer writes it
    for target in ("a harpsichordist", "clavichord", "##qqq"):
        with pytest.raises(InvalidInput, match="is not one token of embedded/bert at this place"):
            engine.fill_mask(model, "The [MASK] sat.", targets=[target])
    with pytest.raises(InvalidInput, match=r"makes “cl ##avi ##cho ##rd” of it"):
        engine.fill_mask(model, "The [MASK] sat.", targets=["clavichord"])
    with pytest.raises(InvalidInput, match="There is no token 30522"):
        engine.fill_mask(model, "The [MASK] sat.", targets=[30522])
    with pytest.raises(InvalidInput, match="A target is empty"):
        engine.fill_mask(model, "The [MASK] sat.", targets=[" "])


def test_what_is_wrong_in_a_list_or_a_pair_is_named(engine: Engine) -> None:
    model = "embedded/bert"
    with pytest.raises(InvalidInput, match="The second text is empty"):
        engine.encode(model, "The cat sat.", " ")
    with pytest.raises(InvalidInput, match=r"^Text 2: There is no mask"):
        engine.fill_mask(model, ["The [MASK] sat.", "The cat sat."])
    with pytest.raises(InvalidInput, match="Positions to mask belong to one text"):
        engine.fill_mask(model, ["The cat sat."], masked=[1])  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match=r"^Text 2 is empty"):
        engine.token_scores(model, ["The cat sat.", ""])


@pytest.mark.parametrize("scheme", [None, "original", "word l2r"])
def test_a_minimal_pair_is_the_difference_of_two_sums(engine: Engine, scheme: Any) -> None:
    model = "embedded/bert"
    a, b = "The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."
    preference = engine.prefer(model, a, b, scheme=scheme)
    sums = [np.nansum(engine.token_scores(model, text, scheme=scheme).log_probabilities) for text in (a, b)]
    assert preference.difference == pytest.approx(sums[0] - sums[1], abs=1e-4)
    assert preference.better == "A"
    assert engine.prefer(model, b, a, scheme=scheme).better == "B"
    assert engine.prefer(model, a, a, scheme=scheme).better is None
    both = engine.prefer(model, [(a, b), (b, a)], scheme=scheme)
    assert [judged.better for judged in both] == ["A", "B"]
    assert repr(preference).startswith("<Preference A, by ")
    for pairs, message in (([a], "Pair 1 is not two texts"), ([(a, b), (a, "")], "Sentence B of pair 2 is empty")):
        with pytest.raises(InvalidInput, match=message):
            engine.prefer(model, pairs)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="There is one text only"):
        engine.prefer(model, a)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match="A list of pairs has no second text"):
        engine.prefer(model, [(a, b)], b)  # type: ignore[call-overload]


@pytest.mark.slow
def test_words_of_one_text_are_filled_in_one_batch(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where each word is hidden in turn."""
    fresh = Engine("cpu")
    questions = [FillMask("embedded/bert", TEXT, 1, {2, place}, [1996]) for place in range(3, 6)]
    encoded: list[int] = []
    real = prediction_heads.states_of
    monkeypatch.setattr(
        prediction_heads,
        "states_of",
        lambda loaded, some, *more: encoded.append(len(some)) or real(loaded, some, *more),
    )
    filled = dict(fresh.stream_all(questions))
    assert encoded == [3]
    for place, question in enumerate(questions):
        alone = engine.fill_mask("embedded/bert", TEXT, 1, masked=question.masked, targets=[1996])
        assert (
            [prediction.position for prediction in filled[place]]
            == [prediction.position for prediction in alone]
            == [2, place + 3]
        )
        for mine, expected in zip(filled[place], alone, strict=True):
            assert mine.targets[0].log_probability == pytest.approx(expected.targets[0].log_probability, abs=1e-4)
            assert mine.original == expected.original or mine.original is not None


@pytest.mark.parametrize("scheme", ["original", "word l2r"])
def test_a_text_is_scored_in_parts_as_at_once(scheme: Scheme, engine: Engine) -> None:
    text = "She played the clavichord again."
    full = engine.token_scores("embedded/bert", text, scheme=scheme)
    n = len(full.encoding)
    parts = [ScoreTokens("embedded/bert", text, scheme, range(first, first + 3)) for first in range(0, n, 3)]
    scored = [part for _, part in engine.stream_all(parts)]
    assert sorted(part.n_scored for part in scored) == sorted(
        int(np.isfinite(full.log_probabilities[first : first + 3]).sum()) for first in range(0, n, 3)
    )
    joined = TokenScores.joined(scored)
    np.testing.assert_allclose(joined.log_probabilities, full.log_probabilities, atol=1e-4)
    assert [guess and guess.token for guess in joined.guesses] == [guess and guess.token for guess in full.guesses]
    assert joined.scheme == scheme


def test_a_causal_model_scores_all_in_one_run(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    part = engine.ask(ScoreTokens(model, TEXT, "causal", [1]))
    assert part.n_scored == engine.token_scores(model, TEXT).n_scored > 1


LENS = [name for name in WITH_HEAD if not FAMILIES[name].cross_attention]


@pytest.mark.parametrize("name", LENS)
def test_the_last_layer_of_the_lens_is_the_output(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    positions = [2, 4]
    outputs = engine.fill_mask(model, TEXT, top_k=5, masked=positions)
    for lens, output in zip(engine.mask_lens(model, TEXT, 5, masked=positions), outputs, strict=True):
        assert lens.position == output.position
        assert len(lens.layers) == len(lens.ranks) == N_LAYERS + 1
        assert [p.id for p in lens.layers[-1]] == [p.id for p in output.best]
        np.testing.assert_allclose(
            [p.probability for p in lens.layers[-1]], [p.probability for p in output.best], atol=1e-5
        )
        assert lens.ranks[-1] == 1
        assert lens.original_ranks[-1] == output.rank


# What reads a layer's vectors before the last one: the head, after the norm behind the encoder where there is one.
READS: dict[str, tuple[Callable[[Any, torch.Tensor], torch.Tensor], ...]] = {
    "bert": (lambda model, state: model.cls.predictions(state),),
    "modernbert": (
        lambda model, state: model.decoder(model.head(model.model.final_norm(state))),
        lambda model, state: model.decoder(model.head(state)),
    ),
    "xlm-roberta-xl": (
        lambda model, state: model.lm_head(model.roberta.encoder.LayerNorm(state)),
        lambda model, state: model.lm_head(state),
    ),
}


@pytest.mark.parametrize("name", READS)
def test_the_lens_applies_the_head_to_hidden_states(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Written out from the network's own modules; at the last layer it is the model's own output."""
    model, tokenizer = slow_model(checkpoint(name))
    text = f"The cat {tokenizer.mask_token} on the mat."
    inputs = tokenizer(text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    (lens,) = engine.mask_lens(str(checkpoint(name)), text, 3)
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
        early = [READS[name][0](model, state[0, place]) for state in output.hidden_states[:-1]]
        unnormed = [read(model, output.hidden_states[1][0, place]).softmax(-1).max() for read in READS[name][1:]]
    logits = getattr(output, "prediction_logits", None)
    logs = [*early, (output.logits if logits is None else logits)[0, place]]
    assert lens.answer.id == int(logs[-1].argmax())
    for layer, expected in enumerate(state.log_softmax(dim=-1) for state in logs):
        best = expected.topk(3)
        assert [p.id for p in lens.layers[layer]] == best.indices.tolist()
        assert [p.probability for p in lens.layers[layer]] == pytest.approx(best.values.exp().tolist(), abs=1e-5)
        assert lens.log_probabilities[layer] == pytest.approx(float(expected[lens.answer.id]), abs=1e-5)
        assert lens.ranks[layer] == 1 + int((expected > expected[lens.answer.id]).sum())
    for probability in unnormed:
        assert lens.layers[1][0].probability != pytest.approx(float(probability), abs=1e-3)


def test_the_lens_needs_a_head_that_reads_the_encoder(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="reads its decoder"):
        engine.mask_lens(str(checkpoint("bart")), TEXT, masked=[2])
