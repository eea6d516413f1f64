"""View "Layer by layer": the head on a mask's vector after every layer (logit lens), and on what a fit makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

import reading
from analysis.corpus.reading import corpus_of, read_corpus, sampled
from analysis.corpus.sentences import Corpus
from analysis.lens_fit import JudgedLens
from evidence.lens_sentences import MOST_OWN, lens_sentences
from jobs.lens_fitting import LensFitting
from model_zoo.types import MB, FittedLens, MaskLens, counted
from pages.masked_words.scene import Scene
from ui import MASK, Field, View, as_python, caption, figures, how_read, notes, save, token_line, widgets, work
from ui.as_python import Lines
from ui.mask_strip import choose_mask
from ui.messages import also_at
from ui.own_file import OwnFile, read
from ui.precomputed.lenses import LENSES
from viz.curves import lens_distances, lens_ranks
from viz.lens_table import lens_table
from web.background import desk
from web.engine import engine
from web.settings import settings
from web.uploads import File

OWN_SENTENCES: Field[str] = Field("lens_sentences", "", of="masked_words")

READ: Final = how_read.choices_field("lens_read", "masked_words")

_OWN: Final = OwnFile(upload="lens upload", in_use="lens file", pasted=OWN_SENTENCES, choices=READ)
_LENSES: Final = "from look_inside_bert.ui.precomputed.lenses import LENSES"
_SEED: Final = 36
_BEST: Final = 4  # tokens of a layer: what fits beside another table


def draw(scene: Scene) -> None:
    controls = scene.row()
    if controls is None:
        return
    with controls:
        place = 0 if scene.causal else choose_mask(MASK, scene.names)
        file, sentences = _own_sentences()
    lens, original = _lens(scene, place, None)
    judged = _judged_lens(scene, sentences)
    fitted = None if judged is None else _lens(scene, place, judged.lens)[0]
    _put_python(scene, place, file, sentences, (lens, fitted))
    left, right, curve = st.columns(3, gap="medium")
    with left:
        caption("Logit lens")
        token_line.show(partial(lens_table, lens), "lens", "lens")
    with right:
        caption("Fitted lens")
        if fitted is None:
            _offer(scene, sentences)
        else:
            token_line.show(partial(lens_table, fitted), "fitted lens", "fitted-lens")
    with curve:
        figures.show(partial(lens_ranks, lens, original, fitted), "lens ranks", "ranks")
    of = "The token after the last one: best" if scene.causal else "Best"
    caption(f"{of} tokens after every layer, with their probabilities; the final prediction is outlined. {_HEAD}")
    if judged is not None:
        _draw_distances(judged)


_HEAD: Final = (
    "The prediction head was trained on the last layer only. Here it reads the earlier ones, too (the logit "
    "lens). What it does not find there may still be there, in a form that it cannot read."
)


def _lens(scene: Scene, place: int, fitted: FittedLens | None) -> tuple[MaskLens, str | None]:
    """What the head says after every layer, and the token of the text in the mask's place."""
    if scene.causal:
        (lens,) = engine().next_lens(scene.model, scene.text, _BEST, fitted=fitted)
        return lens, None
    lens = engine().mask_lens(scene.model, scene.text, _BEST, masked=scene.masked, fitted=fitted)[place]
    return lens, scene.encoding.tokens[lens.position]


def _put_python(
    scene: Scene, place: int, file: File | None, sentences: Sequence[str], lenses: tuple[MaskLens, MaskLens | None]
) -> None:
    """The ranks of the final prediction after every layer, by the logit lens and, where there is one, the fitted."""
    call = f"(model, text, {_BEST}{{hidden}}{{}})"
    call = f"engine.next_lens{call}[0]" if scene.causal else f"engine.mask_lens{call}[{place}]"
    lens, fitted = lenses
    lines = Lines(f"logit = {call.replace('{}', '')}\n", (np,))
    if fitted is None:
        lines += "numbers = np.array([logit.ranks])  # of the final prediction, by layer"
    else:
        if not sentences and scene.model in LENSES.models:
            lines += Lines("judged = LENSES.find(engine.info(model))  # it came with the app\n", (_LENSES,))
        else:
            if file is not None:
                arguments = f'"sentences", name={as_python.literal(file.name)}{how_read.in_python(READ.value)}'
                texts = f"sampled(corpus_of(read(data, {arguments})), {MOST_OWN}, {_SEED}).texts"
                lines += as_python.read_bytes(file.name, file.data, uploaded=_OWN.uploaded())
                lines += Lines(f"own = {texts}\n", (corpus_of, sampled, reading.read))
            lines += Lines(
                f"job = LensFitting(engine, model{', own' if sentences else ''})\n"
                "for _ in job.steps():  # takes about a minute\n"
                "    pass\n"
                "judged = job.judged_lens\n",
                (LensFitting,),
            )
        lines += f"fitted = {call.replace('{}', ', fitted=judged.lens')}\n"
        lines += "numbers = np.array([logit.ranks, fitted.ranks])  # of the final prediction, by layer"
    scene.put_python(lines, lambda: np.array([either.ranks for either in (lens, fitted) if either is not None]))


def _own_sentences() -> tuple[File | None, tuple[str, ...]]:
    """The control of the own sentences that a lens is fitted to, and what it holds: a file, and what was read of it."""
    custom = _OWN.uploaded() or OWN_SENTENCES.value.strip()
    with widgets.popover(f"Fit: {'your own' if custom else 'built-in'}", ":material/library_books:", "lens sentences"):
        st.caption(
            "The fitted lens was made from about 2,000 masks of sentences that were written for this app or made from "
            "templates. With sentences of your own, it is fitted to two thirds of them, too, and judged on the others. "
            "A text file, a table with a column `text`, or a sentence a line."
        )
        usage = st.empty()
        file = _OWN.draw()
        if file is None:
            return None, ()
        with also_at(usage), how_read.choosing(READ):
            corpus = _read(file)
        own_sentences = tuple(sampled(corpus, MOST_OWN, _SEED).texts)
        usage.caption(f"Used: {counted(len(own_sentences), 'sentence')}, at most {MOST_OWN}.")
        if corpus.report is not None:
            how_read.draw(corpus.report, READ)
    return file, own_sentences


def _job(scene: Scene, sentences: tuple[str, ...]) -> LensFitting | None:
    """This visitor's last fit, if it is of this model and these sentences."""
    job = desk().current(LensFitting)
    return job if job is not None and (job.model, job.user_texts) == (scene.model, sentences) else None


def _judged_lens(scene: Scene, sentences: tuple[str, ...]) -> JudgedLens | None:
    """The lens that was fitted for this visitor, or came with the app; for the weights that the model has now."""
    job = _job(scene, sentences)
    if job is not None and job.judged_lens is not None and job.judged_lens.lens.revision == scene.info.revision:
        return job.judged_lens
    return None if sentences else LENSES.find(scene.info)


def _offer(scene: Scene, sentences: tuple[str, ...]) -> None:
    st.markdown(
        "A fitted lens takes each layer’s vector to where the last layer’s would be, before the head reads it. No lens "
        f"was fitted to this model{' with these sentences' if sentences else ''} yet. It takes about a minute with the "
        "bundled models, longer with larger ones."
    )
    wanted = scene.model, sentences
    work.button("Fit a lens", LensFitting, wanted, key="fit-lens", primary=True)
    work.begin(LensFitting, wanted, [scene.model], lambda: LensFitting(engine(), scene.model, sentences))
    job = _job(scene, sentences)
    if job is not None:
        work.watch(job, stop=False)


def _read(file: File) -> Corpus:
    return read([file], partial(read_corpus, [(file.name, file.data)], settings().unpacked_mb * MB, READ.value))


def _draw_distances(judged: JudgedLens) -> None:
    n_built_in = len(set(lens_sentences().units))
    units = f"the {n_built_in} subjects of the built-in ones"
    if judged.n_units > n_built_in:
        units += f" and your {counted(judged.n_units - n_built_in, 'sentence')}"
    picture, words = st.columns(2, gap="large")
    with picture:
        figures.show(partial(lens_distances, judged), "lens distances", "lens-distances")
    with words:
        st.markdown(_describe_fit(judged))
        caption(
            f"Measured at {judged.n_masks:,} masks of {counted(judged.n_texts, 'sentence')} that the lens was not "
            f"fitted to; bands are 95% intervals over {units}. Average answer: what the head says of the average "
            "vector, whatever the mask. A lens above that line is worse than none."
        )
        caption(
            f"For each layer an affine map takes the vector to where the last layer's would be, fitted by least "
            f"squares at {judged.lens.n_masks:,} masks (after the tuned lens, Belrose et al. 2023). It repairs what "
            "the logit lens misses only because earlier layers write in another form. It does not prove that "
            "the model uses what it finds: a map fitted to predict the answer also finds what no later layer reads."
        )
    as_python.put(
        "numbers = judged.to_frame()",
        judged.to_frame,
        part="How far both lenses are from the final prediction, on sentences that the lens was not fitted to",
    )
    save.table("Distances by layer", lambda: _table(judged), "lens-distances")


def _describe_fit(judged: JudgedLens) -> str:
    better = [fit.high < logit.low for logit, fit in zip(judged.logit, judged.fitted, strict=True)]
    most = max(range(len(better)), key=lambda layer: judged.logit[layer].mean - judged.fitted[layer].mean)
    logit, fit = judged.logit[most], judged.fitted[most]
    where = "the embeddings" if most == 0 else f"layer {most}"
    if not any(better):
        return "On other sentences the fitted lens is not shown to be nearer to the final prediction after any layer."
    some = f"{sum(better)} of {counted(len(better), 'layer')} (the embeddings count as one)"
    every = "every layer" if all(better) else some
    return (
        f"The fitted lens is nearer to the final prediction after {every}, most so after {where}: "
        f"**{fit.mean:.2f} nats** ({fit.low:.2f} to {fit.high:.2f}) instead of {logit.mean:.2f} "
        f"({logit.low:.2f} to {logit.high:.2f})."
    )


def _table(judged: JudgedLens) -> pd.DataFrame:
    table = judged.to_frame().rename(columns={"kl_nats": "KL (nats)", "low": "from", "high": "to"})
    return table.assign(masks=judged.n_masks, sentences=judged.n_texts)


def _left_out(_scene: Scene) -> str:
    return notes.not_in_link(["the file of sentences that you uploaded"] if _OWN.uploaded() else [])


VIEW = View(
    "layers",
    "Layer by layer",
    draw,
    "How the prediction forms: what the model would predict after each layer, by the logit lens and by a fitted one.",
    fields=(MASK, OWN_SENTENCES, READ),
    left_out=_left_out,
    tab=30,
    terms=("logit lens", "tuned lens"),
)
