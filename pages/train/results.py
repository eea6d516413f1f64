"""View "Results": scores with their intervals, the confusion of labels, the most confident errors, and how
the score grows with the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from jobs.tuning import Candidate, Tuning
from pages.train import python_lines
from pages.train.running import outcome_of
from pages.train.scene import Scene
from training.finetuning.data import Kind, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.entities import types_of
from training.finetuning.folder import chosen_by
from training.finetuning.mistakes import CLOSE, mistakes, mistakes_by_type
from training.finetuning.results import Answered, Classified, Rated, Score, TaggedWords, Tuned
from training.finetuning.scores import MEASURES, confusion, evaluate, n_clusters, too_few_to_choose_by
from training.finetuning.seeds import describe_seeds
from ui import View, as_python, as_text, figures, join_names, save, start_button, token_line, watch
from viz import outcome
from viz.layout import clipped
from viz.matrix import confusion as confusion_figure
from viz.token_line import Line
from viz.training_curves import Point, by_examples
from web.background import desk
from web.engine import engine

_SHARES = (0.1, 0.25, 0.5, 1.0)
_MOST_MISTAKES = 12
_LONGEST_CELL = 200  # characters
_NO_ANSWER = "(no answer)"
_MARGIN = "margin of “no answer”"

_BASELINES: Mapping[Kind, str] = {
    "classification": "The majority baseline gives every item the most frequent label of the training split.",
    "tagging": "The trivial baseline predicts no entities.",
    "answering": "The trivial baseline always predicts “no answer”.",
}
_MARGIN_NOTE: Mapping[Kind, str] = {
    "answering": " The margin is the score of “no answer” minus that of the best span: below 0 the model answers "
    "with the span."
}


class LearningCurve(Tuning):
    """The same model on 10, 25, 50 and 100% of the data."""


def draw(scene: Scene) -> None:
    first = scene.outcomes[0]
    every = scene.outcomes
    scores = python_lines.of_outcomes("scores", "score", several=len(every) > 1)
    as_python.put(
        python_lines.tune_seeds(every, scene.user_data) + f"numbers = pd.DataFrame({scores})",
        lambda: pd.DataFrame([score for tuned in every for score in tuned.scores]),
    )
    numbers, picture = st.columns([3, 2], gap="large")
    with numbers:
        _scores(scene.outcomes)
    with picture:
        if first.data.kind == "classification":
            _confusion(first, "outcome" if len(every) == 1 else "outcomes[0]")
        elif first.data.kind == "tagging":
            _by_type(first)
    _mistakes(scene.outcomes)
    _curve(scene)


def _scores(every: Sequence[Tuned]) -> None:
    several = len(every) > 1
    together = evaluate(every[0].data, *(tuned.predictions for tuned in every)) if several else [None] * len(MEASURES)
    rows = [_row(score, every, over_seeds) for score, over_seeds in zip(every[0].scores, together, strict=False)]
    st.table(pd.DataFrame(rows).set_index("score"))
    abouts = " ".join(f"**{MEASURES[s.measure].title}**: {MEASURES[s.measure].about}" for s in every[0].scores)
    test, strongest = every[0].data.test, every[0].strongest_baseline
    n, groups = len(test), n_clusters(test)
    over = f"the {groups} groups they fall into, each from one template or scene" if groups < n else "them"
    sentences = [
        abouts,
        f"On the {n:,} items of the test split, with 95% intervals over {over}, left out in turn as wholes (jackknife, "
        "on the log-odds); at an end of the scale they are Wilson’s. They say how much other items of the same kind "
        "would change the score, not how much another training would: for that, train several seeds.",
    ]
    sentences += [_BASELINES.get(every[0].data.kind, "")]
    if strongest:
        sentences.append(
            f"The strongest baseline is {strongest}: the best on the development split of several that need no "
            "fine-tuning."
        )
    if several:
        epochs = join_names(f"{tuned.best.epoch:.3g}" for tuned in every)
        sentences.append(f"Each seed’s weights are those of its best epoch on the development split: {epochs}.")
        sentences.append(too_few_to_choose_by(every[0].data))
    else:
        sentences += [chosen_by(every[0]), describe_seeds(every[0].data, every[0].base, every[0].settings)]
    st.caption(" ".join(filter(None, sentences)))
    if several:
        st.caption(
            f"The first interval, of seed {every[0].settings.seed}, shows how much the score depends on the test "
            "items. The number after ± is the standard deviation over the seeds: how much it depends on chance in "
            "training. The interval of the mean covers both. The rest of this page is about seed "
            f"{every[0].settings.seed}."
        )
    if n < 30:
        st.caption("With so few items the intervals are wide: differences within them may be chance.")
    save.table("Scores", lambda: score_table(every), "scores")


def _row(score: Score, every: Sequence[Tuned], over_seeds: Score | None) -> dict[str, str]:
    written = MEASURES[score.measure].format
    row = {
        "score": MEASURES[score.measure].title,
        "value": written(score.value),
        "95% interval": f"{written(score.low)} to {written(score.high)}",
        "majority baseline": written(score.baseline),
    }
    if every[0].strongest_baseline:
        row["strongest baseline"] = written(score.strongest_baseline)
    if over_seeds is not None:
        values = [tuned.score(score.measure).value for tuned in every]
        row[f"mean of {len(every)} seeds"] = f"{written(over_seeds.value)} ± {written(float(np.std(values, ddof=1)))}"
        row["95% interval of the mean"] = f"{written(over_seeds.low)} to {written(over_seeds.high)}"
    return row


def score_table(every: Sequence[Tuned]) -> pd.DataFrame:
    """Every score of every seed, a row each."""
    parts = [
        tuned.to_frame().assign(model=tuned.base, data=tuned.data.title, seed=tuned.settings.seed) for tuned in every
    ]
    table = pd.concat(parts, ignore_index=True).rename(
        columns={
            "measure": "score",
            "baseline": "majority baseline",
            "strongest_baseline": "strongest baseline",
            "best_epoch": "best epoch",
        }
    )
    return table[["model", "data", "seed", *(name for name in table if name not in ("model", "data", "seed"))]]


def _confusion(tuned: Tuned, bound: str) -> None:
    """``bound`` is what the lines of Python above bound to the outcome."""
    labels = tuned.data.labels
    matrix = confusion(tuned.data.test, tuned.predictions, labels)
    figures.show(partial(confusion_figure, matrix, labels), "confusion", "confusion")
    as_python.put(
        f"numbers = confusion({bound}.data.test, {bound}.predictions, {bound}.data.labels)  # rows are the true labels",
        lambda: matrix,
        part="Which labels are taken for which",
    )
    save.table("Confusion", lambda: pd.DataFrame(matrix, labels, labels).rename_axis("true").reset_index(), "confusion")


def _by_type(tuned: Tuned) -> None:
    rows = pd.DataFrame(mistakes_by_type(tuned.data.test, tuned.predictions))
    if rows.empty:
        st.caption("No word of the test split is in an entity, and the model predicted none.")
        return
    shares = ["precision", "recall", "F1"]
    st.table(
        rows.assign(
            **{share: rows[share].map("{:.1%}".format) for share in shares}, type=rows["type"].map(as_text)
        ).set_index("type")
    )
    st.caption(
        "**Precision**: the share of predicted entities that are right. **Recall**: the share of true entities that "
        "were found. **F1** is their harmonic mean. The last column counts the true entities."
    )
    save.table("Types", lambda: rows, "types")


def _mistakes(every: Sequence[Tuned]) -> None:
    first = every[0]
    alike = first.data.kind == "similarity"
    st.subheader("Largest errors" if alike else "Most confident errors", anchor=False)
    wrong = mistakes(first.data.test, first.predictions)
    if not wrong:
        message = (
            f"Every predicted score is within {CLOSE:g} of the true one."
            if alike
            else "Every item of the test split is right."
        )
        st.success(message, icon=":material/check:")
    elif first.data.kind == "tagging":
        types = types_of(first.data.labels)

        def lines(*, dark: bool) -> list[Line]:
            made = []
            for place in wrong[:_MOST_MISTAKES]:
                item, predicted = first.data.test[place], first.predictions[place]
                assert isinstance(item, Tagged)
                assert isinstance(predicted, TaggedWords)
                made.append(
                    outcome.tag_line(
                        predicted.words, predicted.tags, predicted.probabilities, types, dark=dark, gold=item.tags
                    )
                )
            return made

        token_line.show(lines, "mistakes", "mistakes")
        st.caption(
            f"{len(wrong):,} of {len(first.data.test):,} sentences have a wrong tag. Words with one are outlined: "
            "below them the predicted tag, then the true one."
        )
    else:
        st.table(_mistake_table(prediction_table(first).iloc[wrong[:_MOST_MISTAKES]], first.data.kind))
        n = len(first.data.test)
        if alike:
            st.caption(f"{len(wrong):,} of {n:,} scores are more than {CLOSE:g} from the true one.")
        else:
            st.caption(f"{len(wrong):,} of {n:,} items are wrong.{_MARGIN_NOTE.get(first.data.kind, '')}")
    save.table("All test predictions", lambda: all_predictions(every), "predictions")


def _mistake_table(table: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """The table as the page has it, where a telephone needs room for all columns: passages are in the file."""
    if kind == "answering":
        table = table.rename(columns={"text": "question"})
    elif table["second text"].notna().any():
        table = table.assign(
            text=[" / ".join(filter(None, pair)) for pair in table[["text", "second text"]].to_numpy()]
        )
        table = table.rename(columns={"text": "text / second text"})
    table = table.drop(columns="second text")
    written: Mapping[str, Callable[[Any], str]] = {
        "probability": "{:.1%}".format,
        _MARGIN: lambda value: "–" if pd.isna(value) else f"{value:.2f}",
        **(dict.fromkeys(("true", "predicted"), "{:.2f}".format) if kind == "similarity" else {}),
    }
    cells = pd.DataFrame({name: table[name].map(written.get(str(name), _as_cell)) for name in table})
    return cells.set_index(cells.columns[0])


def _as_cell(text: Any) -> str:
    return as_text(clipped(text, _LONGEST_CELL))


def all_predictions(every: Sequence[Tuned]) -> pd.DataFrame:
    """``prediction_table`` of every seed, whole."""
    parts = [prediction_table(tuned, with_probabilities=True).assign(seed=tuned.settings.seed) for tuned in every]
    return pd.concat(parts, ignore_index=True)


def prediction_table(tuned: Tuned, *, with_probabilities: bool = False) -> pd.DataFrame:
    """The test split, an item a row: the text, what is true, what was predicted, and how sure the model was; ``whole``
    with the probability of each label, or of the tag of each word.
    """
    rows: list[dict[str, object]] = []
    for item, predicted in zip(tuned.data.test, tuned.predictions, strict=True):
        row: dict[str, object] = {"text": item.text, "second text": item.pair}
        match item:
            case Labelled():
                assert isinstance(predicted, Classified)
                row |= {"true": item.label, "predicted": predicted.label, "probability": max(predicted.probabilities)}
                if with_probabilities:
                    row |= {
                        f"probability of {label}": share
                        for label, share in zip(tuned.data.labels, predicted.probabilities, strict=True)
                    }
            case Tagged():
                assert isinstance(predicted, TaggedWords)
                row |= {"true": " ".join(item.tags), "predicted": " ".join(predicted.tags)}
                if with_probabilities:
                    row["probabilities"] = " ".join(f"{share:.6g}" for share in predicted.probabilities)
            case PassageQuestion():
                assert isinstance(predicted, Answered)
                answers = " | ".join(dict.fromkeys(text for _, text in item.answers))
                row |= {
                    "true": answers or _NO_ANSWER,
                    "predicted": predicted.text or _NO_ANSWER,
                    _MARGIN: predicted.margin if predicted.spans else None,
                }
            case Scored():
                assert isinstance(predicted, Rated)
                row |= {"true": item.score, "predicted": predicted.score}
        rows.append(row)
    return pd.DataFrame(rows)


def _curve(scene: Scene) -> None:
    """How the score grows with the data, where somebody asks."""
    st.subheader("With less data", anchor=False)
    first, job = scene.outcomes[0], desk().current(LearningCurve)
    if job is None or [run.candidate for run in job.runs] != _candidates(first):
        if job is not None and job.running:
            watch(job)
            return
        start_button(
            "Train on 10, 25, 50 and 100% of the data",
            lambda: LearningCurve(engine(), _candidates(first)),
            icon=":material/show_chart:",
        )
        return
    if job.running:
        watch(job)
    outcome_of(job)
    measure = MEASURES[first.data.measure]
    points = [
        Point("trained", len(tuned.data.train), score.value, score.low, score.high)
        for tuned in job.tuned
        for score in [tuned.score()]
    ]
    python_lines.put_scores(job, job.runs, scene.user_data, "With less data", first.settings.examples)
    if points:
        baseline = first.score().baseline
        figure = partial(by_examples, points, measure.title, percent=measure.percent, baseline=baseline)
        figures.show(figure, "learning curve", "learning-curve")
        st.caption(
            "Each point is a model trained from the start on that many examples (smaller sets are parts of larger "
            "ones) and tested on the whole test split. Bars are 95% intervals."
        )
        save.table("Learning curve", lambda: curve_table(job.tuned), "learning-curve")


def curve_table(every: Sequence[Tuned]) -> pd.DataFrame:
    """The scores of every model of the curve, with how many items it learned from."""
    parts = [score_table([tuned]).assign(examples=len(tuned.data.train)) for tuned in every]
    return pd.concat(parts, ignore_index=True)


def _candidates(tuned: Tuned) -> list[Candidate]:
    n = len(tuned.data.train)
    counts = sorted({max(2, round(share * n)) for share in _SHARES})
    return [
        Candidate(f"{count:,} examples", tuned.base, tuned.data, replace(tuned.settings, examples=count), keep=False)
        for count in counts
    ]


VIEW: View[Scene] = View(
    "scores",
    "Results",
    draw,
    about="The score on texts the model has never seen, its interval, and where the model goes wrong.",
    needs=("results",),
    tab=20,
    terms=("learning curve", "F1", "majority baseline"),
)
