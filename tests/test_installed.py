"""The project as pip installs it: what a wheel holds, and that it works where there is no checkout."""

import json
import os
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

from benchmarks.server import started
from benchmarks.streamlit_client import visiting
from model_zoo import Engine
from model_zoo.version import __version__
from web import frames

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
    """Somebody's own folder: with secrets, and with files that are called as some of the app's are."""
    (tmp_path / "app.py").write_text("raise AssertionError('the wrong app')")
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui/__init__.py").write_text("raise AssertionError('the wrong package')")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit/secrets.toml").write_text("[inside_bert]\nlongest_text = 147\n")
    return tmp_path


def test_a_wheel_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    tracked = subprocess.run(
        [program("git", needs="it knows what belongs to the project"), "ls-files", *frames.OWN, ".streamlit"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert set(tracked) - held == set()
    assert all((ROOT / name).is_file() for name in held)
    tops = {name.partition("/")[0] for name in held}
    assert tops - {".streamlit"} == frames.OWN
    packages = {folder.parent.name for folder in ROOT.glob("*/__init__.py")} - {"benchmarks", "tests"}
    assert packages <= tops


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


def test_it_answers_as_the_checkout_does(environment: Path, elsewhere: Path) -> None:
    code = (
        "import json, model_zoo; from model_zoo import Engine; from web.settings import settings; "
        f"run = Engine('cpu').attend('embedded/bert', {TEXT!r}); "
        "print(json.dumps([model_zoo.__file__, settings().longest_text, run.head(2, 8).tolist()]))"
    )
    python = [environment / "python", "-P", "-c", code]
    done = subprocess.run(python, cwd=elsewhere, env=os.environ | ALONE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    place, longest, weights = json.loads(done.stdout)
    assert Path(place).is_relative_to(environment.parent)
    assert longest == 147
    np.testing.assert_allclose(weights, Engine("cpu").attend("embedded/bert", TEXT).head(2, 8), atol=1e-6)


def test_its_command_starts_the_app_from_any_folder(environment: Path, elsewhere: Path) -> None:
    async def visit(url: str) -> None:
        async with visiting(url) as visitor:
            first = await visitor.open("", {})
            assert list(first.complaints()) == []
            assert first.holds("#4B4FCF", "data:image/svg+xml")  # the look of config.toml, and the icon
            attention = await visitor.open("attention", {"text": TEXT, "view": "lines"})
            assert list(attention.complaints()) == []
            assert attention.holds("tired")

    with started([str(environment / "look-inside-bert")], ALONE, elsewhere / "log", elsewhere) as (url, _):
        in_a_loop.run(visit(url))
        with urllib.request.urlopen(f"{url}/healthz", timeout=PATIENCE) as answer:
            assert json.load(answer)["healthy"] is True


def test_a_checkout_can_be_installed_as_it_lies_there(tmp_path: Path, elsewhere: Path) -> None:
    programs = installed(tmp_path / "environment", "--no-build-isolation", "--editable", str(ROOT))
    code = "from model_zoo import Engine; from web import settings; print(settings.ROOT)"
    done = subprocess.run(
        [programs / "python", "-P", "-c", code], cwd=elsewhere, env=os.environ | ALONE, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == (str(ROOT), "")
    assert (programs / "look-inside-bert").exists()
