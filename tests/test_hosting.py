"""docs/hosting.md, the Dockerfile and what they rely on: names exist, places agree, nothing is written elsewhere."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from patience import PATIENCE
from streamlit import config
from streamlit.testing.v1 import AppTest

from web import app as server
from web.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/hosting.md").read_text(encoding="utf-8")
MODELS = ROOT / "model_zoo/models.tsv"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INCLUDED = [
    line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
]


def find_all(pattern: str, text: str) -> list[str]:
    matches = re.findall(pattern, text, re.MULTILINE)
    assert matches, pattern
    return matches


def block(language: str) -> str:
    return "\n".join(find_all(rf"```{language}\n((?:.|\n)*?)```", PAGE))


def test_what_is_named_exists() -> None:
    for name in find_all(rf"{PREFIX}(\w+)", PAGE + DOCKERFILE):
        assert name.lower() in Settings.model_fields
    options = config.get_config_options()
    for name in find_all(r"--([a-z]+\.[A-Za-z]+)=", PAGE + DOCKERFILE):
        assert name in options
    variables = {option.env_var for option in options.values()}
    for name in find_all(r"(STREAMLIT_[A-Z_]+)", PAGE):
        assert name in variables
    for module in find_all(r"python -m ([\w.]+)", PAGE):
        assert find_spec(module)
    for target in find_all(r"\]\(([\w./-]+)\)", PAGE):
        assert (ROOT / "docs" / target).is_file()


def test_what_is_not_for_strangers_is_on_where_it_is_said_to_be() -> None:
    routes = {route.path for route in server.routes()}
    assert {"/healthz", "/metrics"} <= routes
    assert "/healthz" in DOCKERFILE
    assert all(path in routes for path in find_all(r"location = (/\w+)", PAGE))


def test_the_sample_for_nginx_keeps_the_cookie_to_tls_and_bounds_who_sends_by_half() -> None:
    sample = block("nginx")
    (cookie,) = find_all(r'"(inside_bert=[^"]+)"', sample)
    assert {"Secure", "HttpOnly", "SameSite=Lax"} < set(cookie.split("; "))
    assert "listen 443 ssl;" in sample
    assert max(map(int, find_all(r"client_(?:header|body)_timeout (\d+)s;", sample))) < 60  # which nginx has by itself
    (zone,) = find_all(r"^limit_conn_zone \$binary_remote_addr zone=(\w+):", sample)
    assert find_all(rf"^    limit_conn {zone} (\d+);", sample)


def test_who_passes_the_image_on_is_told_of_the_licences() -> None:
    bundled = {line.split("\t")[-2] for line in MODELS.read_text(encoding="utf-8").splitlines() if "(bundled)" in line}
    assert {name.replace("CC-BY-SA-", "CC BY-SA ") for name in bundled} == {"CC BY-SA 4.0"}
    (sentence,) = find_all(r"^Anyone who passes the image on (.+(?:\n.+)*)", PAGE)
    for name in ("Apache 2.0", "CC BY-SA 4.0", "MPL 2.0", "OFL"):
        assert name in sentence.replace("\n", " ")


@pytest.mark.parametrize("index", ["", "https://index.example/cpu"])
def test_the_container_takes_torch_alone_from_another_index(index: str, tmp_path: Path) -> None:
    """Its steps run with a pip that writes down what it is told."""
    (tmp_path / "pip").write_text('#!/bin/sh\necho "$@" >> "$TOLD"\n', encoding="utf-8")
    (tmp_path / "pip").chmod(0o755)
    log = tmp_path / "told"
    variables = {"TOLD": str(log), "TORCH_INDEX": index, "REQUIREMENTS": "requirements.txt"}
    for step in find_all(r"^RUN (.*pip install(?:.*\\\n)*.*)$", DOCKERFILE):
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"} | variables
        subprocess.run(["/bin/sh", "-c", step], cwd=ROOT, env=environment, check=True)
    *others, everything = (line.split() for line in log.read_text(encoding="utf-8").splitlines())
    (torch,) = find_all(r"^(torch==\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert others == ([["install", "--no-cache-dir", "--no-deps", "--index-url", index, torch]] if index else [])
    assert not [options for options in everything if "index" in options]
    copied = {name for line in find_all(r"^COPY (.+) \./$", DOCKERFILE) for name in line.split()}
    assert {"constraints.txt", "requirements.txt"} <= copied <= set(INCLUDED)


def test_ports_agree_and_the_container_writes_where_the_page_lets_it() -> None:
    (port,) = set(find_all(r"(?:^EXPOSE |127\.0\.0\.1:|--server\.port=)(\d+)", DOCKERFILE))
    assert f"-p 127.0.0.1:{port}:{port}" in PAGE
    behind_the_proxy = re.findall(r"server 127\.0\.0\.1:(\d+);", PAGE)
    assert sorted(behind_the_proxy) == find_all(r"--server\.port=(\d+)", PAGE)
    (user,) = find_all(r"^USER (\d+):\d+$", DOCKERFILE)
    assert user != "0"
    environment = dict(item.split("=") for item in find_all(r"^ENV (.+)$", DOCKERFILE)[0].split())
    assert f"--tmpfs {environment['HOME']}:size=" in PAGE
    assert f":{environment['HF_HOME']} " in PAGE
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    (version,) = find_all(r"^ARG BASE=python:([\d.]+)-slim(?:@sha256:[0-9a-f]{64})?$", DOCKERFILE)
    assert SpecifierSet(wanted).contains(version)


def test_the_table_for_signing_in_is_one_that_the_app_takes() -> None:
    def script() -> None:
        from web import sign_in

        sign_in.require()

    app = AppTest.from_function(script, default_timeout=PATIENCE)
    app.secrets["auth"] = tomllib.loads(block("toml"))["auth"]
    app.user = {"is_logged_in": False}
    assert [button.label for button in app.run().button] == ["Sign in"]


# Opens a page that asks the model, and prints where anything was opened for writing, made or moved.
OPENS_A_PAGE = """
import json, os, sys

touched = set()
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & WRITING:
        touched.add(arguments[0])
    elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove"):
        touched.update(str(path) for path in arguments[:2] if isinstance(path, (str, os.PathLike)))

sys.addaudithook(note)
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=float(sys.argv[1])).run()
app.switch_page("pages/masked_words/page.py").run()
assert not app.exception, app.exception
from web.engine import engine
print(json.dumps([engine().state().n_answered, sorted(touched)]))
"""


OPTIONS = {"PYTHONDONTWRITEBYTECODE": "1", f"{PREFIX}HOSTED": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that .dockerignore lets into the image, and no others."""
    folder = tmp_path_factory.mktemp("image")
    for name in INCLUDED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder


@pytest.mark.slow
def test_the_image_answers_and_writes_nothing_but_temporary_files(image: Path, tmp_path: Path) -> None:
    temporary, home = tmp_path / "tmp", tmp_path / "home"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", OPENS_A_PAGE, str(PATIENCE)],
        cwd=image,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(temporary)} | OPTIONS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    n_answered, touched = json.loads(done.stdout.splitlines()[-1])
    assert n_answered > 0
    assert [path for path in touched if not path.startswith((f"{temporary}/", "/dev/"))] == []
    assert not home.exists()
    assert not [path for path in image.rglob("*") if path.name == "__pycache__"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "heavy"),
    [
        ("pages, web.app", {"torch", "transformers", "sklearn", "bertviz"}),
        ("jobs.study, jobs.measurement", {"streamlit", "plotly", "torch"}),
    ],
)
def test_what_only_questions_need_is_not_imported_at_first(imports: str, heavy: set[str]) -> None:
    code = f"import sys, {imports}; loaded = {heavy} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
