"""The terms of the lessons: what each means, in a sentence or two, shown where one points at it.

In the texts of lessons a term stands in double brackets: ``[[softmax]]``, or ``[[shares|softmax]]`` where it is shown
as another word.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from ui import as_text

TERMS: Final[dict[str, str]] = {
    "activation": "A function applied to every number by itself, such as GELU, which lets large numbers pass and "
    "damps negative ones.",
    "attention mask": "What hides tokens from a token: a hidden one gets an attention weight of 0.",
    "attention weight": "The share of its 100% that a token gives to another in one head.",
    "backpropagation": "The chain rule, from the loss backwards through every layer: it gives the gradient of all "
    "weights.",
    "cloze test": "A text with gaps that a reader has to fill.",
    "context": "What a head makes for a token: the values of all tokens, each times its attention weight, added up.",
    "contextual": "Made from the sentence: the same word has another vector in another sentence.",
    "cosine": "How alike the directions of two vectors are: 1 for the same one, 0 for a right angle, −1 for opposite "
    "ones.",
    "cross-attention": "Attention of a decoder’s tokens to those of the encoder: two texts, not one.",
    "distillation": "A small model learns from the probabilities that a large one gives.",
    "dot product": "Two vectors multiplied number by number, the products added up. Large where both point one way.",
    "embedding": "The vector that a model looks up for a token, a position or a segment before its first layer.",
    "feed-forward network": "Two matrices with an activation between them, applied to each token’s vector by itself.",
    "fine-tuning": "Training a pretrained model a little more, for a task, with a small new layer on top.",
    "gradient": "How the loss changes for a small change of each number: its sign says which way to move it.",
    "head": "One of several attentions that work side by side in a layer, with matrices of its own.",
    "key": "The vector that a token is compared by: the queries of other tokens are multiplied with it.",
    "kind of head": "A name for where a head’s attention goes, given by a rule with a threshold.",
    "layernorm": "Brings the numbers of one token to mean 0 and standard deviation 1, then applies a learned scale "
    "and shift.",
    "learning rate": "How far a step of training goes against the gradient.",
    "logit": "A number a token before the softmax: the larger it is, the more probable the token.",
    "loss": "What a guess costs: −ln of the probability of the right answer, 0 for a sure right one.",
    "position": "The place of a token in the text, counted from the first one.",
    "probe": "A small classifier that is trained to read something off a layer’s vectors, which stay as they are.",
    "query": "The vector a token compares others by: it is multiplied with their keys.",
    "relative positions": "How far two tokens are apart, not where they stand, changes their score.",
    "residual connection": "The path around a part of a layer: what the part computes is added to what it was given.",
    "rotary positions": "Queries and keys are turned by an angle that grows with the position (RoPE).",
    "score": "What a query times a key gives, divided by √d in most models: the larger, the larger the attention "
    "weight.",
    "segment": "Which of two texts a token belongs to: BERT adds a vector for it to the embedding.",
    "softmax": "Turns numbers into shares that add up to 1: e to the power of each, divided by the sum of all of "
    "these.",
    "surprisal": "How unexpected a token is: −log₂ of its probability, in bits; 0 for one that was certain.",
    "temperature": "What logits are divided by before the softmax: above 1 the shares come closer together.",
    "token": "A piece of text that the model has a vector for: a word, a part of one, or a sign.",
    "value": "The vector that a token passes on in a head, multiplied by the attention weight it got.",
    "vector": "A list of numbers of fixed length; also an arrow with a direction and a length.",
    "vocabulary": "The fixed list of pieces that a model has vectors for.",
    "width": "How many numbers a vector of the model has.",
    "wordpiece": "BERT’s way to cut words: the longest beginning that is in the vocabulary, again and again.",
}

_TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")


def worded(text: str) -> str:
    """Markdown in which terms can be pointed at. Raises KeyError for a term that is not in the glossary."""

    def term(found: re.Match[str]) -> str:
        shown, name = found[1], (found[2] or found[1]).lower()
        said = escape(TERMS[name])
        return f'<span class="term" tabindex="0">{shown}<span class="said" role="note">{as_text(said)}</span></span>'

    return _TERM.sub(term, text)


def plain(text: str) -> str:
    """The same text without marks, for where nothing can be pointed at."""
    return _TERM.sub(lambda found: found[1], text)


def terms(text: str) -> list[str]:
    """The terms that a text marks, by their names."""
    return [(found[2] or found[1]).lower() for found in _TERM.finditer(text)]


def quoted(text: str) -> str:
    """What a visitor typed, in quotation marks, as it is: it must not turn into formatting or terms."""
    return f"“{as_text(text)}”"
