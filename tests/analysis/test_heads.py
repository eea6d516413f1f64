"""Which head to look at: every rule on an attention matrix made for it, and labels by chance."""

from dataclasses import fields

import builders
import numpy as np
import pytest
from head_runs import BY_ALPHABET, cross_run, make_encoding, random_maps

from analysis import focus
from analysis.head_measures import SHARES, Measures
from analysis.heads import FALSE_ALARMS, MIXED, RULES, head_table
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray


def test_runs_of_two_models_or_none_are_refused() -> None:
    encoding = make_encoding("a b")
    maps = random_maps(0, 2, 4)
    with pytest.raises(InvalidInput, match="two models, test/model and other"):
        head_table([builders.run(encoding, maps), builders.run(encoding, maps, model=builders.info(id="other"))])
    with pytest.raises(InvalidInput, match="no words to measure"):
        head_table([])
    with pytest.raises(InvalidInput, match="no words to measure"):
        head_table([builders.run(make_encoding(""), random_maps(0, 2, 2))])
    cross = cross_run("a b", "a b", np.full((1, 3, 4), 0.25))
    alone = builders.run(make_encoding("a b"), np.full((1, 4, 4), 0.25))
    with pytest.raises(InvalidInput, match="two parts, cross and encoder"):
        head_table([cross, alone])


# --- Rules: one constructed head each, every row 97 % as the rule says and 3 % even.
TEXT = make_encoding("the cat saw the old dog today", "a bird ate a zebra")
N = len(TEXT)
SPECIAL = [i for i in range(N) if TEXT.special[i]]


def _elsewhere(i: int) -> list[int]:
    """Some words well away from token i: no rule is about these."""
    return [j for j in range(N) if not TEXT.special[j] and abs(i - j) > 2 and j != TEXT.tokens.index("zebra")][::3]


def _keys(rule: str, i: int) -> list[int]:
    """The keys a perfect head of a rule looks at from token i."""
    words = [j for j in range(N) if not TEXT.special[j]]
    keys = {
        "previous token": [max(i - 1, 0)],
        "next token": [min(i + 1, N - 1)],
        "delimiter": SPECIAL,
        "self": [i],
        "broad": list(range(N)),
        "block-diagonal by sentence": [j for j in words if TEXT.segment_ids[j] == TEXT.segment_ids[i]],
        "repeated token": [j for j in words if j != i and TEXT.tokens[j] == TEXT.tokens[i]],
        "rare token": [j for j in [TEXT.tokens.index("zebra")] if j != i],
    }
    return keys[rule] or _elsewhere(i)


def constructed(rule: str) -> FloatArray:
    maps = np.full((N, N), 0.03 / N)
    for i in range(N):
        keys = _keys(rule, i)
        maps[i, keys] += 0.97 / len(keys)
    return maps


def test_each_rule_fires_on_its_head_and_on_no_other() -> None:
    maps = np.stack([constructed(rule.name) for rule in RULES])
    table = head_table([builders.run(TEXT, maps)], BY_ALPHABET)
    thresholds = np.array([[rule.threshold] for rule in RULES])
    fires = table.rule_scores >= thresholds
    np.testing.assert_array_equal(fires, np.eye(len(RULES), dtype=bool))
    assert table.labels == tuple(rule.name for rule in RULES)
    np.testing.assert_array_equal(table.scores, table.rule_scores.diagonal())
    assert (table.scores > 0.9).all()
    assert (table.scores <= 1 + 1e-6).all()
    # Ids follow frequency too loosely: without frequencies there is no share of the rarest token, and no label.
    table = head_table([builders.run(TEXT, maps)])
    assert np.isnan(table.measures.rare).all()
    assert "rare token" not in table.labels
    assert not {"rare", "rare_lift"} & set(table.to_frame().columns)
    assert {"rare", "rare_lift"} <= set(head_table([builders.run(TEXT, maps)], BY_ALPHABET).to_frame().columns)
    # A single separator is a delimiter too.
    maps = np.full((1, N, N), 0.3 / N)
    maps[0, :, SPECIAL[1]] += 0.7
    assert head_table([builders.run(TEXT, maps)]).labels == ("delimiter",)
    # A head no rule is about is mixed.
    maps = np.zeros((1, N, N))
    for i in range(N):
        maps[0, i, _elsewhere(i)] = 1 / len(_elsewhere(i))
    table = head_table([builders.run(TEXT, 0.97 * maps + 0.03 / N)])
    assert table.labels == (MIXED,)
    assert np.isnan(table.scores).all()


def test_a_rule_that_says_more_than_half_holds_for_no_less() -> None:
    messages = [rule for rule in RULES if "more than half" in rule.explanation]
    assert len(messages) == 5
    for even in (0.001, 0.1, 0.5, 0.9):
        half, uniform = (Measures(**{of.name: np.array([value]) for of in fields(Measures)}) for value in (0.5, even))
        assert all(rule.score(half, uniform) < rule.threshold for rule in messages)
    # What shuffling gives, counted: at most the p-value that is told, in every rule about a share.
    encoding, rng = make_encoding("a b a c d"), np.random.default_rng(0)
    table = head_table([builders.run(encoding, without_preference("one key a query", rng, len(encoding), 20_000))])
    for rule, p_values in zip(RULES, table.p_values, strict=True):
        if rule.tested != "spread" and not np.isnan(p_values).all():
            for level in (0.2, 0.05, 0.01):
                assert (p_values <= level).mean() <= level, rule.name


@pytest.mark.parametrize("text", ["a b", "a b c", "a b a c d e f g a"])
def test_a_short_text_makes_no_label_out_of_an_even_head(text: str) -> None:
    """In "[CLS] a b [SEP]" half of even attention goes to special tokens; that is no preference."""
    encoding = make_encoding(text)
    table = head_table([builders.run(encoding, np.full((1, len(encoding), len(encoding)), 1 / len(encoding)))])
    assert table.labels == ("broad",)
    assert table.scores == pytest.approx([1])
    above = [score for rule, score in zip(RULES, table.rule_scores[:, 0], strict=True) if rule.name != "broad"]
    assert np.nan_to_num(above) == pytest.approx(0, abs=1e-6)


# --- Labels by chance.
LENGTHS = {
    "3 tokens": ("a", None),
    "4 tokens": ("a b", None),
    "Hi there.": ("hi there .", None),
    "6 tokens": ("a b c d", None),
    "a word again": ("a b a c", None),
    "two short sentences": ("a b", "c d"),
    "9 tokens": ("the cat saw the old dog .", None),
    "two sentences": ("the cat saw the old dog today", "a bird ate a zebra"),
    "34 tokens": ("a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f", None),
}


def softmax(scores: FloatArray) -> FloatArray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def without_preference(kind: str, rng: np.random.Generator, n: int, heads: int = 1000) -> FloatArray:
    """Attention (heads, n, n) that knows nothing of the text."""
    if kind == "weights drawn evenly":
        return rng.dirichlet(np.ones(n), (heads, n))
    if kind == "random queries and keys":  # of one head each, 32 dimensions
        query, key = rng.normal(size=(2, heads, n, 32))
        return softmax(query @ key.transpose(0, 2, 1) / np.sqrt(32))
    if kind == "one key a query":
        return 0.99 * np.eye(n)[rng.integers(n, size=(heads, n))] + 0.01 / n
    return softmax(float(kind.removeprefix("scores of deviation ")) * rng.normal(size=(heads, n, n)))


@pytest.mark.parametrize("length", LENGTHS)
def test_heads_without_preference_get_a_label_in_less_than_one_of_twenty(length: str) -> None:
    encoding = make_encoding(*LENGTHS[length])
    scores = [f"scores of deviation {deviation}" for deviation in (1, 2, 4)]
    for kind in (*scores, "weights drawn evenly", "random queries and keys", "one key a query"):
        maps = without_preference(kind, np.random.default_rng(0), len(encoding))
        table = head_table([builders.run(encoding, maps)], BY_ALPHABET)
        assert np.mean([label != MIXED for label in table.labels]) < FALSE_ALARMS, kind


@pytest.mark.parametrize("length", LENGTHS)
def test_a_head_whose_weights_are_shuffled_loses_its_label(length: str) -> None:
    """Every row looks at one token or at two, which ones is shuffled: 1,000 heads each. An even spread stays one."""
    encoding, rng = make_encoding(*LENGTHS[length]), np.random.default_rng(0)
    n = len(encoding)
    to_one = np.full((1000, n, n), 0.03 / (n - 1))
    to_one[..., 0] = 0.97
    to_two = np.full((1000, n, n), 0.04 / max(n - 2, 1))
    to_two[..., :2] = 0.48
    for maps in (to_one, to_two):
        table = head_table([builders.run(encoding, rng.permuted(maps, axis=-1))], BY_ALPHABET)
        assert np.mean([label not in (MIXED, "broad") for label in table.labels]) < FALSE_ALARMS


def test_several_texts_find_what_one_short_text_cannot() -> None:
    encoding = make_encoding("a b c")
    back = np.eye(5, k=-1)[None]
    back[0, 0, 0] = 1
    run = builders.run(encoding, np.concatenate([0.9 * back + 0.02, np.full((1, 5, 5), 0.2)]))
    assert head_table([run]).labels[0] == MIXED
    assert head_table([run] * 3).labels[0] == "previous token"
    # A head that looks at the same word in the other text is found.
    maps = np.zeros((2, 6, 7))
    maps[1] = 1 / 7
    for query, key in enumerate((0, 3, 1, 2, 5, 4)):  # [CLS] c a b e d at [CLS] a b c d e [SEP]
        maps[0, query, key] = 1
    assert head_table([cross_run("a b c d e", "c a b e d", maps)]).labels == ("repeated token", "broad")
    # The table as a data frame.
    table = head_table([builders.run(TEXT, random_maps(1, 4, N), random_maps(2, 4, N))])
    frame = table.to_frame()
    assert list(frame.columns[:4]) == ["layer", "head", "label", "score"]
    assert list(zip(frame["layer"], frame["head"], strict=True)) == [(i, j) for i in (0, 1) for j in range(4)]
    assert tuple(frame["label"]) == table.labels
    np.testing.assert_array_equal(frame["separator"], table.measures.separator)
    np.testing.assert_array_equal(frame["separator_lift"], table.lift("separator"))
    assert {f"{share}_lift" for share in SHARES if share not in ("rare", "rare_listed")} <= set(frame.columns)


def run(pair: bool = True) -> AttentionRun:
    """[CLS] a [SEP] b c [SEP]: head 0 looks at all alike; head 1 of layer 1 sends everything to b."""
    alone = {} if pair else {"text_pair": None, "segment_ids": (0,) * 6}
    even = np.full((6, 6), 1 / 6, dtype=np.float32)
    to_b = np.zeros((6, 6), dtype=np.float32)
    to_b[:, 3] = 1
    encoding = builders.encoding(["a"], ["b", "c"], **alone)
    return builders.run(encoding, np.stack([even, even]), np.stack([even, to_b]))


def test_from_token_is_its_row_in_every_head() -> None:
    weights = focus.attention_from_token(run(), 1)
    assert weights.shape == (2, 2, 6)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-6)
    np.testing.assert_array_equal(weights[1, 1], [0, 0, 0, 1, 0, 0])
    with pytest.raises(InvalidInput, match="no token 6"):
        focus.attention_from_token(run(), 6)
    looks = focus.strongest(focus.attention_from_token(run(), 1), run(), 1, n=2)
    assert looks[0] == focus.Look(1, 1, 3, 1.0)
    assert looks[1].weight == pytest.approx(1 / 6)
    assert len(focus.strongest(focus.attention_from_token(run(), 1), run(), 1, n=99)) == 2 * 4
    near = np.zeros((6, 6), dtype=np.float32)
    for query in range(6):
        near[query, max(0, query - 2)] = 1
    maps = np.stack([np.eye(6, dtype=np.float32), near]), np.full((2, 6, 6), 1 / 6, dtype=np.float32)
    assert focus.reach(builders.run(builders.encoding(["a"], ["b", "c"]), *maps)) == (2, 5)
    shares = focus.between_sentences(run())
    np.testing.assert_allclose(shares[0], [[2 / 6, 2 / 6], [2 / 6, 1]], atol=1e-6)
    np.testing.assert_allclose(shares[1], [[1 / 6, 1 / 6], [1 / 6, 0]], atol=1e-6)
    with pytest.raises(InvalidInput, match="needs two"):
        focus.between_sentences(run(pair=False))


def cross() -> AttentionRun:
    """Two tokens look at the six of ``run``."""
    complete = run()
    layers = (layer.weights(slice(None))[:, :2] for layer in complete.layers)
    written = builders.encoding(["x"], front="<pad>", end=None)
    return builders.run(written, *layers, stack="cross", source=complete.encoding)


def test_in_cross_attention_a_token_looks_at_another_text() -> None:
    weights = focus.attention_from_token(cross(), 1)
    assert weights.shape == (2, 2, 6)
    looks = focus.strongest(weights, cross(), 1, n=99)
    assert looks[0] == focus.Look(1, 1, 3, 1.0)
    # The three words there in four heads; the key at the query's own place counts like the others.
    assert len(looks) == 3 * 4
    assert {look.key for look in looks} == {1, 3, 4}
    with pytest.raises(InvalidInput, match="no token 2"):
        focus.attention_from_token(cross(), 2)
