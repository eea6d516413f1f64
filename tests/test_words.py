"""Wordings that readers stumbled over stay away from everything that users read: what is not to be written, and what to
write instead.

Strings of Python and of the browser's scripts, documents, model cards, tables that are shown, and public docstrings are
read. A pattern that finds a sentence it was not meant for is made narrower; no file is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from packages import PACKAGES, ROOT

NEVER = (
    # Order of words: subject, verb, object.
    (r"\bFollowed (?:is|are)\b", "Target …"),
    (r"\bRight are\b", "… are correct; accuracy"),
    (r"\bMoved most\b", "Largest effects: …"),
    (r"\bBeside the costs stands?\b", "Quality is shown beside cost"),
    (r"\bHere will stand\b", "Results will appear here"),
    (r"(?:^|[.!] )Who (?!is\b|are\b|may\b)[a-z]+ [^.?!]*[.]", "A visitor who …, anyone who …"),
    (r"(?i)\bhow many [^.?!]{1,60} has (?:the|this|a|an|one|each|it|[A-Z]\w*-)[^.?!]*\?", "How many … does it have?"),
    (r"\bhas it\?", "does it have?"),
    # Where something is, and what it does.
    (r"(?i)\bbehind (?:the )?(?:layer|last layer|norm|softmax|embeddings|text)\b", "after"),
    (r"(?i)\bin front of (?:the )?(?:layer|norm|softmax|text)\b", "before"),
    (r"(?i)\b(?:stood|stands) there\b", "the original word; … is there"),
    (r"(?i)\bwhat stood\b", "the original word"),
    (r"(?i)\bas it (?:stood|stands)\b", "as it is, as it was"),
    (r"(?i)\banswer turns\b|\bturns? (?:the|its) (?:answer|prediction)\b", "the prediction flips, changes"),
    (r"(?i)\bstands? in front\b", "is drawn on top; precedes"),
    (r"(?i)\blies? in (?:this|the) app\b", "is included in this app, comes with the app"),
    (r"(?i)\b(?:uses|dots|line|lines) part\b|\bparts the heads\b|\bmeaning part\b", "separate, drift apart"),
    (r"(?i)\btaken away\b", "without …"),
    (r"(?i)\bnot in sight\b", "not visible"),
    (r"(?i)\bbroke off\b", "was interrupted, stopped"),
    (r"(?i)\bneed not come again\b", "completed files are kept"),
    (r"(?i)\bthrown away (?:and|again)\b", "deleted"),
    # A guess is the student's; a model predicts.
    (r"(?i)\bfirst guess(?:es)?\b", "top prediction"),
    (r"(?i)\b(?:model|models|BERT|GPT-2)(?:['’]s)? (?:own |first |best |would )?guess", "predicts; prediction"),
    (r"(?i)\bguess number\b", "rank"),
    (r"(?i)\bguesses again\b", "predicts again"),
    (r"(?i)\b(?:fill|put|insert|which|what) (?:in )?(?:a|the) guess (?:in|forms|rest)", "prediction"),
    (r"(?i)\bguess (?:forms|rests?)\b", "prediction"),
    (r"(?i)\bits (?:first )?guess(?:es)?\b", "its prediction"),
    (r"(?i)(?:\bmodel|\bmodels|\bBERT|\bit|…) puts? (?!the |them |it )[^.,;!?]{1,30} first\b", "top prediction: …"),
    # Riddles.
    (r"(?i)\b(?:what|which word|who) did it\b", "which word drives the prediction"),
    (r"(?i)\bwho looks, and who\b|\blooks, and (?:what|who|which) is looked at\b", "query and key"),
    (r"(?i)\brows look\b|\bcolumns are looked at\b", "rows are queries, columns keys"),
    (r"(?i)\btoken that looks\b(?! (?:at|to|back))", "query token"),
    (r"(?i)\bwho wrote how much\b", "how much does each part contribute"),
    (r"(?i)\bwhich of them holds\b|\blook which one\b", "which is faithful"),
    (r"(?i)\bmuch or little\?", "Is that a lot?"),
    (r"(?i)\bwhere am I\?", "the term: position encoding"),
    (r"(?i)\bwhich way to push\b", "the gradient"),
    (r"(?i)\bfewer lessons\b|\bunsure one dear\b", "less signal; is expensive"),
    (r"(?i)\bdrew their conclusions\b", "reacted"),
    (r"(?i)\b(?:main|side) road\b", "residual stream, branch"),
    (r"(?i)\bthe larger, the larger\b", "the higher, the higher"),
    (r"(?i)\bwhat came of (?:it|them)\b", "the effects, the results"),
    (r"(?i)\bbrought to 100\b", "rescaled to 100%"),
    (r"(?i)\bpoints to where it came from\b", "has cosine … with its input"),
    (r"(?i)\bmade answerable\b", "attributed"),
    # Terms of the field.
    (r"(?i)\b(?:answer|prediction|guess)s? rests? on\b", "depends on"),
    (r"(?i)\basking every method\b", "running all methods"),
    (r"(?i)\bhow surely\b|\bhow sure that is\b", "confidence, its interval"),
    (r"(?i)\bwhat the (?:largest )?parts write\b", "contribution, promote"),
    (r"(?i)\bheld as they were\b", "frozen"),
    (r"(?i)\bno way between them to follow\b", "no difference to trace"),
    (r"(?i)\bhow far the answer goes\b", "how far the prediction moves"),
    (r"(?i)\btexts that nobody wrote\b", "out-of-distribution texts"),
    (r"(?i)\bmay still be at work\b", "redundancy, self-repair"),
    (r"(?i)\bthe one goes that\b|\bleast needed first\b", "greedy ablation: least important first"),
    (r"(?i)\bnothing beats words alone\b|\bbeside words alone\b", "compared with word baselines"),
    (r"(?i)\bhow far the shares are from\b", "expected calibration error"),
    (r"(?i)\bthe teacher has what is left\b", "the teacher loss gets the rest"),
    (r"(?i)\bthe more alike the probabilities\b", "the flatter the distribution"),
    (r"(?i)\bit learns what it says\b", "soft targets"),
    (r"(?i)\bwhat all share\b", "the common component"),
    (r"(?i)\blie mixed\b|\bcome apart\b", "classes that start mixed separate"),
    (r"(?i)\bbegin at nothing\b", "start untrained"),
    (r"(?i)\bthose that frame\b|\bthat frame (?:it|the text)\b", "special tokens"),
    (r"(?i)\banswer that is followed\b|\bno answer to follow\b", "target; no prediction to track"),
    (r"(?i)\buntouched answers?\b", "original distribution"),
    (r"(?i)\bready pairs\b", "example pairs"),
    (r"(?i)\boff is (?:nothing|its mean)\b", "zero ablation, mean ablation"),
    (r"(?i)\beven spread\b", "uniform attention"),
    (r"(?i)\b(?:always|answering) alike\b|\balways answering\b", "majority baseline"),
    (r"(?i)\bsurest of\b|\bmost confident of\b", "most confident errors"),
    (r"(?i)(?<!training examples )\bby heart\b", "memorize, from memory; overfitting"),
    (r"(?i)\bstretch colours\b", "scale colours per head"),
    (r"(?i)\btwo blanks\b|\bbetween blanks\b", "a double space; separated by spaces"),
    (r"(?i)\blong rows\b", "long sequences"),
    (r"(?i)\bmade small and bare\b", "lower-cased and stripped of accents"),
    (r"(?i)\bneither word nor piece\b|\bother lists\b|\bthe list lacks\b", "special tokens; other vocabularies"),
    (r"(?i)\bcares for differences\b", "depends only on differences"),
    (r"(?i)\bone of several attentions\b", "one of several parallel attention mechanisms"),
    (r"(?i)\bas many epochs for\b", "the same number of epochs"),
    (r"(?i)\bcompare with before\b", "compare with the original"),
    # Words.
    (r"(?i)\bembedded (?:BERT|TinyBERT|ModernBERT|LSTM|models?|ones?)\b", "bundled"),
    (r"\b(?:BERT|LSTM)[^.]{0,8}, embedded\b", "… (bundled)"),
    (r"(?i)\blearnt\b", "learned"),
    (r"(?i)\btelephones?\b", "phone"),
    (
        r"(?i)\b(?:general|initial|maxim|memo[r]|minim|normal|optim|organ|random|real|recogn|standard|summa[r]|token|visual)"
        r"is(?:e|ed|es|ing|ations?)\b",
        "-ize, as in normalize",
    ),
    (r"(?i)\bper cent\b", "percent, percentage"),
    (r"\bIn all: ", "In total: "),
    (r"\bWhat came out\b", "Results"),
    (r"\bForget my answers\b", "Clear my answers"),
    (r"^Counted\.", "Recorded."),
    (r"(?i)\bwho waits\b|\bnobody waits\b", "who is waiting, none waiting"),
    (r"(?i)\blooked up again\b", "refreshes"),
    (r"(?i)\bmodels? at its best at\b", "works best at"),
    (r"(?i)\bat its door\b", "attributes to it"),
    (r"^Each once\.$|^Of its widget\b", "a whole sentence"),
    (r"(?i)\bwere gone over\b", "were revised"),
    (r"\bThe address of this page restores\b", "This page’s link restores …"),
    (r"(?i)\bordinary user without a name\b", "unprivileged, unnamed user"),
    (r"(?i)\b[a-z]+ waits? for ever\b", "forever"),
    (r"(?i)\b(?:which|it|this) is no (?:number|table|transformers)\b", "is not a …"),
    (r"(?i)\bfor want of\b", "because … is not there"),
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
                yield node.lineno, "".join(each.value if isinstance(each, ast.Constant) else "…" for each in values)
            case ast.Constant(value=str(text)) if id(node) not in private | inside:
                yield node.lineno, text


_SCRIPT = re.compile(
    r"//[^\n]*|/\*.*?\*/|'((?:\\.|[^'\\\n])*)'|\"((?:\\.|[^\"\\\n])*)\"|`((?:\\.|[^`\\])*)`", re.DOTALL
)


def _strings_of_script(text: str) -> Iterator[tuple[int, str]]:
    for found in _SCRIPT.finditer(text):
        if said := next(filter(None, found.groups()), ""):
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"\$\{[^}]*\}", "…", said)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    at = 1
    for block in re.split(r"(\n\s*\n|\n(?=\||- ))", text):
        yield at, block
        at += block.count("\n")


def _said() -> Iterator[tuple[str, str]]:
    """What users read, each with its place."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if ("weights" in name and file.suffix != ".md") or "bertviz/" in name:
                continue
            match file.suffix:
                case ".py":
                    found = _strings(ast.parse(file.read_text(encoding="utf-8")))
                case ".js":
                    found = _strings_of_script(file.read_text(encoding="utf-8"))
                case ".md":
                    found = _paragraphs(file.read_text(encoding="utf-8"))
                case ".tsv":
                    found = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
                case _:
                    continue
            yield from ((f"{name}:{line}", text) for line, text in found)
    for file in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for line, text in _paragraphs(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(ROOT).as_posix()}:{line}", text


@pytest.mark.slow
def test_what_users_read_avoids_wordings_that_were_stumbled_over() -> None:
    found = [
        f"{place}: “{match[0]}” -> {instead}"
        for place, text in _said()
        if " " in text or text.endswith((".", "?"))
        for text in (" ".join(text.split()),)
        for pattern, instead in _NEVER
        for match in (pattern.search(text),)
        if match
    ]
    assert not found, "\n".join(["Write it otherwise:", *found])


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


@pytest.mark.parametrize(
    "said",
    [
        "Followed is “are” (48%).",
        "Which word did it?",
        "How many numbers has the query?",
        "The vector behind layer 3",
        "The model’s first guess is “cat”.",
        "The model puts “cat” first with 35%.",
        "What stood there, what the model answers",
        "Learned from the embedded BERT",
        "13 tokens, those that frame the text among them",
        "Who has typed nothing yet finds an example.",
        "Each once.",
    ],
)
def test_what_was_stumbled_over_is_found(said: str) -> None:
    assert any(pattern.search(said) for pattern, _ in _NEVER)


@pytest.mark.parametrize(
    "said",
    [
        "Your guess is right.",
        "Who is waiting, and how full is memory?",
        "Which head has the largest weight?",
        "Learning the training examples by heart",
        "Embedded in a vector space",
        "The query token looks back.",
    ],
)
def test_plain_words_are_left_alone(said: str) -> None:
    assert not any(pattern.search(said) for pattern, _ in _NEVER)
