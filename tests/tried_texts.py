"""Two hundred texts by which tokenizers are tried."""

from itertools import pairwise

from checkpoints import SENTENCES

# By letters that none of the tiny vocabularies has, and by what normalizers, pre-tokenizers and cuts are tried by.
_PARTS = (
    "Zürich naïve cafe\u0301 Ångström",
    "\u4e2d\u6587\u5b57\u7b26 测试",
    "日本語のテキスト",
    "مرحبا بالعالم",
    "שלום עולם",
    "Привет мир",
    "\U0001f469\u200d\U0001f52c and \U0001f44d\U0001f3fd",
    "two  blanks   here",
    "tab\tand\nline",
    "it's ``quoted'' text",
    "1,024.5%",
    "ﬁne ﬀ ligatures",
    "İstanbul ıß",
    "a\u00a0b\u3000c",
    "e-mail@example.org",
    "x" * 120,
    "don't can't",
    "[MASK] <mask> [SEP]",
)
_LONG = "the cat sat on the mat and it was late " * 60  # 600 words


def texts() -> list[str]:
    """200 of them: sentences, each part by itself, and both together in both orders."""
    candidates = [*SENTENCES, *_PARTS, _LONG, "", " ", "!", "\U0001f600" * 3]
    for number, part in enumerate(_PARTS):
        for step in range(5):
            sentence = SENTENCES[(number * 5 + step) % len(SENTENCES)]
            candidates += [f"{part} {sentence}"] if step % 2 else [f"{sentence} {part}"]
    candidates += [f"{first} {second}" for first, second in pairwise(SENTENCES)]
    candidates += [f"{part}, {other}" for part in _PARTS[:4] for other in _PARTS[4:]]
    return candidates[:200]
