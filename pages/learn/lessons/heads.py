"""Lesson 4: many heads side by side, put together and projected; and what the heads do in this sentence."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.heads import MIXED, HeadTable, head_table
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray
from pages.learn import options, walk
from pages.learn.case import Case
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Sketch, Source, Step
from ui import figures
from viz.bars import bars
from viz.layer_attention import layer_attention
from viz.strips import Strip, strips
from web.engine import engine

_MOST_HEADS: Final = 16  # that one draws over

_VASWANI = Source("Vaswani et al.", 2017, "Attention Is All You Need")
_CLARK = Source("Clark et al.", 2019, "What Does BERT Look At?")
_MICHEL = Source("Michel et al.", 2019, "Are Sixteen Heads Really Better than One?")


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


def _added(case: Case) -> tuple[FloatArray, FloatArray]:
    """What every head of the layer adds for the followed token, (heads, width), and all of it with the bias, (width,).

    Raises NotSupported where the layer is not known part by part.
    """
    found = case.anatomy
    if found.weights is None:
        raise NotSupported(found.why_not or f"The layers of {case.model} are not known part by part here.")
    projection = engine().output_projections(case.model)[case.layer]
    if projection is None:
        raise NotSupported(f"The output projection of {case.model} is not known here. Choose another model.")
    size = projection.shape[1]
    context = found.stage("context").values[case.followed].reshape(-1, size)  # (heads, d)
    added = np.einsum("hd,hdw->hw", context.astype(np.float64), projection.astype(np.float64))
    return added.astype(np.float32), found.stage("attention").values[case.followed]


def _lengths(case: Case) -> npt.NDArray[np.float64]:
    added, _ = _added(case)
    return np.linalg.norm(added.astype(np.float64), axis=1)


# ---- split ------------------------------------------------------------------------------------------------------


def _split_text(case: Case) -> str:
    return (
        "One head can make one mixture for a token. A layer has several [[heads|head]], each with matrices of its own, "
        f"which work side by side. This model’s layers have {case.info.n_heads} heads and vectors of "
        f"{case.info.width} numbers."
    )


def _split_ask(case: Case) -> Choice:
    heads, width = case.info.n_heads, case.info.width
    found = case.anatomy
    if found.weights is None:
        raise NotSupported(found.why_not or f"The heads of {case.model} are not known part by part here.")
    size = found.weights.query.shape[1]
    return Choice(
        "How many numbers has the query of one head?",
        options.numbers(
            (
                size,
                f"{heads} heads of {size} numbers make {heads * size}: together they are as wide as one large head.",
            ),
            (width, "Then all heads together would take as many times the work. The width is divided among them."),
            (heads, "That is the number of heads. Each has a query with several numbers."),
            (
                heads * width,
                "That would be many more than the vector itself has. The width is divided, not multiplied.",
            ),
        ),
    )


def _split_reveal(case: Case) -> None:
    found = case.anatomy
    size = _size(case)
    at = case.followed
    rows = [
        Strip(name, found.stage(name).values[at], ends=range(size, len(found.stage(name).values[at]), size))
        for name in ("query", "key", "value")
        if found.has(name)
    ]
    figures.show(strips(rows, dark=case.dark), "learn strips", "heads-split")


def _size(case: Case) -> int:
    found = case.anatomy
    if found.weights is None:
        raise NotSupported(found.why_not or f"The heads of {case.model} are not known part by part here.")
    return found.weights.query.shape[1]


def _split_why(case: Case) -> str:
    size, heads = _size(case), case.info.n_heads
    return (
        f"Every head compares tokens in {size} numbers of its own, so that {heads} heads can give {heads} different "
        "sets of shares at about the cost of one wide head (Vaswani et al. 2017); a line parts the heads in the "
        "picture."
    )


def _split_numbers(case: Case) -> pd.DataFrame:
    found, size = case.anatomy, _size(case)
    query = found.stage("query").values[case.followed]
    return pd.DataFrame(
        {
            "head": np.arange(len(query)) // size + 1,
            "dimension": np.arange(len(query)) % size + 1,
            "query": query,
        }
    )


# ---- each its own shares ----------------------------------------------------------------------------------------


def _targets(case: Case) -> list[int]:
    """For every head of the layer, the place to which the followed token gives most."""
    found: list[int] = case.run.layer(case.layer)[:, case.followed].argmax(axis=1).tolist()
    return found


def _own_text(case: Case) -> str:
    return (
        f"Every head of layer {case.layer + 1} divides the 100% of {_token(case)} in its own way. Do they agree? If "
        "all gave most to the same token, one head would do."
    )


def _own_ask(case: Case) -> Choice:
    targets = _targets(case)
    many = len(set(targets))
    most, count = Counter(targets).most_common(1)[0]
    told = (
        f"{count} of {len(targets)} heads give most to {quoted(case.encoding.tokens[most])}; there are {many} "
        f"different {'favourite' if many == 1 else 'favourites'}."
    )
    return Choice(
        f"To how many different tokens do the {len(targets)} heads of this layer give most?",
        options.steps(
            many,
            ((2, "To one: they agree"), (4, "To two or three"), (np.inf, "To four or more")),
            told,
            f"Count the rows with their darkest cell in different columns. {told}",
        ),
    )


def _own_figure(case: Case) -> None:
    walk.draw(case, "context")


def _own_reveal(case: Case) -> None:
    weights = case.run.layer(case.layer)[:, case.followed]
    figures.show(
        layer_attention(weights, case.encoding.tokens, rows="head", dark=case.dark), "learn heads", "heads-of-a-token"
    )


def _own_why(case: Case) -> str:
    weights = case.run.layer(case.layer)[:, case.followed].astype(np.float64)
    sharpest, flattest = int(weights.max(axis=1).argmax()), int(weights.max(axis=1).argmin())
    if sharpest == flattest:
        return "There is one head here, or all are alike, so there is nothing to compare."
    return (
        f"Nothing in training asks heads to agree: for {_token(case)}, head {sharpest + 1} puts "
        f"{weights[sharpest].max():.0%} on one token, and head {flattest + 1} no more than "
        f"{weights[flattest].max():.0%} on any."
    )


def _own_numbers(case: Case) -> pd.DataFrame:
    weights = case.run.layer(case.layer)[:, case.followed]
    columns = {"place": np.arange(1, weights.shape[1] + 1), "token": case.encoding.tokens}
    return pd.DataFrame(columns | {f"head {head + 1}": row for head, row in enumerate(weights)})


# ---- put together and projected ---------------------------------------------------------------------------------


def _joined_text(case: Case) -> str:
    return (
        f"The heads’ [[contexts|context]] are put side by side into one vector, and a last matrix W_O mixes them: "
        "that is what the layer’s attention adds. Its rows belong to one head each, so one can tell how much each head "
        f"adds for {_token(case)}."
    )


def _joined_ask(case: Case) -> Sketch:
    lengths = _lengths(case)
    shown = sorted(np.argsort(-lengths, kind="stable")[:_MOST_HEADS].tolist())
    truth = [float(lengths[head]) for head in shown]
    names = [f"head {head + 1}" for head in shown]

    def reply(drawn: object) -> str:
        heights = list(drawn)  # type: ignore[call-overload]
        best = names[int(np.argmax(truth))]
        guessed = names[int(np.argmax(heights))]
        said = "You found it" if guessed == best else f"You drew {guessed} longest"
        return f"{said}: {best} adds the longest vector, {max(truth):.2f}; the shortest is {min(truth):.2f}."

    return Sketch(
        f"Draw how long a vector each head of layer {case.layer + 1} adds for {_token(case)}.",
        tuple(names),
        tuple(truth),
        reply,
        top=max(truth) * 1.25 or 1.0,
    )


def _joined_figure(case: Case) -> None:
    found, size = case.anatomy, _size(case)
    context = found.stage("context").values[case.followed]
    rows = [Strip("contexts side by side", context, ends=range(size, len(context), size))]
    figures.show(strips(rows, dark=case.dark), "learn strips", "contexts")


def _joined_reveal(case: Case) -> None:
    lengths = _lengths(case)
    figures.show(
        bars(
            [f"head {head + 1}" for head in range(len(lengths))],
            [("length of what it adds", lengths.tolist())],
            marked=int(lengths.argmax()),
            dark=case.dark,
        ),
        "learn bars",
        "heads-added",
    )


def _joined_why(case: Case) -> str:
    added, whole = _added(case)
    together = float(np.linalg.norm(added.astype(np.float64).sum(axis=0)))
    apart = float(_lengths(case).sum())
    return (
        f"What the heads add, of {apart:.2f} in length one by one, comes to {together:.2f} together, since heads also "
        f"pull in different directions; with the bias of W_O it is the {np.linalg.norm(whole):.2f} that attention "
        "gives on."
    )


def _joined_numbers(case: Case) -> pd.DataFrame:
    lengths = _lengths(case)
    return pd.DataFrame({"head": np.arange(1, len(lengths) + 1), "length of what it adds": lengths})


# ---- what the heads do ------------------------------------------------------------------------------------------


def _table(case: Case) -> HeadTable:
    return head_table([case.run])


def _kinds_text(_case: Case) -> str:
    return (
        "People have named [[kinds of heads|kind of head]]: one that gives most to the token before, one that gives "
        "most to [SEP] or [CLS], one that spreads evenly. Here a rule with a threshold does the naming. What no rule "
        "fits is called “mixed”. A name says where attention goes, not what the head is for."
    )


def _kinds_ask(case: Case) -> Choice:
    labels = _table(case).labels
    n, mixed = len(labels), sum(label == MIXED for label in labels)
    told = f"{mixed} of {n} heads are mixed on this sentence."
    return Choice(
        f"How many of this model’s {n} heads fit none of the rules on your sentence?",
        options.steps(
            mixed / n,
            (
                (0.25, "Fewer than a quarter"),
                (0.5, "A quarter to half"),
                (0.75, "Half to three quarters"),
                (np.inf, "Three quarters or more"),
            ),
            told,
            f"{told} On a short sentence rules are hard to pass: chance must be ruled out, too.",
        ),
    )


def _kinds_reveal(case: Case) -> None:
    counts = Counter(_table(case).labels).most_common()
    figures.show(
        bars(
            [label for label, _ in counts],
            [("heads", [float(count) for _, count in counts])],
            written=".0f",
            dark=case.dark,
        ),
        "learn bars",
        "kinds",
    )


def _kinds_why(case: Case) -> str:
    named = [label for label in _table(case).labels if label != MIXED]
    if not named:
        most = "no head passes a rule on this sentence"
    else:
        label, count = Counter(named).most_common(1)[0]
        most = f"the most frequent name is “{label}”, with {count} of {len(named)} named heads"
    return (
        f"Training sets the heads, nobody assigns them a task: here {most}; in BERT, many heads can be switched off at "
        "test time with little loss (Michel et al. 2019), so a name is no proof of use."
    )


def _kinds_numbers(case: Case) -> pd.DataFrame:
    table = _table(case)
    return pd.DataFrame({"layer": table.layer + 1, "head": table.head + 1, "kind": table.labels, "score": table.scores})


def _kinds_figure(case: Case) -> None:
    if not case.info.n_heads:
        raise InvalidInput(f"{case.model} has no attention. Choose another model.")
    _own_reveal(case)


LESSON = Lesson(
    name="heads",
    title="Many heads",
    question="Why is one head not enough?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("The dog ran into the garden and barked at the cat.", ""),
    ),
    controls=("token", "layer"),
    pages=("attention",),
    steps=(
        Step(
            title="The width is divided",
            at="heads",
            text=_split_text,
            figure=lambda case: walk.draw(case, "heads"),
            ask=_split_ask,
            reveal=_split_reveal,
            why=_split_why,
            numbers=_split_numbers,
            sources=(_VASWANI,),
            wide=True,
        ),
        Step(
            title="Each divides its own way",
            at="heads",
            text=_own_text,
            figure=_own_figure,
            ask=_own_ask,
            reveal=_own_reveal,
            why=_own_why,
            numbers=_own_numbers,
            sources=(_CLARK,),
            wide=True,
        ),
        Step(
            title="Put together and mixed",
            at="heads",
            text=_joined_text,
            figure=_joined_figure,
            ask=_joined_ask,
            reveal=_joined_reveal,
            why=_joined_why,
            numbers=_joined_numbers,
            sources=(_VASWANI,),
        ),
        Step(
            title="What do they do here?",
            at="heads",
            text=_kinds_text,
            figure=_kinds_figure,
            ask=_kinds_ask,
            reveal=_kinds_reveal,
            why=_kinds_why,
            numbers=_kinds_numbers,
            sources=(_CLARK, _MICHEL),
        ),
    ),
)
