"""What every view gives as Python, found by itself: the lines run, and their numbers are those on the screen."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cost_view
import layers_page
import pytest
import train_page
from checkpoints import Checkpoint
from on_screen import Open, button, drawn
from patience import PATIENCE
from run_lines import compiled, compute_what_is_shown
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from analysis.probing.template_trees import template_conllu
from evidence import items
from jobs import Desk, Job, ablation, explaining
from jobs.ablation import GreedyJob, HeadAblationJob, PruningJob
from jobs.coreference import CoreferenceJob
from jobs.explaining import Explaining
from jobs.indexing import Indexing
from jobs.measure_heads import MeasureHeadsJob
from jobs.tuning import Training
from model_zoo import Engine
from pages import PAGES
from pages.attention import scene as attention_scene
from pages.train import presets
from pages.train.presets import Distillation, FromScratch, Race
from pages.train.results import LearningCurve
from ui import as_python
from ui.page import Page, View

pytestmark = pytest.mark.slow

VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]

# Pages whose views show by default what came with the app, and what else there is quick to compute: their lines are run
# where a smaller job was done, in ``test_a_job_is_done_again``.
LONG = {"layers": {"movement"}, "corpus": {"search"}, "train": set()}

NASTY = "She said \"no\", 'yes' or \\n and 100% {sure}: naïve 🙂."
SMALL = "embedded/tinybert,embedded/modernbert"
PAIR = "Cold air came into the room."


def addresses() -> Iterator[tuple[str, dict[str, str]]]:
    """Pages with other settings than the defaults; ``model={gpt2}`` is the tiny checkpoint of that family."""
    for line in (Path(__file__).parent / "as_python.tsv").read_text(encoding="utf-8").splitlines():
        page, *parameters = line.split("\t")
        if not line.startswith("#"):
            his = NASTY.replace("She", "He")
            texts = {"\\n": "\n", "{nasty}": NASTY, "{his}": his, "{pair}": PAIR, "{small}": SMALL}
            for name, text in texts.items():
                parameters = [parameter.replace(name, text) for parameter in parameters]
            yield page, dict(parameter.split("=", 1) for parameter in parameters)


@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_gives_lines_that_compute_what_it_shows(
    page: Page[Any], view: View[Any], open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it opens on a result, without a call to act first."""
    app = open_page(page.path, view=view.name)
    assert not app.error
    assert not app.info
    assert drawn(app) or app.table
    if view.name in LONG.get(page.name, {view.name}):
        compute_what_is_shown(app, engine, monkeypatch)
    else:
        assert compiled(app)


@pytest.mark.parametrize(
    ("name", "query"), [*addresses()], ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else value
)
def test_lines_hold_what_was_chosen(
    name: str,
    query: dict[str, str],
    open_page: Open,
    checkpoint: Checkpoint,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (page,) = [page for page in PAGES if page.name == name]
    model = re.fullmatch("{(.*)}", query.get("model", ""))
    folder = {"model": str(checkpoint(model[1]))} if model else {}
    compute_what_is_shown(open_page(page.path, **query | folder), engine, monkeypatch)


@pytest.mark.parametrize("show", ["weights", "ALTI"])
def test_lines_cut_texts_as_pages(show: str, open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_scene, "LONGEST", 8)
    app = open_page("pages/attention/page.py", view="lines", show=show, text=NASTY)
    assert "max_tokens=8" in as_python.script(app.session_state[as_python.PARTS])
    compute_what_is_shown(app, engine, monkeypatch)


FILES = [
    ("next_sentence", "many pairs", "pairs file", False, b'b,a\nTwo.,\xe9 One.\nThree.,"Two, too."\n'),
    ("masked_words", "pairs", "pair files", True, b"good,bad\nIt is.,It am.\nWe are \\n.,We is \\n.\n"),
]


@pytest.mark.parametrize(("page", "view", "key", "several", "data"), FILES, ids=[view for _, view, *_ in FILES])
def test_lines_read_the_file_that_was_uploaded(
    page: str,
    view: str,
    key: str,
    several: bool,
    data: bytes,
    open_page: Open,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """As long as it is the one that was tested."""
    app = open_page(f"pages/{page}/page.py", view=view)
    file = ('its "own".csv', data, "text/csv")
    app.file_uploader(key=key).set_value([file] if several else file).run()
    assert not app.session_state[as_python.PARTS]
    button(app, "Test 2 pairs").click().run()
    (tmp_path / file[0]).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    compute_what_is_shown(app, engine, monkeypatch)
    app.file_uploader(key=key).set_value([] if several else None).run()
    assert not app.session_state[as_python.PARTS]


Began = Callable[[AppTest], AppTest]

MODEL = {"model": "embedded/tinybert"}
STUDY = {**MODEL, "sentences": "40", "seed": "3"}
TINY = train_page.TINY
RACERS = "embedded/tinybert,embedded/bilstm"
STUDENT = {"preset": "distillation", "student": "embedded/bilstm", "alpha": "0.6"}
MASKED = {**MODEL, "text": "The cat sat on the [MASK] because it was tired."}


def done(kind: type[Job], label: str = "") -> Began:
    """Press the button that begins with a label, if any, wait for the job, look again."""

    def begin(app: AppTest) -> AppTest:
        if label:
            button(app, label).click().run()
        desk: Desk = app.session_state["desk"]
        job = desk.current(kind)
        assert job.wait(PATIENCE)
        assert job.failure is None
        return app.run()

    return begin


def curve(app: AppTest) -> AppTest:
    return done(LearningCurve, "Train on 10")(train_page.look(done(Training, "Train")(app), "scores"))


def pruned(app: AppTest) -> AppTest:
    return done(PruningJob, "Prune")(done(HeadAblationJob, "Switch")(app))


def compared(app: AppTest) -> AppTest:
    """When the built-in sentences are, which begin by themselves."""
    return done(CoreferenceJob, "Compare")(done(CoreferenceJob)(app))


MEASURED, TRAINED = done(MeasureHeadsJob, "Measure"), done(Training, "Train")

# A page and its address, what begins the work, and views that show what comes of it.
JOBS = [
    (
        "layers",
        STUDY | {"tasks": "tense,word_content"},
        layers_page.run,
        ("layers", "summary", "misclassified", "plane"),
    ),
    ("corpus", STUDY | {"sentences": "120", "across": "rare", "up": "obj.up"}, MEASURED, ("all", "head", "relations")),
    ("corpus", STUDY | {"sentences": "120", "view": "matters", "layer": "2"}, MEASURED, ("matters", "coreference")),
    ("corpus", STUDY | {"tried_on": "pairs", "pairs": "agreement", "view": "matters"}, pruned, ("matters",)),
    ("corpus", STUDY | {"search": "nearest", "after": "2", "once": "1"}, done(Indexing, "Read"), ("search",)),
    ("corpus", STUDY | {"pronouns_by": "more"}, done(CoreferenceJob), ("coreference",)),
    ("train", TINY, TRAINED, ("train", "scores", "try", "inside", "plane")),
    ("train", TINY | {"seeds": "2", "learns": "lora", "rank": "4", "rate": "0.001"}, TRAINED, ("train", "scores")),
    ("train", TINY | {"set": "entities", "batch": "8", "seed": "7"}, TRAINED, ("try",)),
    ("train", TINY | {"racers": RACERS}, done(Race, "Race"), ("runs",)),
    ("train", TINY | {"racers": MODEL["model"], "budget": "seconds", "seconds": "1"}, done(Race, "Race"), ("runs",)),
    ("train", TINY | {"preset": "scratch", "learns": "head"}, done(FromScratch, "Train 4"), ("runs",)),
    ("train", TINY | STUDENT, done(Distillation, "Train te"), ("runs",)),
    ("cause", MASKED | {"off": "1.2", "value": "mean"}, done(GreedyJob, "Run the search"), ("heads",)),
    ("cause", MASKED, done(Explaining, "Run on 100"), ("words",)),
]


@pytest.mark.parametrize(
    ("name", "query", "begin", "views"), JOBS, ids=[f"{name}-{'-'.join(views)}" for name, _, _, views in JOBS]
)
def test_a_job_is_done_again(
    name: str,
    query: dict[str, str],
    begin: Began,
    views: tuple[str, ...],
    open_page: Open,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Of less material than on the pages."""
    monkeypatch.setattr(items, "MOST_PAIRS", 12)
    monkeypatch.setattr(ablation, "MOST_EVERY", 4)
    monkeypatch.setattr(ablation, "RANDOM_ORDERS", 2)
    monkeypatch.setattr(ablation, "MOST_JUDGING", 6)
    monkeypatch.setattr(ablation, "GREEDY_SECONDS", 0.5)
    monkeypatch.setattr(explaining, "N_SENTENCES", 3)
    monkeypatch.setattr(presets, "_EXAMPLES", (20, 40))
    monkeypatch.chdir(tmp_path)
    again(
        begin(opened(open_page, name, query | {"view": query.get("view", views[0])})), name, views, engine, monkeypatch
    )


def opened(open_page: Open, name: str, query: dict[str, str]) -> AppTest:
    return open_page(f"pages/{name}/page.py", **query)


def again(app: AppTest, name: str, views: tuple[str, ...], engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these views of a page computes what it shows."""
    (view_field,) = [page.view for page in PAGES if page.name == name]
    for view in views:
        compute_what_is_shown(app.button_group(key=view_field.key).set_value(view).run(), engine, monkeypatch)


TABLE, TREES, TREEBANK = layers_page.table(layers_page.ROWS), layers_page.conllu(40), template_conllu(60)
PRONOUNS = "\n".join(f"The [cat{n}] saw the {{dog}} when <it> woke." for n in range(60))
LIST = {"frequencies": "a,3\nthe,1"}

# A page and its address, where a file is uploaded or its text pasted, its content, and as above.
READ_FROM_FILES = [
    ("layers", STUDY | {"tasks": "tense", "untrained": "0", "pooling": "cls", "seeds": "2"}, "probing upload", TABLE,
        layers_page.run, ("layers", "curve", "similarity", "plane")),
    ("layers", STUDY | {"tasks": "", "format": "conllu", "target": "trees", "rank": "8"}, "layers_data", TREES,
        layers_page.run, ("trees",)),
    ("layers", STUDY | {"tasks": "", "format": "conllu", "pieces": "first"}, "probing upload", TREES,
        layers_page.run, ("curve",)),
    ("corpus", STUDY | LIST | {"show": "all"}, "corpus_upload", TREEBANK, MEASURED, ("relations",)),
    ("corpus", STUDY | LIST | {"up": "rare_listed"}, "corpus_data", TREEBANK, MEASURED, ("all",)),
    ("corpus", MODEL, "corpus_pronouns", PRONOUNS, compared, ("coreference",)),
    ("train", TINY | {"set": "own", "examples": "20"}, "train_own_text", TABLE, curve, ("scores",)),
    ("train", TINY | {"set": "own"}, "training upload", TABLE, TRAINED, ("inside",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "query", "key", "content", "begin", "views"),
    READ_FROM_FILES,
    ids=[f"{row[0]}-{row[-1][0]}-{row[2]}" for row in READ_FROM_FILES],
)
def test_lines_read_what_was_given(
    name: str,
    query: dict[str, str],
    key: str,
    content: str,
    begin: Began,
    views: tuple[str, ...],
    open_page: Open,
    shelf: MemoryUploadedFileManager,  # noqa: ARG001
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A file is read from its own name; a text that was pasted stands in the lines, unless it is long."""
    app = opened(open_page, name, query | {"view": views[0]})
    file = 'its "own".txt' if key.endswith("upload") else "The pasted data"
    if key.endswith("upload"):
        upload = (file, content.encode(), "text/plain")
        app.file_uploader(key=key).set_value([upload] if key == "corpus_upload" else upload).run()
    else:
        app.text_area(key=key).set_value(content).run()
    (tmp_path / file).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    again(begin(app), name, views, engine, monkeypatch)


@pytest.mark.usefixtures("quick_timing")
def test_times_are_measured_again(open_cost: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted is compared. A comment names how quality is measured: that can be asked as it stands there."""
    app = cost_view.measured(open_cost("bert", "roberta"))
    compute_what_is_shown(app, engine, monkeypatch)
    lines = as_python.script(app.session_state[as_python.PARTS])
    assert "engine.ask(MeasureQuality(model))" in lines
    assert "from look_inside_bert.training.measure_quality import MeasureQuality" in lines
