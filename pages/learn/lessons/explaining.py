"""Is attention an explanation? A prediction put to the test: words hidden, a head switched off, vectors patched in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
from propcache.api import cached_property

from analysis import explanations
from analysis.effects import recovered
from analysis.words import Unit
from jobs.explaining import NEARNESS, RANDOM, Explained, explain
from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput
from model_zoo.questions.intervene import Intervene
from model_zoo.questions.write_masks import WriteMasks
from model_zoo.types import AttentionRun, Change, DoubleArray, Effects, TargetAnswer
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Step, read_lesson
from ui import as_text
from ui.glossary import quote
from viz.curves import curves
from viz.layout import layer_names, percent
from web.engine import engine

_MOST_WORDS: Final = 30
_MOST_SHOWN: Final = 12  # bars
_ATTENTION, _OCCLUSION = "attention", "occlusion"


class ExplainingStep(Step):
    """A step about the prediction for the followed token, masked."""

    @property
    def model(self) -> str:
        """The visitor’s where it is an encoder with attention that fills masks, else the bundled BERT."""
        info = engine().info(self.case.model)
        usable = info.n_heads and info.mlm and not info.cross_attention
        return self.case.model if usable else DEFAULT_MODEL

    @property
    def said_of(self) -> str:
        """Which model is asked, where it is not the visitor’s."""
        return "" if self.model == self.case.model else f" ({as_text(name_of(self.model))} is asked here.)"

    @property
    def place(self) -> int:
        """The place of the masked token in this model’s tokens. Raises InvalidInput where it is not a typed word."""
        case = self.case if self.model == self.case.model else type(self.case)(self.model, self.case.text)
        if case.followed not in case.typed:
            raise InvalidInput("That token was not typed, so it cannot be masked. Follow another token.")
        return case.followed

    @property
    def question(self) -> Intervene:
        """The prediction at the masked token."""
        return Intervene(self.model, self.case.text, masked=(self.place,), aim=TargetAnswer("mask", self.place))

    @cached_property
    def explained(self) -> Explained:
        """Every method’s score of every other word, and the curves. Raises InvalidInput for too few or many words."""
        question = self.question

        def compute() -> Explained:
            *_, last = explain(engine(), question, "log P")
            return last

        n = len(engine().encode(self.model, self.case.text))
        if n > 2 * _MOST_WORDS:
            raise InvalidInput(f"This lesson hides words one by one. Shorten the text to at most {_MOST_WORDS} words.")
        explained = engine().derived(("explained", question, engine().info(self.model).revision, "log P"), compute)
        if len(explained.words) < 3:
            raise InvalidInput("There are too few other words to compare. Type a longer sentence.")
        return explained

    @property
    def units(self) -> list[Unit]:
        """The words that can be hidden."""
        return [self.explained.units[place] for place in self.explained.words]

    def scores(self, method: str) -> DoubleArray:
        """A method’s number for each of the words that can be hidden."""
        scores: DoubleArray = self.explained.scores[method][[*self.explained.words]]
        return scores

    def top(self, method: str) -> int:
        """The word that a method puts first, among the words that can be hidden."""
        return explanations.order(self.scores(method))[0]

    @property
    def most_attended(self) -> str:
        """The word with the most attention, in quotation marks."""
        return self.word(self.top(_ATTENTION))

    def word(self, place: int) -> str:
        """A word in quotation marks."""
        return quote(self.units[place].label)

    @property
    def target(self) -> str:
        """The predicted word in quotation marks, and its probability."""
        answer = self.explained.untouched.answer
        return f"{quote(answer.token)} ({percent(answer.probability)})"

    def bars(self, name: str, method: str, label: str, written: str) -> None:
        """Draw a method’s numbers for the words, those with the largest first of all kept."""
        values = self.scores(method)
        kept = sorted(np.argsort(-np.abs(values), kind="stable")[:_MOST_SHOWN].tolist())
        labels = [f"{place + 1} · {self.units[place].label}" for place in kept]
        pictures.bars(name, {"word": labels, label: np.maximum(values[kept], 0)}, written=written)

    def choose_word(self, method: str, other: str, values: Callable[[int], Mapping[str, Any]]) -> Choice:
        """The question which word a method puts first: that one, the first of another method, and other words."""
        order, best = np.argsort(-self.scores(method), kind="stable").tolist(), self.top(method)
        others = [self.top(other), order[-1], order[len(order) // 2], *order]
        kept = sorted([best, *[place for place in dict.fromkeys(others) if place != best][:3]])
        labels = {place: f"{place + 1} · {as_text(self.units[place].label)}" for place in kept}
        return self.choose(labels, best, lambda place: {"best": self.word(best), **values(place)})

    def numbers(self) -> pd.DataFrame:
        """What attention and occlusion say of every word."""
        columns = {"attention": self.scores(_ATTENTION), "log P lost when hidden (nats)": self.scores(_OCCLUSION)}
        return pd.DataFrame({"word": [unit.label for unit in self.units], **columns})


class Seems(ExplainingStep):
    def ask(self) -> Choice:
        shares = self.scores(_ATTENTION)
        best_share = shares.max()
        return self.choose_word(
            _ATTENTION, _OCCLUSION, lambda place: {"share": shares[place], "best_share": best_share}
        )

    def figure(self) -> None:
        best = self.explained.untouched.untouched.best
        rows = [(prediction.token, prediction.probability) for prediction in best]
        pictures.shares("target", pd.DataFrame(rows, columns=["token", "probability"]), marked=0)

    def reveal(self) -> None:
        self.bars("attention-of-the-mask", _ATTENTION, "mean attention from the mask", ".1%")

    def why(self) -> str:
        best = self.top(_ATTENTION)
        return self.say("why", best=self.word(best), share=self.scores(_ATTENTION)[best])


class Hidden(ExplainingStep):
    after = Seems

    def ask(self) -> Choice:
        losses = self.scores(_OCCLUSION)
        return self.choose_word(_OCCLUSION, _ATTENTION, lambda place: {"change": -losses[place]})

    def reveal(self) -> None:
        self.bars("occlusion", _OCCLUSION, "loss of log P when hidden (nats)", ".2f")

    def why(self) -> str:
        tau = float(explanations.kendall([self.scores(_ATTENTION), self.scores(_OCCLUSION)])[0, 1])
        best, looked = self.top(_OCCLUSION), self.top(_ATTENTION)
        agree = best == looked
        same = self.say("agree" if agree else "disagree", looked=self.word(looked), best=self.word(best))
        return self.say("why", same=same, tau=tau)


class Deleted(ExplainingStep):
    after = Hidden

    @property
    def left(self) -> float:
        """What is left of P after the word with the most attention is hidden, as a share."""
        return float(self.explained.curves[_ATTENTION, "deletion"][1])

    def reveal(self) -> None:
        table = self.numbers()
        methods = [name for name in (_OCCLUSION, _ATTENTION, NEARNESS, RANDOM) if name in table]
        series = [(name, table[name].tolist()) for name in methods]
        steps = [str(k) for k in table["words hidden"]]
        figure = partial(
            curves,
            steps,
            series,
            quantity="P of the target, as a share of that for the whole text",
            across="words hidden",
            span=(0.0, 1.0),
            share=True,
        )
        pictures.show("deletion", figure)

    def why(self) -> str:
        areas = {name: self.explained.area(name, "deletion") for name in (_ATTENTION, _OCCLUSION, RANDOM)}
        return self.say("why", areas=areas)

    def numbers(self) -> pd.DataFrame:
        explained = self.explained
        columns = {name: explained.curves[name, way] for name, way in explained.curves if way == "deletion"}
        return pd.DataFrame({"words hidden": range(len(explained.words) + 1), **columns})


class HeadOff(ExplainingStep):
    @cached_property
    def run(self) -> AttentionRun:
        """Attention with the token masked."""
        return engine().attend(self.model, engine().ask(WriteMasks(self.model, self.case.text, (self.place,))))

    @property
    def mask(self) -> int:
        """The place of the mask in that run."""
        return self.run.encoding.ids.index(engine().vocabulary(self.model).mask_id or 0)

    @cached_property
    def effects(self) -> DoubleArray:
        """The loss of log P with each head switched off, (layers, heads)."""
        info = engine().info(self.model)
        heads = [(layer, head) for layer in range(info.n_layers) for head in range(info.n_heads)]
        answer = self.explained.untouched.answer
        effects: Effects = engine().intervene(
            self.model,
            self.case.text,
            [Change(heads=(at,)) for at in heads],
            masked=(self.place,),
            aim=TargetAnswer("mask", self.place, answer.id),
            top_k=1,
        )
        lost = [effects.untouched.log_probability - reading.log_probability for reading in effects.readings]
        return np.array(lost, dtype=float).reshape(info.n_layers, info.n_heads)

    @cached_property
    def strongest(self) -> tuple[int, int, float]:
        """The layer and head that give most from the mask to the word with the most attention, and how much."""
        unit, run, at = self.units[self.top(_ATTENTION)], self.run, self.mask
        shift = at - self.place if unit.start > self.place else 0
        keys = slice(unit.start + shift, unit.stop + shift)
        weights = np.array([run.layer(layer)[:, at, keys].sum(axis=-1) for layer in range(run.n_layers)])
        layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
        return int(layer), int(head), float(weights.max())

    @property
    def rank(self) -> int:
        """The place of that head among all heads by its effect, from 1."""
        layer, head, _ = self.strongest
        return int((self.effects > self.effects[layer, head]).sum()) + 1

    def text(self) -> str:
        layer, head, weight = self.strongest
        return self.say("text", layer=layer + 1, head=head + 1, weight=weight)

    def figure(self) -> None:
        layer, head, _ = self.strongest
        run = self.run
        row = run.head(layer, head)[self.mask]
        places = sorted(np.argsort(-row, kind="stable")[:_MOST_SHOWN].tolist())
        labels = [f"{place + 1} · {run.encoding.tokens[place]}" for place in places]
        pictures.shares("strongest-head", {"token": labels, "attention from the mask": row[places]})

    def ask(self) -> Choice:
        n = self.effects.size
        return self.choice(n=n, first_quarter=1 + n / 4)

    def reveal(self) -> None:
        effects = self.effects
        layer, head, _ = self.strongest
        order = np.argsort(-effects.ravel(), kind="stable")[: _MOST_SHOWN - 1].tolist()
        strongest = layer * effects.shape[1] + head
        kept = order if strongest in order else [*order, strongest]
        labels = [f"{at // effects.shape[1] + 1}.{at % effects.shape[1] + 1}" for at in kept]
        losses = np.maximum(effects.ravel()[kept], 0)
        columns = {"head": labels, "loss of log P without the head (nats)": losses}
        pictures.bars("heads-off", columns, marked=kept.index(strongest))

    def why(self) -> str:
        effects, (layer, head, _) = self.effects, self.strongest
        return self.say("why", change=-effects[layer, head], largest_change=-effects.max())

    def numbers(self) -> pd.DataFrame:
        rows = [(layer + 1, head + 1, float(lost)) for (layer, head), lost in np.ndenumerate(self.effects)]
        return pd.DataFrame(rows, columns=["layer", "head", "loss of log P"])


class Patched(ExplainingStep):
    """Two sentences differ in one word, on which the number of the verb depends."""

    dogs = "The dogs near the house [MASK] hungry."
    dog = "The dog near the house [MASK] hungry."

    @cached_property
    def shares(self) -> tuple[list[str], dict[str, list[float]]]:
        """The names of the layers, and how far patching the noun or the mask moves the prediction, by layer."""
        vocabulary = engine().vocabulary(self.model)
        texts = [text.replace("[MASK]", vocabulary.mask_token or "[MASK]") for text in (self.dogs, self.dog)]
        aim = TargetAnswer("mask", answer="are", foil="is")
        effects = engine().patch(self.model, *texts, aim=aim)
        moved = recovered(effects, "difference").reshape(-1, len(effects.encoding))
        tokens = list(effects.encoding.tokens)
        noun = next(at for at, token in enumerate(tokens) if token.lstrip("Ġ▁") == "dogs")
        mask = effects.encoding.ids.index(vocabulary.mask_id or 0)
        return layer_names(len(moved)), {"at “dogs”": moved[:, noun].tolist(), "at the mask": moved[:, mask].tolist()}

    def figure(self) -> None:
        runs = {"run": ["run 1: dogs", "run 2: dog"], "moved towards run 2": [0, 1]}
        pictures.bars("two-runs", runs, written=".0f")

    def ask(self) -> Choice:
        _, shares = self.shares
        return self.choice(last=shares["at “dogs”"][-1])

    def reveal(self) -> None:
        names, shares = self.shares
        draw = partial(curves, names, [*shares.items()], quantity="moved towards run 2", across="layer")
        pictures.show("patched", draw)

    def why(self) -> str:
        names, shares = self.shares
        noun, mask = shares["at “dogs”"], shares["at the mask"]
        crossed = next((at for at in range(len(mask)) if mask[at] >= 0.5), len(mask) - 1)
        return self.say("why", noun=noun, noun_at_end=noun[-1], crossed=names[crossed])

    def numbers(self) -> pd.DataFrame:
        names, shares = self.shares
        return pd.DataFrame({"layer": names, **shares})


class Claims(Step):
    def figure(self) -> None:
        columns = {"demand": ["plausible", "faithful"], "two different demands": [1, 1]}
        pictures.bars("claims", columns, written=".0f")

    def numbers(self) -> pd.DataFrame:
        points = {
            "Jain & Wallace 2019": "weak agreement with gradients",
            "Wiegreffe & Pinter 2019": "depends on the demand",
            "Jacovi & Goldberg 2020": "faithful is not plausible",
        }
        return pd.DataFrame(points.items(), columns=["paper", "point"])


LESSON = read_lesson(__file__, Seems, Hidden, Deleted, HeadOff, Patched, Claims)
