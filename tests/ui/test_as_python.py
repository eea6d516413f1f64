"""As Python, and what a page is cited as."""

import ast
import re
from dataclasses import replace
from datetime import date

import numpy as np

from model_zoo.tuned import new_id
from ui.as_python import Part, arguments, literal, read_bytes, script
from ui.cite import Citation

VALUES = [
    "plain", 'with "double"', "with 'single'", "both \" and '", "back\\slash and\nnew line", "naïve 🙂 \u2028 \ud800",
    ("a", 'b"'), ("one",), (), ["x", (1, 2)], [(0, 3), (2, 8)], 0.1, True, None, 7,
]  # fmt: skip


def test_a_value_is_read_back_as_it_was() -> None:
    for value in VALUES:
        assert ast.literal_eval(literal(value)) == value
    assert literal("it's") == '"it\'s"'  # in double quotes, as everywhere in the project
    assert literal('"') == "'\"'"


def test_arguments_that_are_none_are_left_out_where_they_can_be() -> None:
    assert arguments("m", "a", None) == '"m", "a"'
    assert arguments("m", None, 3, top=None, k=2) == '"m", None, 3, k=2'
    assert arguments() == ""


def test_parts_become_one_script() -> None:
    imports = "import numpy as np", "from look_inside_bert import C"
    more = "from look_inside_bert import A, B", "import re"
    parts = {
        "": Part("numbers = np.zeros(3)", lambda: np.zeros(3), imports),
        "the second": Part("numbers = A(engine)", lambda: np.zeros(3), more),
    }
    assert script(parts) == (
        "import re\n\nimport numpy as np\n\nfrom look_inside_bert import A, B, C, Engine\n\n"
        "engine = Engine()\nnumbers = np.zeros(3)\n\n# the second\nnumbers = A(engine)\n"
    )


def test_of_a_model_that_was_trained_here_is_said_where_its_folder_goes() -> None:
    def code(model: str) -> str:
        return script({"": Part(f"run = engine.attend({arguments(model, 'a text')})", lambda: np.zeros(3), ())})

    assert "unpack it, and write its folder instead." in code(new_id())
    assert "unpack" not in code("embedded/bert")


PASTED = [
    "a,b\none,two\n", "one line", "a \"quoted\" one\nand 'another'\n", 'ends in a quote\n"', 'three """ of them\n',
    "back\\nslash\n", "carriage\r\nreturn\r\n", "naïve 🙂\n\u2028\ttab\n",
]  # fmt: skip


def test_what_was_pasted_stands_in_the_line() -> None:
    for text in PASTED:
        lines = read_bytes("pasted", text.encode(), uploaded=False)
        namespace: dict[str, object] = {}
        exec(lines.text, namespace)
        assert namespace["data"] == text.encode()
        assert not lines.uses


ONE = Citation(
    page="Attention",
    view="All heads",
    models={"org/my_bert": "sha256:cb7d674"},
    version="0.1.0",
    day=date(2026, 11, 26),
    link="https://bert.example.org/attention?text=100%25+sure&layer=3",
)


def fields(bibtex: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+) = \{(.*)\},?$", bibtex, re.MULTILINE))


def test_an_entry_has_model_revision_version_day_and_link() -> None:
    entry = ONE.bibtex()
    assert entry.startswith("@misc{inside-bert-attention-all-heads-2026-11-26,\n")
    assert fields(entry) == {
        "title": "Inside BERT: Attention: All heads",
        "key": "Inside BERT",
        "year": "2026",
        "version": "0.1.0",
        "howpublished": "Inside BERT 0.1.0",
        "note": r"org/my\_bert (revision sha256:cb7d674); computed on 2026-11-26",
        "url": ONE.link,
        "urldate": "2026-11-26",
    }


def test_the_same_as_text() -> None:
    assert ONE.text() == (
        "Inside BERT 0.1.0 (2026). Attention: All heads. Model: org/my_bert (revision sha256:cb7d674). "
        f"Computed on 2026-11-26. {ONE.link}"
    )


def test_nobody_is_sent_to_ones_own_machine() -> None:
    """What restores the view in any copy of the app is there all the same."""
    for host in ("localhost:8501", "127.0.0.1", "[::1]:8501"):
        citation = replace(ONE, link=f"http://{host}/attention?text=100%25+sure&layer=3")
        assert "url" not in fields(citation.bibtex())
        assert fields(citation.bibtex())["note"].endswith(r"in the app: /attention?text=100\%25+sure\&layer=3")
        assert citation.text().endswith("Computed on 2026-11-26, in the app: /attention?text=100%25+sure&layer=3.")
        assert host not in citation.text() + citation.bibtex()


def test_several_models_and_none() -> None:
    two = replace(ONE, models={"a": "1", "b": "2"}, link="")
    assert "Models: a (revision 1), b (revision 2)." in two.text()
    assert replace(ONE, models={}, link="").text() == (
        "Inside BERT 0.1.0 (2026). Attention: All heads. Computed on 2026-11-26."
    )


def test_what_means_something_to_latex_is_written_out() -> None:
    entry = fields(replace(ONE, models={r"C:\a_b~{c}^#$&%": "1"}).bibtex())["note"]
    assert entry.startswith(r"C:\textbackslash{}a\_b\textasciitilde{}\{c\}\textasciicircum{}\#\$\&\% (revision 1)")
