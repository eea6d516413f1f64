"""The examples of docs/adding.md are added to a copy of the project, where the tests of all find them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
_FILE = r"^`([\w./]+)`\n\n```(?:python|markdown|toml|tsv)\n(.*?)^```$"
FILES = dict(re.findall(_FILE, DOCUMENT, re.MULTILINE | re.DOTALL))
ENTRIES = re.findall(r"^```diff\n--- ([\w./]+)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)

# Which tests find what was added, and by which name.
FOUND_BY = {
    "tests/pages/test_every_view.py::test_a_view_opens_and_its_link_restores_it[letters-table]",
    "tests/pages/test_every_view.py::test_a_view_opens_and_its_link_restores_it[attention-longest]",
    "tests/pages/test_every_view.py::test_tabs_and_menu_have_the_order_of_views_and_pages",
    "tests/pages/learn/test_every_lesson.py::test_every_step_opens_and_reveals[letters]",
    "tests/model_zoo/test_questions.py::test_an_answer_is_remembered_shared_and_read_only[FindLongestToken]",
    "tests/model_zoo/test_families.py::test_every_family_has_a_checkpoint_that_all_tests_of_families_find[rembert]",
    "tests/model_zoo/test_eager_attention.py::test_all_that_enters_attention_is_what_the_familys_own_modules_make[rembert]",
    "tests/analysis/probing/test_tasks.py::test_training_and_test_use_different_content_words[repeated_noun]",
    "tests/training/test_every_set.py::test_a_set_is_whole[questions_or_not]",
    "tests/viz/test_every_figure.py::test_every_figure_follows_the_rules[lengths.lengths-dark]",
}


def applied(text: str, changes: str) -> str:
    """The text with lines taken out (-) and put in their place (+)."""
    for out, into in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", changes, re.MULTILINE):
        before, after = ("".join(line[1:] for line in block.splitlines(keepends=True)) for block in (out, into))
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project as it is here, without what git would not keep; weights are linked."""
    left_out = shutil.ignore_patterns(".*", "__pycache__", "weights", "node_modules")
    target = tmp_path / "project"
    shutil.copytree(ROOT, target, ignore=left_out)
    os.symlink(ROOT / "model_zoo" / "weights", target / "model_zoo" / "weights")
    shutil.copytree(ROOT / ".streamlit", target / ".streamlit")
    return target


@pytest.mark.slow
def test_everything_the_document_adds_is_found(copy: Path) -> None:
    assert len(FILES) >= 7
    for name, content in FILES.items():
        assert not (copy / name).exists(), f"{name} is in the project already"
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(content, encoding="utf-8")
    for name, changes in ENTRIES:
        file = copy / name
        file.write_text(applied(file.read_text(encoding="utf-8"), changes), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-q", "-rA", "-p", "no:cacheprovider", *sorted(FOUND_BY)],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    passed = set(re.findall(r"^PASSED (\S+)", done.stdout, re.MULTILINE))
    assert passed == FOUND_BY, done.stdout[-4000:] + done.stderr[-2000:]
