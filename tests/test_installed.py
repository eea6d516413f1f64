"""The project as pip installs it: what a wheel holds, and that it works where there is no checkout."""

import json
import os
import pickle
import re
import site
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import in_a_loop
import numpy as np
import pytest
from packaging.requirements import Requirement
from patience import PATIENCE
from programs import program

from benchmarks.imports import imported_names, read_sources
from benchmarks.server import started
from benchmarks.streamlit_client import visiting
from look_inside_bert.checkout import ROOMS
from model_zoo import Engine
from model_zoo.errors import InvalidInput
from model_zoo.questions.attend import Attend
from model_zoo.version import __version__
from reading import read
from training.finetuning.settings import Settings
from ui.precomputed.heads import HEADS

ROOT = Path(__file__).parents[1]
TEXT = "The cat sat on the mat because it was tired."

# What a process is told that must not find the checkout.
ALONE = {"PYTHONPATH": "", "OMP_NUM_THREADS": "1"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


def installed(home: Path, *requirements: str) -> Path:
    """The programs of a new environment with something in it, and this one's packages; nothing is downloaded."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin/python"), "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-compile", *requirements], check=True, capture_output=True)
    return home / "bin"


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("environment"), str(wheel))


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Somebody's own project: with secrets, and with packages and files that are called as some of the app's are."""
    for name in ("training/__init__.py", "pages/__init__.py", "ui/__init__.py", "viz.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("THEIRS = True")
    (tmp_path / "app.py").write_text("raise AssertionError('the wrong app')")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit/secrets.toml").write_text("[inside_bert]\nlongest_text = 147\n")
    return tmp_path


def answered(environment: Path, folder: Path, code: str) -> str:
    """What Python prints of an environment, in a folder."""
    python = [environment / "python", "-c", code]
    done = subprocess.run(python, cwd=folder, env=os.environ | ALONE, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_wheel_holds_every_file_of_the_rooms_in_one_package_and_no_other(wheel: Path) -> None:
    git = program("git", needs="it knows what belongs to the project")
    tracked = subprocess.check_output([git, "ls-files", *ROOMS, "app.py", ".streamlit"], cwd=ROOT, text=True)
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert all(name.startswith("look_inside_bert/") for name in held)
    files = {name.removeprefix("look_inside_bert/") for name in held} - {"__init__.py"}
    assert set(tracked.splitlines()) - files == set()
    assert all((ROOT / name).is_file() for name in files)
    assert {name.partition("/")[0] for name in files} == {*ROOMS, "app.py", ".streamlit"}


def test_nothing_in_a_wheel_names_a_module_as_it_is_called_in_a_checkout(wheel: Path) -> None:
    """Neither an import nor a string: write "look_inside_bert.…" there, which is right in both."""
    modules = read_sources().keys()
    with zipfile.ZipFile(wheel) as archive:
        sources = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")}
    assert len(sources) > 500
    named = {(file, name) for file, source in sources.items() for name, _ in imported_names(source)}
    assert [(file, name) for file, name in named if name in modules] == []


def test_the_wheel_says_which_version_and_which_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"look_inside_bert-{__version__}.dist-info/METADATA").decode()
    named = {line.partition(": ")[2] for line in metadata.splitlines() if line.startswith("Requires-Dist: ")}

    def wanted(file: str, extra: str = "") -> set[str]:
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        return {
            str(Requirement(line.replace("_", "-"))) + (f"; extra == '{extra}'" if extra else "")
            for line in lines
            if line and line[0] not in "#-"
        }

    extras = [wanted(f"requirements-{extra}.txt", extra) for extra in ("notebook", "redis", "serve")]
    assert named == wanted("requirements.txt").union(*extras)


def test_it_answers_beside_another_project_as_the_checkout_does(environment: Path, elsewhere: Path) -> None:
    code = f"""
import json, sys, training, pages, ui, viz
import look_inside_bert
from look_inside_bert import DEFAULT_MODEL, Engine, finetune, prepare, read, survey
assert "torch" not in sys.modules
from look_inside_bert.viz.notebook import grid
from look_inside_bert.web.settings import settings
assert all(module.THEIRS for module in (training, pages, ui, viz))
run = Engine("cpu").attend(DEFAULT_MODEL, {TEXT!r})
assert "<img" in run._repr_html_() and grid(run).html()
tuned = finetune("sentiment", examples=16, epochs=1)
assert tuned.engine.attend(tuned.id, "Fine.").n_layers == 6
items = prepare(read(b"text,label\\n" + b"".join(b"word %d,%d\\n" % (n, n % 2) for n in range(60)), "labelled"), seed=0)
about = look_inside_bert.__file__, look_inside_bert.__version__, len(items.train), settings().longest_text
print(json.dumps([*about, run.head(2, 8).tolist()]))
"""
    place, version, n_train, longest, weights = json.loads(answered(environment, elsewhere, code))
    assert Path(place).is_relative_to(environment.parent)
    assert (version, longest) == (__version__, 147)
    assert n_train > 30
    np.testing.assert_allclose(weights, Engine("cpu").attend("embedded/bert", TEXT).head(2, 8), atol=1e-6)


def test_pickles_of_a_wheel_and_of_a_checkout_are_read_by_both(environment: Path, elsewhere: Path) -> None:
    run, data = Engine("cpu").attend("embedded/bert", TEXT), read(b"text,label\nGood.,1\nBad.,0\n", "labelled")
    results = [Attend("embedded/bert", TEXT), run, data, HEADS.load("embedded/bert"), Settings(), InvalidInput("no")]
    (elsewhere / "checkout.pkl").write_bytes(pickle.dumps(results))
    code = """
import pickle, training
results = pickle.load(open("checkout.pkl", "rb"))
assert all(type(result).__module__.startswith("look_inside_bert.") for result in results)
pickle.dump(results, open("wheel.pkl", "wb"))
"""
    answered(environment, elsewhere, code)
    again = pickle.loads((elsewhere / "wheel.pkl").read_bytes())
    assert [type(result) for result in again] == [type(result) for result in results]
    assert (again[0], again[4]) == (results[0], results[4])
    np.testing.assert_array_equal(again[1].head(2, 8), run.head(2, 8))


def test_its_command_starts_the_app_from_any_folder(environment: Path, elsewhere: Path) -> None:
    async def visit(url: str) -> None:
        async with visiting(url) as visitor:
            first = await visitor.open("", {})
            assert list(first.complaints()) == []
            assert first.holds("#4B4FCF", "data:image/svg+xml")  # the look of config.toml, and the icon
            attention = await visitor.open("attention", {"text": TEXT, "view": "lines"})
            assert list(attention.complaints()) == []
            assert attention.holds("tired")

    log, logged = elsewhere / "log", ALONE | {"PYTHONPROFILEIMPORTTIME": "1"}
    with started([str(environment / "look-inside-bert")], logged, log, elsewhere) as (url, _):
        in_a_loop.run(visit(url))
        with urllib.request.urlopen(f"{url}/healthz", timeout=PATIENCE) as answer:
            assert json.load(answer)["healthy"] is True
    # Streamlit has put the folder of app.py, where the rooms lie, first of the places that modules are looked for in.
    imported = set(re.findall(r"^import time:.*\| +([\w.]+)$", log.read_text(encoding="utf-8"), re.MULTILINE))
    assert "look_inside_bert.ui.page" in imported
    assert not imported & ROOMS


def test_a_checkout_can_be_installed_as_it_lies_there(tmp_path: Path, elsewhere: Path) -> None:
    """Its modules have two names each. Of another project's modules Python takes the first, as anywhere."""
    programs = installed(tmp_path / "environment", "--no-build-isolation", "--editable", str(ROOT))
    code = """
import model_zoo.types.run, training
import look_inside_bert.model_zoo.types.run
import model_zoo.engine
assert training.THEIRS
assert model_zoo.types.run is look_inside_bert.model_zoo.types.run
assert model_zoo.engine.Engine is model_zoo.Engine is look_inside_bert.Engine
"""
    assert answered(programs, elsewhere, code) == ""
    code = """
import importlib.metadata, web.settings
from concurrent.futures import ThreadPoolExecutor
def load(_):
    from viz.notebook import grid
    return grid
with ThreadPoolExecutor(8) as pool:
    assert len(set(pool.map(load, range(8)))) == 1
assert [entry.load() for entry in importlib.metadata.entry_points(group="look_inside_bert.html_formatters")]
print(web.settings.ROOT)"""
    assert answered(programs, programs, code).strip() == str(ROOT)
    assert (programs / "look-inside-bert").exists()
