"""The project speaks the field's language: in its names, in the keys of a session, and in everything that users read.

Names are read from the syntax tree. Of words, strings of Python and of the browser's scripts, documents, model cards,
tables that are shown, and public docstrings are read; a pattern that finds a sentence it was not meant for is made
narrower, and no file is left out.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from benchmarks.imports import PACKAGES, ROOT
from benchmarks.lines_of_code import private_names

NEVER = (
    (r"(?i)\bembedded (?:BERT|TinyBERT|ModernBERT|LSTM|models?|ones?)\b", "bundled"),
    (r"\b(?:BERT|LSTM)[^.]{0,8}, embedded\b", "… (bundled)"),
    (r"(?i)\b(?:model|models|BERT|GPT-2)(?:['’]s)? (?:own |first |best |would )?guess", "predicts; prediction"),
    (r"(?i)\bfirst guess(?:es)?\b|\bguess number\b", "top prediction; rank"),
    (r"(?i)\b(?:behind|in front of) (?:the )?(?:layer|last layer|norm|softmax|embeddings|text)\b", "after; before"),
    (r"(?i)\b(?:answer|prediction|guess)s? rests? on\b", "depends on"),
    (r"(?i)(?<!training examples )\bby heart\b", "memorize, from memory; overfitting"),
    (r"(?i)\b(?:learnt|telephones?|per cent|for want of)\b", "learned, phone, percent, because … is not there"),
    (r"(?i)\b[a-z]+ waits? for ever\b", "forever"),
    (
        r"(?i)\b(?:general|initial|maxim|memo[r]|minim|normal|optim|organ|random|real|recogn|standard|summa[r]|token|visual)"
        r"is(?:e|ed|es|ing|ations?)\b",
        "-ize, as in normalize",
    ),
)  # fmt: skip
_NEVER = [(re.compile(pattern), instead) for pattern, instead in NEVER]


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings with their lines, an f-string in one with "…" for its values. Of docstrings only the public ones."""
    private, inside = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if name.startswith("_") and ast.get_docstring(node) is not None:
                    private.add(id(node.body[0].value))
            case ast.JoinedStr(values=values):
                inside.update(id(value) for value in values if isinstance(value, ast.Constant))
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=values):
                yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "…" for part in values)
            case ast.Constant(value=str(text)) if id(node) not in private | inside:
                yield node.lineno, text


_SCRIPT = re.compile(
    r"//[^\n]*|/\*.*?\*/|'((?:\\.|[^'\\\n])*)'|\"((?:\\.|[^\"\\\n])*)\"|`((?:\\.|[^`\\])*)`", re.DOTALL
)


def _strings_of_script(text: str) -> Iterator[tuple[int, str]]:
    for match in _SCRIPT.finditer(text):
        if string := next(filter(None, match.groups()), ""):
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"\$\{[^}]*\}", "…", string)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    at = 1
    for block in re.split(r"(\n\s*\n|\n(?=\||- ))", text):
        yield at, block
        at += block.count("\n")


def _read_by_users() -> Iterator[tuple[str, str]]:
    """What users read, each with its place."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if ("weights" in name and file.suffix != ".md") or "bertviz/" in name or "finetuning/sets/" in name:
                continue  # not ours to word, or texts to learn from
            match file.suffix:
                case ".py":
                    lines = _strings(ast.parse(file.read_text(encoding="utf-8")))
                case ".js":
                    lines = _strings_of_script(file.read_text(encoding="utf-8"))
                case ".md":
                    lines = _paragraphs(file.read_text(encoding="utf-8"))
                case ".tsv" | ".toml":
                    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
                case _:
                    continue
            yield from ((f"{name}:{line}", text) for line, text in lines)
    for file in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for line, text in _paragraphs(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(ROOT).as_posix()}:{line}", text


_NATURAL = {("model_zoo/engine_methods.py", "what")}
"""Files with the private name that is the natural word there."""


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_names_say_what_a_value_is() -> None:
    private = [
        f"{file}:{line}: {name}"
        for file, tree in _modules()
        for line, name in private_names(tree)
        if (file, name) not in _NATURAL
    ]
    assert not private, "\n".join(["Say what it is, in the field's terms:", *private])


@pytest.mark.slow
def test_keys_of_a_session_are_identifiers() -> None:
    sentences = []
    for file, tree in _modules():
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            match node:
                case ast.Subscript(value=ast.Attribute(attr="session_state"), slice=key):
                    pass
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="session_state")), args=[key, *_]):
                    pass
                case ast.keyword(arg="key", value=key):
                    pass
                case _:
                    continue
            value = constants.get(key.id) if isinstance(key, ast.Name) else getattr(key, "value", None)
            if isinstance(value, str) and " " in value:
                sentences.append(f"{file}:{key.lineno}: {value}")
    assert not sentences, "\n".join(["An identifier, not a sentence:", *sentences])


@pytest.mark.slow
def test_users_read_the_terms_of_the_field() -> None:
    others = [
        f"{place}: “{match[0]}” -> {instead}"
        for place, text in _read_by_users()
        if " " in text or text.endswith((".", "?"))
        for text in (" ".join(text.split()),)
        for pattern, instead in _NEVER
        for match in (pattern.search(text),)
        if match
    ]
    assert not others, "\n".join(["Write it otherwise:", *others])


def test_strings_are_read_as_users_see_them() -> None:
    source = (
        '"""What it did."""\ndef _private():\n    "not read"\n    return f"Layer {1 + 1} " "is first"\n'
        'def public():\n    "read"\n'
    )
    assert [text for _, text in _strings(ast.parse(source))] == ["What it did.", "Layer … is first", "read"]
    script = "// 'not read'\nconst said = `${n} words`, name = 'it\\'s'; /* \"not read\" */ other(\"read\");"
    assert list(_strings_of_script(script)) == [(2, "… words"), (2, "it\\'s"), (2, "read")]
    assert [text for _, text in _paragraphs("One\nline.\n\n- A point.\n- Another.") if text.strip()] == [
        "One\nline.",
        "- A point.",
        "- Another.",
    ]


def test_terms_are_told_from_plain_words() -> None:
    def is_refused(text: str) -> bool:
        return any(pattern.search(text) for pattern, _ in _NEVER)

    for text in ("Learned from the embedded BERT", "The vector behind layer 3", "It is normalised."):
        assert is_refused(text), text
    for text in ("Your guess is right.", "Learning the training examples by heart", "Embedded in a vector space"):
        assert not is_refused(text), text
