"""The pages of the app as data: a page is added by adding its file and one entry here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """``path`` from the project's root; ``question`` is what the page answers, ``how`` what one does there."""

    path: str
    title: str
    icon: str
    question: str
    how: str


HOME = Page("pages/home.py", "Home", ":material/home:", "What is this?", "An overview and the state of the engine.")

PAGES = (
    Page(
        "pages/attention.py",
        "Attention",
        ":material/visibility:",
        "What does each head of each layer attend to?",
        "Type a sentence, or two, and open any head.",
    ),
    Page(
        "pages/masked_words.py",
        "Masked words",
        ":material/password:",
        "What would the model put there?",
        "Click words to mask them, read its guesses, follow them through the layers.",
    ),
    Page(
        "pages/next_sentence.py",
        "Next sentence",
        ":material/low_priority:",
        "Does one sentence follow another?",
        "Type two sentences, compare with controls, or judge a whole list.",
    ),
    Page(
        "pages/layers.py",
        "Layers",
        ":material/layers:",
        "What can be read off each layer?",
        "Probe every layer for length, tense, number and more, or for labels of your own.",
    ),
    Page(
        "pages/compare.py",
        "Compare",
        ":material/compare_arrows:",
        "What do two models do differently?",
        "Put two to four models on the same text: tokens, heads, guesses, layers, cost.",
    ),
)
