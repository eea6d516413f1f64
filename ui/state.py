"""What a page shows, as named fields: kept while people switch pages, written to the address, read back from it.

A field's name is the key of its widget and its query parameter. Layers and heads count from 1 here, as on screen.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from analysis.filters import COMBINATIONS, QUADRANTS
from model_zoo import DEFAULT_MODEL, registry
from model_zoo.types import PARTS

_DRAWN = "pages on which the widgets of fields were drawn last"
_ANCHORS = "texts on which masks were drawn last"

# Longer addresses are cut or refused by browsers, proxies and servers on the way.
LONGEST_ADDRESS_VALUE = 2000


@dataclass(eq=False, slots=True)
class Field:
    """A value of a visitor's, the same in whatever part of the script asks for it.

    ``read`` turns a parameter's text into the value, raising ValueError with a sentence where it cannot; ``clean``
    brings what was typed into order before its widget is drawn. ``always`` writes it to the address at its default
    too, so that a link still means the same when the default changes; the rest would only make addresses long.
    ``step`` makes another value another step in the browser's history.
    """

    name: str
    default: Any
    read: Callable[[str], Any] = str
    always: bool = False
    step: bool = False
    clean: Callable[[Any], Any] | None = None

    @property
    def value(self) -> Any:
        return st.session_state.get(self.name, self.default)

    @value.setter
    def value(self, value: Any) -> None:
        """Only where it is another one: setting a value overwrites what is being typed into its widget."""
        if self.name not in st.session_state or st.session_state[self.name] != value:
            st.session_state[self.name] = value

    def tell(self) -> None:
        """Set the same value again, for a widget on screen whose options have other names now: the browser knows what
        is chosen by its name.
        """
        st.session_state[self.name] = self.value

    @property
    def bound(self) -> dict[str, Any]:
        """What ties the widget that is drawn next to this field: ``st.toggle("Words", **WORDS.bound)``.

        Streamlit keeps its value while the widget is not on the screen, wherever the visitor is.
        """
        value = self.default if self.value is None else self.value  # nothing chosen where something has to be
        if self.clean is not None:
            value = self.clean(value)
        here, drawn = _page(), st.session_state.setdefault(_DRAWN, {})
        if drawn.get(self.name) == here:
            self.value = value
        else:  # a widget of another page is another one to Streamlit, which would begin with its own default
            st.session_state[self.name] = value
        drawn[self.name] = here
        return {"key": self.name, "persist_state": "session"}

    @property
    def written(self) -> str:
        """The value as a parameter's text."""
        return self.write(self.value)

    def write(self, value: Any) -> str:
        """A value as a parameter's text: switches as 0 and 1, nothing as nothing, lists with commas."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(int(value))
        return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _count(what: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise ValueError(f"{what} “{text[:40]}” is not a number from 1 on.")
        return int(text)

    return read


def _switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(f"a switch is 0 or 1, not “{text[:40]}”.")
    return text == "1"


def _one_of(what: str, options: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in options:
            raise ValueError(f"{what} “{text[:40]}” does not exist; there are {', '.join(options)}.")
        return text

    return read


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError(f"the threshold “{text[:40]}” is not a number from 0 to 1.")
    return value


def _or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Nothing as None, anything else as ``read`` has it."""
    return lambda text: read(text) if text else None


def _heads(text: str) -> list[str]:
    """Heads as "3.7,4.1": layer, dot, head."""
    heads = text.split(",") if text else []
    for head in heads:
        if not re.fullmatch(r"[1-9][0-9]{0,3}\.[1-9][0-9]{0,3}", head):
            raise ValueError(f"“{head[:40]}” is no head; heads are written layer.head, as in 3.7.")
    return list(dict.fromkeys(heads))


def _places(text: str) -> tuple[int, ...]:
    """Positions of tokens, from 0, with commas between them."""
    parts = text.split(",") if text else []
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
        raise ValueError(f"“{text[:40]}” names no tokens; that takes numbers with commas between them.")
    return tuple(sorted({int(part) for part in parts}))


def _within(what: str, low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise ValueError(f"{what} “{text[:40]}” is not a number from {low} to {high}.")
        return int(text)

    return read


def _locked(text: str) -> str:
    """The token whose lines are kept: "query.3" or "key.5", counted from 1 among the tokens shown; "" if none."""
    if text and not re.fullmatch(r"(query|key)\.[1-9][0-9]{0,3}", text):
        raise ValueError(f"“{text[:40]}” is no token of the lines; write query.3 or key.5.")
    return text


def _places_of_heads(text: str) -> list[str]:
    """Heads switched off in the legend, as their places counted from 1: "1,4"."""
    places = text.split(",") if text else []
    if not all(re.fullmatch(r"[1-9][0-9]{0,3}", place) for place in places):
        raise ValueError(f"“{text[:40]}” is no list of heads; write their places in the legend, as in 1,4.")
    return list(dict.fromkeys(places))


def _names(text: str) -> tuple[str, ...]:
    """Names of tasks with commas between them; whether they exist is for their page to say."""
    names = text.split(",") if text else []
    for name in names:
        if not re.fullmatch(r"[a-z][a-z_]{0,39}", name):
            raise ValueError(f"“{name[:40]}” is no name of a task; names are written as in tense,negation.")
    return tuple(dict.fromkeys(names))


def _models(text: str) -> tuple[str, ...]:
    """Names of models with commas between them; whether they exist, and how many there may be, is for their page."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _no_line_breaks_around(text: str) -> str:
    """Enter at the end of a text is no part of it."""
    return text.strip("\r\n")


TEXT = Field("text", "The cat sat on the mat because it was tired.", always=True, clean=_no_line_breaks_around)
PAIR = Field("pair", "", clean=_no_line_breaks_around)
MODEL = Field("model", DEFAULT_MODEL, always=True)
LAYER = Field("layer", 1, _count("layer"), always=True)
HEAD = Field("head", 1, _count("head"), always=True)
STRETCH = Field("stretch", False, _switch)

# The page "Attention": which view, whose attention and what part of it, which heads, which token.
VIEW = Field(
    "view", "grid", _one_of("view", ("grid", "lines", "combined", "neuron", "rollout", "heads", "bertviz")), step=True
)
PART = Field("attention", PARTS[0], _one_of("attention of", PARTS))
QUADRANT = Field("part", "all", _one_of("part", QUADRANTS))
HIDE_SPECIAL = Field("hide", False, _switch)
RENORMALIZE = Field("renorm", False, _switch)
THRESHOLD = Field("threshold", 0.0, _share)
TOP_K = Field("top", None, _or_none(_count("top")))
WORDS = Field("words", False, _switch)
VALUE_WEIGHTED = Field("values", False, _switch)
SCOPE = Field("scope", "layer", _one_of("scope", ("layer", "chosen", "all")))
CHOSEN = Field("heads", (), _heads)
HOW = Field("how", "mean", _one_of("how", COMBINATIONS))
TOKEN = Field("token", 2, _count("token"))
FROM_LAYER = Field("from", 1, _count("layer"))
HEAD_TEXTS = Field("texts", "")
LOCKED = Field("locked", "", _locked)
OFF = Field("off", (), _places_of_heads)
IMAGE = Field("image", "svg", _one_of("image format", ("svg", "png")))
BERTVIZ = Field("bertviz", "head", _one_of("BertViz view", ("head", "model")))

ATTENTION = (
    TEXT, PAIR, MODEL, PART, LAYER, HEAD, STRETCH, VIEW, QUADRANT, HIDE_SPECIAL, RENORMALIZE, THRESHOLD, TOP_K, WORDS,
    VALUE_WEIGHTED, SCOPE, CHOSEN, HOW, TOKEN, FROM_LAYER, BERTVIZ, HEAD_TEXTS,
    LOCKED, OFF,
)  # fmt: skip

# The page "Masked words". Positions of tokens count from 0 in the address.
MASKED_VIEWS = ("predictions", "layers", "surprise", "training", "attention", "what if", "pairs")
MASKED = Field("masked", (4,), _places)
MASK_WORDS = Field("mask_words", True, _switch)
MASKED_VIEW = Field("masked_view", MASKED_VIEWS[0], _one_of("the view", MASKED_VIEWS), step=True)
PREDICTIONS = Field("top_k", 10, _within("the number of predictions", 1, 50))
AGAINST = Field("against", "")
RATE = Field("rate", 15, _within("the share of tokens", 1, 100))
RATE_MASKED = Field("rate_masked", 80, _within("the share of masks", 0, 100))
RATE_RANDOM = Field("rate_random", 10, _within("the share of random tokens", 0, 100))
SEED = Field("seed", 0, _within("the seed", 0, 999_999))
WHICH_MASK = Field("which", 0, _within("the mask", 0, 9999))
MASK_HEAD = Field("mask_head", 0, _within("the head", 0, 999))
REPLACED = Field("replaced", None, _or_none(_within("the replaced word", 0, 9999)))
REPLACEMENT = Field("replacement", "")
SHOWN_MASKS = Field("shown", (0, 1, 2), _places)
WORKED = Field("worked", 0, _within("the worked token", 0, 9999))
PIECES_SCORED = Field("pieces_scored", "word l2r", _one_of("how pieces are scored", ("word l2r", "original")))
MINIMAL_PAIRS = Field(
    "minimal_pairs",
    """good,bad,phenomenon
The keys to the cabinet are on the table.,The keys to the cabinet is on the table.,subject-verb agreement
The author of the books writes slowly.,The author of the books write slowly.,subject-verb agreement
The dogs that chased the cat were tired.,The dogs that chased the cat was tired.,subject-verb agreement
My sister cut herself in the kitchen.,My sister cut himself in the kitchen.,reflexives
The boys saw themselves in the mirror.,The boys saw himself in the mirror.,reflexives
The king praised himself.,The king praised herself.,reflexives
She bought these apples.,She bought this apples.,determiner and noun
He read that book twice.,He read those book twice.,determiner and noun
No student has ever seen it.,Every student has ever seen it.,negative polarity
Nobody said anything.,Somebody said anything.,negative polarity
They have eaten the bread.,They have ate the bread.,irregular forms
The letter was written by hand.,The letter was wrote by hand.,irregular forms
""",
)
LONG_TOO = Field("long", False, _switch)  # do on a long text what takes a while
MASK_FIELDS = (
    SHOWN_MASKS, WORKED, LONG_TOO, PIECES_SCORED, MINIMAL_PAIRS,
    WHICH_MASK, MASK_HEAD, REPLACED, REPLACEMENT,
    MASKED, MASK_WORDS, MASKED_VIEW, PREDICTIONS, AGAINST, RATE, RATE_MASKED, RATE_RANDOM, SEED,
)  # fmt: skip

# The page "Next sentence".
NEXT_VIEWS = ("probability", "attention", "input", "many pairs", "a text")
NEXT_VIEW = Field("next_view", NEXT_VIEWS[0], _one_of("the view", NEXT_VIEWS), step=True)
CONTROL_SEED = Field("controls", 0, _within("the draw of controls", 0, 999_999))
PASSAGE = Field(
    "passage",
    "The bakery opens at six. By then the first loaves are on the shelf. "
    "Most customers buy rolls on their way to work. Whales breathe air. They come to the surface every few "
    "minutes.",
)
PAIRS = Field(
    "pairs",
    """a,b,label
She opened the window.,Cold air came into the room.,1
"The train was late, again.",We missed the start of the film.,1
He watered the tomatoes.,The parliament meets on Monday.,0
My phone is broken.,The screen went black this morning.,1
They painted the kitchen yellow.,Whales breathe air.,0
""",
)
NEXT_FIELDS = (NEXT_VIEW, CONTROL_SEED, PASSAGE, PAIRS)

# The page "Layers". ``PROBED_LAYER`` and ``TREE_LAYER`` count from 0, the embeddings. ``PROBE_RANK`` is that of the
# structural probe, whose best layer is shown where there is no ``TREE_LAYER``.
LAYERS_VIEWS = ("curve", "summary", "wrong", "plane", "likeness", "movement")
PROBE_TASKS = Field("tasks", ("sentence_length", "word_content", "bigram_shift"), _names)
PROBE_SENTENCES = Field("sentences", 400, _within("the number of sentences", 20, 100_000))
PROBE_SEED = Field("probe_seed", 0, _within("the seed", 0, 999_999))
POOLING = Field("pooling", "mean", _one_of("pooling", ("mean", "cls", "max")))
PIECES = Field("pieces", "mean", _one_of("the vector of a word", ("mean", "first")))
PROBE_KIND = Field("probe", "linear", _one_of("the probe", ("linear", "mlp")))
PROBE_SEEDS = Field("probe_seeds", 1, _within("the number of seeds", 1, 20))
CONTROL_TASK = Field("control_task", True, _switch)
UNTRAINED = Field("untrained", True, _switch)
MDL = Field("mdl", False, _switch)
OWN_FORMAT = Field("own_format", "table", _one_of("the format", ("table", "senteval", "conllu")))
OWN_TARGET = Field("own_target", "upos", _one_of("the target", ("upos", "deprel", "head_distance", "trees")))
PROBE_RANK = Field("rank", 64, _within("the rank", 1, 99_999))
OWN_DATA = Field("own_data", "")
LAYERS_VIEW = Field("layers_view", LAYERS_VIEWS[0], _one_of("the view", LAYERS_VIEWS), step=True)
PROBED_TASK = Field("probed_task", "")
PROBED_LAYER = Field("probed_layer", 0, _within("the layer", 0, 999))
TREE_LAYER = Field("tree_layer", None, _or_none(_within("the layer", 0, 999)))
TREE_PROBE = Field("tree_probe", "distance", _one_of("the probe of trees", ("distance", "depth")))
TREE_SENTENCE = Field("tree_sentence", 1, _count("sentence"))
MEASURE = Field("measure", "cosine", _one_of("the measure", ("cosine", "relative")))
LAYERS_FIELDS = (
    PROBE_TASKS, PROBE_SENTENCES, PROBE_SEED, PROBE_SEEDS, POOLING, PIECES, PROBE_KIND, CONTROL_TASK, UNTRAINED, MDL,
    OWN_FORMAT, OWN_TARGET, PROBE_RANK, OWN_DATA,
    LAYERS_VIEW, PROBED_TASK, PROBED_LAYER, MEASURE,
    TREE_PROBE, TREE_LAYER, TREE_SENTENCE,
)  # fmt: skip

# The page "Compare". The first model is the reference and has LAYER and HEAD; the others have fields of their own, by
# their place among the models, in which no layer means the one at the reference's depth.
MOST_COMPARED = 4
EMBEDDED = tuple(model for model, spec in registry.MODELS.items() if spec.hub_id is None)
COMPARE_VIEWS = ("tokens", "attention", "predictions", "representations", "cost")
COMPARED = Field("models", EMBEDDED[:MOST_COMPARED], _models, always=True)
BESIDE = Field("beside", 2, _within("the place of a model", 1, MOST_COMPARED))
COMPARE_VIEW = Field("compare_view", COMPARE_VIEWS[0], _one_of("the view", COMPARE_VIEWS), step=True)
LAYERS_BESIDE = tuple(Field(f"layer_{n}", None, _or_none(_count("layer"))) for n in range(2, MOST_COMPARED + 1))
HEADS_BESIDE = tuple(Field(f"head_{n}", 1, _count("head")) for n in range(2, MOST_COMPARED + 1))
MASKED_WORDS = Field("masked_words", (3,), _places)
COMPARE_TOP = Field("compare_top", 5, _within("the number of predictions", 1, 50))
OWN_SENTENCES = Field("own_sentences", "")
COST_MEASURE = Field("cost_measure", "latency", _one_of("the measure", ("latency", "tokens", "words")))
COST_LENGTH = Field("cost_length", 128, _within("the length", 1, 99_999))
COMPARE_FIELDS = (
    COMPARED, BESIDE, COMPARE_VIEW, *LAYERS_BESIDE, *HEADS_BESIDE, MASKED_WORDS, COMPARE_TOP, OWN_SENTENCES,
    COST_MEASURE, COST_LENGTH, LONG_TOO,
)  # fmt: skip

# Every field once, though pages share some.
FIELDS = tuple(dict.fromkeys((*MASK_FIELDS, *NEXT_FIELDS, *LAYERS_FIELDS, *COMPARE_FIELDS, *ATTENTION, IMAGE)))

ADDRESSES = "addresses of the page as last seen and written"
_TITLE = "title of the page"


def enter(title: str, fields: Sequence[Field]) -> list[str]:
    """Begin a page: ``restore`` its fields, whose complaints are returned, and note whose they are."""
    st.session_state[_TITLE] = title
    return restore(fields)


def page_title() -> str:
    """Of the page on screen; "" before the first."""
    return str(st.session_state.get(_TITLE, ""))


def steps() -> list[str]:
    """Which fields were changed on this page, oldest first and the last few; never what was typed into them."""
    names, known = st.session_state.get(ADDRESSES, ((), ()))
    fields = [field for field in FIELDS if field.name in names]
    found = []
    for addresses in itertools.pairwise([*known, query(fields)]):
        for field in fields:
            before, after = (address.get(field.name, field.write(field.default)) for address in addresses)
            if before != after:
                found.append(f"{field.name}={after}" if field.step else field.name)
    return found


def reset() -> None:
    """Everything on this page as it was at first, but the texts."""
    names, _ = st.session_state.get(ADDRESSES, ((), ()))
    for field in FIELDS:
        if field.name in names and field.clean is None:
            field.value = field.default


def restore(fields: Sequence[Field]) -> list[str]:
    """Set fields from the address where it was opened or changed from outside; returns what could not be used.

    Back and forward bring the whole state of an address, so what it does not name gets its default; other addresses
    change what they name.
    """
    address = st.query_params.to_dict()
    known = _known(fields)
    complaints: list[str] = []
    going_back = _is_history_navigation()
    if address in known and not going_back:
        return complaints
    known.append(address)
    asked: dict[Field, Any] = {}
    for field in fields:
        text = address.get(field.name)
        if text is None:
            if going_back and len(field.written) <= LONGEST_ADDRESS_VALUE:
                asked[field] = field.default
            continue
        try:
            asked[field] = field.read(text)
        except ValueError as error:
            complaints.append(f"The link could not be followed in one point: {error} It was left as it was.")
    put(asked)
    return complaints


def put(values: Mapping[Field, Any]) -> None:
    """Set fields that belong together, as those of an example or an address do.

    Masks among them are meant for the text among them: they stay where they are put.
    """
    for field, value in values.items():
        field.value = value
        anchors().pop(field, None)


def anchors() -> dict[Field, Any]:
    """For a field of masked places, the text they were last drawn on: they move along when that text is edited."""
    found: dict[Field, Any] = st.session_state.setdefault(_ANCHORS, {})
    return found


def _is_history_navigation() -> bool:
    """Whether the browser's Back or Forward caused this run."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _page() -> str:
    """The page that runs, by Streamlit's name for it; "" outside of any."""
    context = get_script_run_ctx()
    return "" if context is None else context.page_script_hash


def _known(fields: Sequence[Field]) -> deque[dict[str, str]]:
    """The addresses this page has had since it was opened, the last few: a browser that is asked for much at once
    still shows an older one, and that is no wish to go back to it.
    """
    page = tuple(field.name for field in fields)
    if st.session_state.get(ADDRESSES, (None,))[0] != page:
        st.session_state[ADDRESSES] = page, deque(maxlen=16)
    known: deque[dict[str, str]] = st.session_state[ADDRESSES][1]
    return known


def publish(fields: Sequence[Field]) -> bool:
    """See to it that the address restores the page; False if a text is too long for one.

    An address that does so already stays as it is, an empty one too: each new one would be a step of history.
    """
    address = query(fields)
    now = st.query_params.to_dict()
    if not _restores(now, address, fields):
        st.query_params.from_dict(address)
        now = address
    _known(fields).append(now)
    return all(len(field.written) <= LONGEST_ADDRESS_VALUE for field in fields)


def query(fields: Sequence[Field]) -> dict[str, str]:
    """The parameters of the address that restores the fields, without texts that are too long for one."""
    return {
        field.name: field.written
        for field in fields
        if len(field.written) <= LONGEST_ADDRESS_VALUE and (field.always or field.written != field.write(field.default))
    }


def _restores(address: Mapping[str, str], wanted: Mapping[str, str], fields: Sequence[Field]) -> bool:
    """Whether an address says what is wanted, whatever defaults it leaves out, and nothing else."""
    defaults = {field.name: field.write(field.default) for field in fields}
    return set(address) <= set(defaults) and all(
        address.get(name, default) == wanted.get(name, default) for name, default in defaults.items()
    )


def clamp(field: Field, highest: int) -> str | None:
    """Bring a layer or head into the model's range, before its widget is drawn; says so if it had to."""
    value = field.value
    if 1 <= value <= highest:
        return None
    field.value = min(max(1, value), highest)
    whose = "text" if field is TOKEN else "model"
    return (
        f"This {whose} has {field.name}s 1 to {highest}; {field.name} {value} does not exist, so {field.name} "
        f"{field.value} is shown."
    )
