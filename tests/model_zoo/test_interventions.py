"""Runs that are interfered with, against the same done by hand: weights set to zero, edges masked, vectors swapped."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, TEXT, WITH_ATTENTION, Checkpoint, varied
from transformers import AutoModel, AutoTokenizer
from tuning import classifier

from analysis.effects import recovered
from model_zoo import Engine, heldout, loading, sources
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.interventions import intervene as intervening
from model_zoo.interventions import means
from model_zoo.interventions.editing import Editor, Rows
from model_zoo.interventions.layerwise import LayerwiseRun
from model_zoo.interventions.reading import Reader
from model_zoo.loading import LoadedModel
from model_zoo.questions.intervene import Intervene
from model_zoo.types import (
    Change,
    DoubleArray,
    Edge,
    Effects,
    MaskPrediction,
    Reading,
    SentenceScore,
    TargetAnswer,
    Value,
)

MODEL = "embedded/bert"
SENTENCE = "The cat sat on the [MASK] because it was tired."


@pytest.fixture(scope="module")
def loaded(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LoadedModel]:
    """A family's tiny model, its weights free to be changed. ALBERT has one layer, since its layers share weights."""

    @cache
    def load(name: str) -> LoadedModel:
        folder = checkpoint(name)
        if name.startswith("albert"):
            folder = varied(name, folder, tmp_path_factory.mktemp("one layer") / name, num_hidden_layers=1)
        return loading.load(sources.find(str(folder)), torch.device("cpu"))

    return load


def output_weight(loaded: LoadedModel, layer: int) -> tuple[torch.Tensor, bool]:
    """The weight that is a layer's output projection, and whether its rows are what comes in."""
    if loaded.unfused is not None:
        return loaded.unfused.output_weights(loaded.encoder)[layer], False
    wanted = loaded.output_projections("encoder")[layer]
    flat = torch.from_numpy(wanted.copy()).flatten(0, 1)
    for weight in loaded.encoder.parameters():
        for turned in (False, True):
            if weight.ndim == 2 and torch.equal(weight if turned else weight.T, flat):
                return weight, turned
    raise AssertionError("no weight is this projection")


def zero_slice(loaded: LoadedModel, layer: int, head: int) -> None:
    """Set what a head writes with to nothing, in the network's own weights."""
    weight, turned = output_weight(loaded, layer)
    n_heads = loaded.info.n_heads
    with torch.no_grad():
        if weight.ndim == 3 and weight.shape[1] == n_heads:  # XLNet: (width, heads, d')
            weight[:, head] = 0
        elif weight.ndim == 3:  # SqueezeBERT: (width, inputs of a group, 1), channels and heads in groups alike
            groups = weight.shape[0] // weight.shape[1]
            size = weight.shape[0] // n_heads
            for channel in range(head * size, (head + 1) * size):
                group, at = divmod(channel, weight.shape[1])
                weight[group * weight.shape[0] // groups : (group + 1) * weight.shape[0] // groups, at] = 0
        else:
            size = (weight.shape[0] if turned else weight.shape[1]) // n_heads
            of_head = slice(head * size, (head + 1) * size)
            (weight if turned else weight.T)[of_head] = 0


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_a_head_that_is_off_is_one_whose_output_weights_are_zero(
    name: str, loaded: Callable[[str], LoadedModel]
) -> None:
    """All heads of a layer as rows of one batch, each compared with the whole network run on changed weights."""
    model = loaded(name)
    encoding = model.encode(TEXT)
    n, heads, layers = len(encoding), model.info.n_heads, model.info.n_layers
    layer = layers - 1
    with torch.inference_mode():
        run = LayerwiseRun(model, [encoding])
        keep = torch.ones(heads, n, heads)
        keep[range(heads), :, range(heads)] = 0
        first = layer if run.states else 0
        off = run.run(heads, Editor({layer: Rows(keep=keep)}), first=first)
        scale = float(run.final.abs().max())
    assert not np.allclose(off.numpy(), run.final.numpy(), atol=1e-3)
    weight, _ = output_weight(model, layer)
    kept = weight.detach().clone()
    for head in range(heads):
        zero_slice(model, layer, head)
        try:
            with torch.inference_mode():
                expected = LayerwiseRun(model, [encoding]).final
        finally:
            with torch.no_grad():
                weight.copy_(kept)
        assert torch.allclose(off[head], expected[0], atol=1e-6 * max(scale, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_changed_changes_nothing(name: str, loaded: Callable[[str], LoadedModel]) -> None:
    """From the first layer on and from the last, one row and three."""
    model = loaded(name)
    with torch.inference_mode():
        run = LayerwiseRun(model, [model.encode(TEXT)])
        for first in {0, run.n_layers - 1} if run.states else {0}:
            again = run.run(3, Editor(), first=first)
            assert torch.allclose(again, run.final.expand_as(again), atol=1e-6 * float(run.final.abs().max()))
        reads = model.model.base_model if model.info.mlm else model.encoder
        logits = reads(**model.inputs([model.encode(TEXT)]))[0]
    assert torch.equal(run.final, logits)


@pytest.mark.parametrize("name", sorted(set(WITH_ATTENTION) - {"longformer"}))
def test_an_edge_that_is_cut_gets_no_weight_and_the_others_all_of_it(
    name: str, loaded: Callable[[str], LoadedModel]
) -> None:
    model = loaded(name)
    encoding = model.encode("The cat sat.")
    n, heads, layers = len(encoding), model.info.n_heads, model.info.n_layers
    hide = torch.zeros(2, heads, n, n, dtype=torch.bool)
    hide[0, :, n - 1, 0] = hide[1, 0, n - 1, 1] = True
    with torch.inference_mode():
        run = LayerwiseRun(model, [encoding])
        plain, cut = Editor(maps=[]), Editor({0: Rows(hide=hide)}, maps=[])
        run.run(1, plain)
        run.run(2, cut)
    before, after = plain.maps[0][0], cut.maps[0]
    assert len(plain.maps[:layers]) == layers
    for row, which, key in ((0, slice(None), 0), (1, slice(0, 1), 1)):
        weights = before[which].clone()
        weights[:, n - 1, key] = 0
        weights[:, n - 1] /= weights[:, n - 1].sum(dim=-1, keepdim=True)
        assert torch.allclose(after[row, which], weights, atol=1e-6)
    assert torch.allclose(after[1, 1:], before[1:], atol=1e-6)


def test_windows_have_no_single_edges(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="windows"):
        engine.ablate(str(checkpoint("longformer")), "The <mask> sat.", edges=[Edge(1, 2)])


def test_two_tokens_with_every_edge_between_them_cut(loaded: Callable[[str], LoadedModel]) -> None:
    """A token that looks at itself alone takes its own value whatever the scores; one that looks nowhere takes none."""
    model = loaded("bert_headless")
    encoding = model.encode("the")
    two = np.flatnonzero(np.ones(len(encoding)))[:2].tolist()
    hide = torch.zeros(2, model.info.n_heads, len(encoding), len(encoding), dtype=torch.bool)
    hide[0, :, two[0], [place for place in range(len(encoding)) if place != two[0]]] = True
    hide[1, :, two[0]] = True
    with torch.inference_mode():
        run = LayerwiseRun(model, [encoding])
        editor = Editor({0: Rows(hide=hide)}, outputs=[])
        run.run(2, editor)
        value = model.encoder.encoder.layer[0].attention.self.value(run.states[0])[0, two[0]]
    outputs = editor.outputs[0]
    assert torch.allclose(outputs[0, two[0]].flatten(), value, atol=1e-6)
    assert torch.equal(outputs[1, two[0]], torch.zeros_like(outputs[1, two[0]]))


def test_all_heads_of_the_default_model_are_those_switched_off_one_by_one(engine: Engine) -> None:
    heads = [(layer, head) for layer in (0, 3, 5) for head in (0, 7)]
    every = engine.intervene(MODEL, SENTENCE, [Change(heads=(head,)) for head in heads])
    (plain,) = engine.fill_mask(MODEL, SENTENCE, 3)
    assert every.answer.id == plain.best[0].id
    assert every.untouched.log_probability == pytest.approx(np.log(plain.best[0].probability), abs=1e-5)
    for head, reading in zip(heads, every.readings, strict=True):
        (effect,) = engine.ablate(MODEL, SENTENCE, [head], targets=[every.answer.id])  # type: ignore[misc]
        assert reading.log_probability == pytest.approx(effect.targets[0].log_probability, abs=1e-5)
        assert reading.best[0].id == effect.best[0].id
        assert reading.logit == pytest.approx(effect.targets[0].log_probability + effect.log_total, abs=1e-4)


def test_divergence_is_that_of_the_two_distributions(engine: Engine) -> None:
    a, b, off = "She opened the window.", "Penguins are birds.", [(5, head) for head in range(12)]
    effects = engine.intervene(MODEL, a, [Change(heads=tuple(off))], text_pair=b, aim=TargetAnswer("next sentence"))
    changed = engine.ablate(MODEL, a, off, text_pair=b)
    p, q = engine.next_sentence(MODEL, a, b).p_next, changed.p_next
    expected = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    assert expected > 0.001
    assert effects.readings[0].divergence == pytest.approx(expected, rel=1e-3)
    assert effects.untouched.divergence == 0


@pytest.mark.parametrize(
    "change",
    [
        Change(),
        Change(states=(3,)),
        Change(states=(6,), positions=(2,)),
        Change(attention=(1,)),
        Change(feed_forward=(4,), positions=(0, 1)),
        Change(heads=((2, 3), (5, 0))),
    ],
    ids=str,
)
def test_patching_a_run_into_itself_changes_nothing(change: Change, engine: Engine) -> None:
    effects = engine.intervene(MODEL, SENTENCE, [change], value="other", other=SENTENCE)
    assert effects.readings[0].log_probability == pytest.approx(effects.untouched.log_probability, abs=1e-5)
    assert effects.readings[0].divergence < 1e-6


def test_all_states_of_another_run_make_it_that_run(engine: Engine) -> None:
    """Whatever the layer; and where only the mask's vector is put in behind the last one, that is enough."""
    other = "The dog slept in the [MASK] because it was tired."
    (theirs,) = engine.fill_mask(MODEL, other, 1, targets=["table"])
    last = engine.info(MODEL).n_layers
    changes = [*(Change(states=(layer,)) for layer in range(last + 1)), Change(states=(last,), positions=(6,))]
    effects = engine.intervene(MODEL, SENTENCE, changes, value="other", other=other, aim=TargetAnswer(answer="table"))
    for reading in [*effects.readings, effects.other]:
        assert reading.log_probability == pytest.approx(theirs.targets[0].log_probability, abs=1e-4)


def test_blocks_of_another_run_add_up_to_its_states(engine: Engine) -> None:
    """In a network with norms in front, the stream is the sum of what blocks add, so all of them and the embeddings of
    another run are that run.
    """
    model, other = "embedded/modernbert", "The dog slept in the [MASK] because it was tired."
    layers = tuple(range(engine.info(model).n_layers))
    every = Change(states=(0,), attention=layers, feed_forward=layers)
    effects = engine.intervene(model, SENTENCE, [every], value="other", other=other)
    assert effects.readings[0].log_probability == pytest.approx(effects.other.log_probability, abs=1e-4)


@pytest.mark.slow
def test_patch_gives_every_layer_and_position(engine: Engine) -> None:
    other = "The dog slept in the [MASK] because it was tired."
    n, layers = len(engine.encode(MODEL, SENTENCE)), engine.info(MODEL).n_layers
    states = engine.patch(MODEL, SENTENCE, other)
    blocks = engine.patch(MODEL, SENTENCE, other, what="attention")
    assert (len(states.readings), len(blocks.readings)) == ((layers + 1) * n, layers * n)
    change = Change(states=(2,), positions=(3,))
    again = engine.intervene(MODEL, SENTENCE, [change], value="other", other=other)
    assert states.readings[2 * n + 3].log_probability == pytest.approx(again.readings[0].log_probability, abs=1e-5)
    heads = engine.patch(MODEL, SENTENCE, other, what="heads")
    change = Change(heads=((2, 5),), positions=(3,))
    again = engine.intervene(MODEL, SENTENCE, [change], value="other", other=other)
    place = (2 * engine.info(MODEL).n_heads + 5) * n + 3
    assert heads.readings[place].log_probability == pytest.approx(again.readings[0].log_probability, abs=1e-5)
    with pytest.raises(InvalidInput, match="There is nothing called 'words' to patch in"):
        engine.patch(MODEL, SENTENCE, other, what="words")  # type: ignore[arg-type]


def test_heads_take_another_runs_values_in_ablate_as_in_intervene(engine: Engine) -> None:
    other, heads = "The dog slept in the [MASK] because it was tired.", [(2, 8), (5, 3)]
    effects = engine.intervene(MODEL, SENTENCE, [Change(heads=tuple(heads))], value="other", other=other)
    answer = effects.answer.id
    (ablated,) = engine.ablate(MODEL, SENTENCE, heads, value="other", other=other, targets=[answer])  # type: ignore[misc]
    assert ablated.targets[0].log_probability == pytest.approx(effects.readings[0].log_probability, abs=1e-5)
    assert effects.readings[0].divergence > 1e-3
    with pytest.raises(InvalidInput, match="Another run's values need another text"):
        engine.ablate(MODEL, SENTENCE, heads, value="other")


OLD = "The clavichord in the [MASK] is very old."
SHIFTED = "The piano in the [MASK] is clavichord old."  # as many tokens, which begin other words


@pytest.mark.parametrize(
    ("mine", "other"),
    [(OLD, SHIFTED), (SHIFTED, OLD), ("The cats like the [MASK].", "The caterpillars like the [MASK].")],
)
def test_words_are_matched_and_not_places(mine: str, other: str, engine: Engine) -> None:
    """All states of a layer are the whole way to the other run; behind the last layer the mask's alone are, too."""
    n, layers = len(engine.encode(MODEL, mine)), engine.info(MODEL).n_layers
    changes = [Change(states=(layer,), positions=at) for layer in range(layers + 1) for at in (None, tuple(range(n)))]
    changes.append(Change(states=(layers,), positions=(mask_of(engine, mine),)))
    effects = engine.intervene(MODEL, mine, changes, value="other", other=other)
    assert recovered(effects, "bits") == pytest.approx(1, abs=1e-4)
    assert abs(effects.untouched.log_probability - read_of(effects).log_probability) > 0.01


# Words of one and of several tokens in most tokenizers, marks, signs of several bytes.
_WORDS = ("cat", "the", "piano", "clavichord", "unlikely", "Zürich", ",", "(", "”", "3.14", "didn't", "日")


def drawn(rng: np.random.Generator, n: int, hidden: str) -> str:
    """A text of so many words with a mask, or whatever is ``hidden``, among them."""
    words = rng.choice(_WORDS, n)
    return " ".join([*words[: n // 2], hidden, *words[n // 2 :]])


@pytest.mark.parametrize(
    "name", [MODEL, "embedded/tinybert", "embedded/modernbert", "roberta", "xlm-roberta", "deberta-v2", "gpt2", "t5"]
)
def test_no_value_crosses_a_word(name: str, loaded: Callable[[str], LoadedModel]) -> None:
    """Whatever the tokenizer, of texts and of pairs, also with a mask within a word: what stands for a token is of the
    word in the same place, and it is one whole; a mask's is the mask's.
    """
    model = loading.load(sources.find(name), torch.device("cpu")) if name.startswith("embedded/") else loaded(name)
    mask, rng, uneven = model.tokenizer.mask_token, np.random.default_rng(0), 0
    for turn in range(30):
        n, pair = int(rng.integers(1, 6)), drawn(rng, 3, "it") if turn % 2 and not model.info.lm else None
        hidden = ("clavi{}s", "un{}s") if turn % 3 == 0 else ("{}", "{}")
        mine, theirs = (
            Reader(loaded=model, aim=TargetAnswer(), encoding=encoding, position=None, row=len(encoding) - 1)
            for encoding in (model.encode(drawn(rng, n, template.format(mask or "cat")), pair) for template in hidden)
        )
        shares = intervening._shares(model, mine, theirs)
        uneven += shares is not None
        shares = torch.eye(mine.row + 1) if shares is None else shares
        assert torch.allclose(shares.sum(dim=1), torch.ones(mine.row + 1))
        word, other_word = (
            {at: number for number, word in enumerate(template.encoding.words) for at in word}
            for template in (mine, theirs)
        )
        for at, other in shares.nonzero().tolist():
            assert word[at] == other_word[other]
            if mask is not None:
                assert (mine.encoding.tokens[at] == mask) == (theirs.encoding.tokens[other] == mask)
    assert uneven > 10


def test_a_word_gets_the_mean_of_another_number_of_tokens(engine: Engine) -> None:
    """By hand: what leaves the embeddings is changed by a hook."""
    mine, other = "The piano in the [MASK] is old.", "The clavichord in the [MASK] is old."
    model = loading.load(sources.find(MODEL), torch.device("cpu"))
    embeddings = model.encoder.embeddings
    with torch.inference_mode():
        theirs = embeddings(torch.tensor([model.encode(other).ids]))

        def patched(*inputs: torch.Tensor) -> torch.Tensor:
            output = inputs[-1].clone()
            output[0, 2] = theirs[0, 2:6].mean(dim=0)
            return output

        with embeddings.register_forward_hook(patched):
            logits = model.model(**model.inputs([model.encode(mine)])).prediction_logits[0, 5]
    effects = engine.intervene(MODEL, mine, [Change(states=(0,), positions=(2,))], value="other", other=other)
    assert effects.readings[0].logit == pytest.approx(float(logits[effects.answer.id]), abs=1e-4)
    assert effects.readings[0].divergence > 1e-4


@pytest.mark.parametrize(
    ("mine", "other", "message"),
    [
        ("The dog sat down in the [MASK] today.", "The clavichord in the [MASK].", "9 words in one text and 6 words"),
        ("The cats like the [MASK].", "A [MASK].", "6 words in one text and 3 words .* the same number of words"),
        ("He put [MASK] into the box.", "He put it into [MASK] box.", r"no mask in the same place. Type \[MASK\]"),
    ],
)
def test_texts_without_the_same_words_are_refused(mine: str, other: str, message: str, engine: Engine) -> None:
    with pytest.raises(InvalidInput, match=message):
        engine.patch(MODEL, mine, other)


def test_pairs_have_equally_many_words_in_each_text(engine: Engine) -> None:
    pair, others = ("The cat sat down.", "It slept."), ("The cat sat.", "It slept again.")
    assert len(engine.encode(MODEL, *pair)) == len(engine.encode(MODEL, *others))
    change = Change(states=(2,))
    with pytest.raises(InvalidInput, match="5 words and 3 words in one text and 4 words and 4 words in the other"):
        engine.intervene(
            MODEL, pair[0], [change], text_pair=pair[1], aim=TargetAnswer("next sentence"), value="other", other=others
        )


def test_the_other_text_is_masked_where_this_one_is(engine: Engine) -> None:
    """At the same word, which another number of tokens before it shifts; and of several masks the same one is read."""
    mine, other = "The clavichord in the garden is old.", "The piano in the garden is old."
    here, there = (engine.encode(MODEL, text).tokens.index("garden") for text in (mine, other))
    assert here == there + 3
    effects = engine.intervene(MODEL, mine, [Change(states=(2,))], masked=[here], value="other", other=other)
    (expected,) = engine.fill_mask(MODEL, other, 1, masked={there}, targets=[effects.answer.id])
    assert read_of(effects).log_probability == pytest.approx(expected.targets[0].log_probability, abs=1e-4)
    with pytest.raises(InvalidInput, match="no mask in the same place"):
        engine.intervene(MODEL, mine, [Change(states=(2,))], masked=[2], value="other", other=other)

    mine, other = "The [MASK] sat on the [MASK].", "A [MASK] sat on a [MASK]."
    aim = TargetAnswer(position=6, answer="table")
    effects = engine.intervene(MODEL, mine, [Change(states=(2,))], aim=aim, value="other", other=other)
    expected = engine.fill_mask(MODEL, other, 1, targets=["table"])[1]
    assert read_of(effects).log_probability == pytest.approx(expected.targets[0].log_probability, abs=1e-4)


def test_what_comes_next_is_read_from_the_last_token_of_both(engine: Engine, checkpoint: Checkpoint) -> None:
    """Also where the last words have other numbers of tokens."""
    model = str(checkpoint("gpt2"))
    mine, other = "The cat saw the dog", "The cat saw the caterpillars"
    assert len(engine.encode(model, mine)) < len(engine.encode(model, other))
    last = engine.info(model).n_layers
    change = Change(states=(last,), positions=(len(engine.encode(model, mine)) - 1,))
    effects = engine.intervene(model, mine, [change], aim=TargetAnswer("next token"), value="other", other=other)
    assert effects.readings[0].log_probability == pytest.approx(read_of(effects).log_probability, abs=1e-5)


def mask_of(engine: Engine, text: str) -> int:
    return engine.encode(MODEL, text).tokens.index("[MASK]")


def read_of(effects: Effects) -> Reading:
    """What the other run answers."""
    assert effects.other is not None
    return effects.other


MEANS = {
    "bert": ("embedded/bert", "encoder.layer.{}.attention.output.dense", "encoder.layer.{}.output.dense"),
    "modernbert": ("embedded/modernbert", "layers.{}.attn.Wo", "layers.{}.mlp.Wo"),
    "gpt2": ("gpt2", "h.{}.attn.c_proj", "h.{}.mlp.c_proj"),
    "roberta": ("roberta", "encoder.layer.{}.attention.output.dense", "encoder.layer.{}.output.dense"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANS)
def test_means_are_those_of_each_kind_of_token(
    name: str, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hooks in plain transformers, sentence by sentence: special tokens, masks, full stops, a first token that no
    special one precedes, and words; what the sentences do not hold, such as a comma, counts as words. A separator is
    one in either text of a pair.
    """
    monkeypatch.setattr(means, "_SENTENCES", 30)
    model, attention, feed_forward = MEANS[name]
    folder = sources.find(model if "/" in model else str(checkpoint(model))).folder
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder).eval()
    layer = network.config.num_hidden_layers - 1
    noted: dict[str, list[torch.Tensor]] = {"heads": [], "attention": [], "feed_forward": []}
    wo, out = network.get_submodule(attention.format(layer)), network.get_submodule(feed_forward.format(layer))
    wo.register_forward_hook(lambda *call: noted["heads"].append(call[1][0][0]))
    wo.register_forward_hook(lambda *call: noted["attention"].append(call[2][0]))
    out.register_forward_hook(lambda *call: noted["feed_forward"].append(call[2][0]))
    kinds: list[str] = []
    for text in (pair.first for pair in heldout.written_pairs()[::10]):  # one of each subject
        read = tokenizer(text, return_offsets_mapping=True)
        start = text.index(longest_word(text))
        end = start + len(longest_word(text))
        ids = [
            tokenizer.mask_token_id if tokenizer.mask_token and start <= b and a < end and b else token
            for token, (a, b) in zip(read["input_ids"], read["offset_mapping"], strict=True)
        ]
        with torch.inference_mode():
            network(torch.tensor([ids]))
        kinds += kinds_of(tokenizer, ids)
    loaded = loading.load(sources.find(str(folder) if "/" not in model else model), torch.device("cpu"))
    causal = tokenizer.mask_token is None
    encoding = loaded.encode("Cats, dogs.") if causal else loaded.encode(f"Cats, dogs {tokenizer.mask_token}.", "Owls!")
    of_asked = means.means_for(loaded, encoding, with_blocks=True)
    for part, vectors in noted.items():
        values = torch.cat(vectors)
        expected = [
            values[[other_kind == kind for other_kind in kinds]] for kind in kinds_of(tokenizer, list(encoding.ids))
        ]
        words = values[[other_kind == "word" for other_kind in kinds]].mean(dim=0)
        rows = torch.stack([of_kind.mean(dim=0) if len(of_kind) >= 20 else words for of_kind in expected])
        assert torch.allclose(of_asked[part, layer].flatten(2)[0], rows, atol=1e-4)


def longest_word(text: str) -> str:
    return max(re.findall(r"[\w'’]+", text), key=len)


def kinds_of(tokenizer: Any, ids: list[int]) -> list[str]:
    """Each token's kind: its own name, or "first" or "word"."""
    listed = {*tokenizer.all_special_tokens, "."} - {tokenizer.unk_token}
    names = tokenizer.convert_ids_to_tokens(ids)
    return [name if name in listed else "word" if place else "first" for place, name in enumerate(names)]


def test_means_are_over_all_subjects_alike() -> None:
    subjects = Counter(pair.subject for pair in heldout.spread_pairs(means._SENTENCES))
    assert subjects.keys() == {pair.subject for pair in heldout.written_pairs()}
    assert set(subjects.values()) == {3, 4}


@pytest.mark.slow
def test_a_mean_is_no_more_than_twice_as_disruptive_as_nothing(engine: Engine) -> None:
    """What BERT's first feed-forward blocks add at [CLS] is thirty times as long as what they add at words: a mean over
    both would be worse than nothing, 8 nats instead of 0.4.
    """
    texts = [pair.first for pair in heldout.written_pairs()[1::99]]  # the means are over others
    texts = [text.replace(longest_word(text), "[MASK]", 1) for text in texts]
    which: tuple[Literal["feed_forward", "attention"], ...] = ("feed_forward", "attention")
    blocks = [Change(**{name: (layer,)}) for name in which for layer in range(engine.info(MODEL).n_layers)]

    def disruption(value: Value) -> DoubleArray:
        every = [engine.intervene(MODEL, text, blocks, value=value).readings for text in texts]
        return np.mean([[reading.divergence for reading in readings] for readings in every], axis=0)

    zero, mean = disruption("zero"), disruption("mean")
    assert (mean < 2 * zero).all()
    assert mean[:6].mean() < zero[:6].mean()  # of feed-forward blocks


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_every_family_whose_heads_can_be_told_apart_has_means(
    name: str, loaded: Callable[[str], LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for each token of a text, also where a family pads by itself; put in, they change the run."""
    monkeypatch.setattr(means, "_SENTENCES", 4)
    monkeypatch.setattr(means, "_FEWEST", 1)
    model = loaded(name)
    model.means.clear()
    encoding = model.encode(TEXT)
    mean_vectors, heads = means.means_for(model, encoding, with_blocks=False), model.info.n_heads
    model.means.clear()
    assert mean_vectors
    with torch.inference_mode():
        run = LayerwiseRun(model, [encoding])
        rows = {
            layer: Rows(keep=torch.zeros(1, len(encoding), heads), fill=inputs)
            for (_, layer), inputs in mean_vectors.items()
        }
        final = run.run(1, Editor(rows))
    assert {inputs.shape[:3] for inputs in mean_vectors.values()} == {(1, len(encoding), heads)}
    assert bool(final.isfinite().all())
    assert not torch.allclose(final, run.final, atol=1e-4)


def test_a_whole_block_is_what_is_added(engine: Engine) -> None:
    """Off, it adds nothing: what a hook that returns zeros gives."""
    model = loading.load(sources.find(MODEL), torch.device("cpu"))
    layer = model.encoder.encoder.layer[3]
    encoding = model.encode(SENTENCE)
    for change, module in (
        (Change(attention=(3,)), layer.attention.output.dense),
        (Change(feed_forward=(3,)), layer.output.dense),
    ):
        with module.register_forward_hook(lambda *inputs: torch.zeros_like(inputs[-1])), torch.inference_mode():
            logits = model.model(**model.inputs([encoding])).prediction_logits[0, 6]
        effects = engine.intervene(MODEL, SENTENCE, [change])
        assert effects.readings[0].logit == pytest.approx(float(logits[effects.answer.id]), abs=1e-4)


def test_hidden_words_are_masks(engine: Engine) -> None:
    effects = engine.intervene(MODEL, SENTENCE, [Change(hidden=(2,)), Change(hidden=(2,), heads=((0, 0),))])
    (by_mask,) = (
        prediction
        for prediction in engine.fill_mask(MODEL, SENTENCE, 1, masked=(2,), targets=[effects.answer.id])
        if prediction.position == 6
    )
    assert effects.readings[0].log_probability == pytest.approx(by_mask.targets[0].log_probability, abs=1e-5)
    both = engine.ablate(
        MODEL, "The [MASK] sat on the [MASK] because it was tired.", [(0, 0)], targets=[effects.answer.id]
    )
    assert not isinstance(both, SentenceScore)
    assert effects.readings[1].log_probability == pytest.approx(both[1].targets[0].log_probability, abs=1e-5)


def test_next_sentences_and_next_tokens_and_classes(engine: Engine, checkpoint: Checkpoint) -> None:
    a, b = "She opened the window.", "Cold air came into the room."
    plain = engine.next_sentence(MODEL, a, b)
    same = engine.ablate(MODEL, a, text_pair=b)
    assert same.p_next == pytest.approx(plain.p_next, abs=1e-6)
    aim = TargetAnswer("next sentence", answer=0)
    effects = engine.intervene(MODEL, a, [Change(heads=((5, 3),))], text_pair=b, aim=aim)
    off = engine.ablate(MODEL, a, [(5, 3)], text_pair=b)
    assert effects.readings[0].log_probability == pytest.approx(np.log(off.p_next), abs=1e-5)
    assert effects.answer.token == "is next"
    causal = str(checkpoint("gpt2"))
    (behind,) = engine.ablate(causal, "The cat")  # type: ignore[misc]
    assert isinstance(behind, MaskPrediction)
    assert behind == engine.next_tokens(causal, "The cat")


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.nsp])
def test_every_sentence_head_reads_what_it_reads_by_itself(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    plain = engine.next_sentence(model, "The cat sat.", "It slept.")
    same = engine.ablate(model, "The cat sat.", text_pair="It slept.")
    assert same.logits == pytest.approx(plain.logits, abs=1e-5)


@pytest.mark.parametrize(
    "name", ["bert", "distilbert", "roberta", "gpt2", "electra_discriminator", "xlnet", "modernbert"]
)
def test_every_classifier_reads_what_it_reads_by_itself(
    name: str, engine: Engine, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    """A head for classes, drawn at random and saved: the network's own output and the one read behind a run."""
    network, model = classifier(checkpoint(name), tmp_path), str(tmp_path)
    effects = engine.intervene(model, TEXT, [Change()], aim=TargetAnswer("class", answer="b", foil="c"), top_k=3)
    encoding = engine.encode(model, TEXT)
    types = {"token_type_ids": torch.tensor([encoding.type_ids])} if FAMILIES[name].type_ids else {}
    with torch.inference_mode():
        logits = network(input_ids=torch.tensor([encoding.ids]), **types).logits[0]
    for reading in (effects.untouched, effects.readings[0]):
        assert (reading.logit, reading.foil_logit) == pytest.approx(tuple(logits[1:].tolist()), abs=1e-4)
    assert {token.token for token in effects.untouched.best} == {"a", "b", "c"}


def test_pieces_of_a_stream_are_the_whole(engine: Engine) -> None:
    changes = tuple(Change(heads=((layer, 0),)) for layer in (0, 0, 4, 2))
    question = Intervene("embedded/tinybert", SENTENCE, changes=changes[:2], top_k=2)
    pieces = list(engine.stream(question))
    assert sum(len(piece.readings) for piece in pieces) == 2
    full = engine.ask(question)
    assert full.readings == tuple(reading for piece in pieces for reading in piece.readings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Change(heads=((6, 0),)), "no layer 6"),
        (Change(heads=((0, 12),)), "no head 12"),
        (Change(attention=(-1,)), "no layer -1"),
        (Change(states=(1,)), "another text"),
        (Change(edges=(Edge(99, 0),)), "no token 99"),
        (Change(edges=(Edge(0, 0, 9),)), "no layer 9"),
        (Change(hidden=(50,)), "no token 50"),
        (Change(positions=(50,)), "no token 50"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_there_is_refused(change: Change, message: str, engine: Engine) -> None:
    with pytest.raises(InvalidInput, match=message):
        engine.intervene(MODEL, SENTENCE, [change])


def test_what_a_family_cannot_be_asked_is_said(engine: Engine, checkpoint: Checkpoint, bilstm: str) -> None:
    with pytest.raises(NotSupported, match="no attention"):
        engine.ablate(bilstm, "The [MASK] sat.", [(0, 0)])
    with pytest.raises(NotSupported, match="whole blocks"):
        engine.ablate(str(checkpoint("squeezebert")), "The [MASK] sat.", attention=[0])
    with pytest.raises(NotSupported, match="one by one"):
        engine.patch(str(checkpoint("squeezebert")), "The [MASK] sat.", "A [MASK] sat.")
    with pytest.raises(InvalidInput, match="two different answers"):
        engine.intervene(MODEL, SENTENCE, [], aim=TargetAnswer(answer="table", foil="table"))
    with pytest.raises(InvalidInput, match="no mask at position 2"):
        engine.intervene(MODEL, SENTENCE, [], aim=TargetAnswer(position=2))
