"""Lines as Python: how values are written, and how parts become one script."""

import ast

import numpy as np

from model_zoo.tuned import new_id
from ui.as_python import Part, arguments, literal, read_bytes, script

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
    parts = {
        "": Part("numbers = np.zeros(3)", lambda: np.zeros(3), ("import numpy as np", "from analysis.views import C")),
        "the second": Part(
            "numbers = A(engine)", lambda: np.zeros(3), ("from analysis.views import A, B", "import re")
        ),
    }
    assert script(parts) == (
        "import re\n\nimport numpy as np\n\nfrom analysis.views import A, B, C\nfrom model_zoo import Engine\n\n"
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
