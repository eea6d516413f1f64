"""Sentences with their dependency trees, made by templates of this project, as a CoNLL-U file.

Something to try the structural probe with where no treebank is at hand. The trees follow Universal Dependencies and are
right by construction: what English can read in two ways is left out ("near the tower" after an object may belong to it
or to the verb). Real text is more varied and harder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.probing.grammar import (
    ADJECTIVES,
    ADVERBS,
    ANIMALS,
    NEUTRAL_PAST,
    PEOPLE,
    PLACES,
    PREPOSITIONS,
    THINGS,
    TRANSITIVE,
    Noun,
    pick,
    pick_adjectives,
)

_SPEECH_VERBS = ("said", "thought", "believed", "knew", "claimed", "heard")
_DETERMINERS = ("the", "the", "the", "this", "every")
_MARKS = ("because", "while", "when", "before", "after", "although")


@dataclass
class _Node:
    """A word with the words that depend on it, those before it and those after it in the sentence."""

    form: str
    upos: str
    deprel: str = "root"
    before: list[_Node] = field(default_factory=list)
    after: list[_Node] = field(default_factory=list)

    def spread(self) -> list[_Node]:
        """This word and all below it in the order of the sentence."""
        return [
            *(node for child in self.before for node in child.spread()),
            self,
            *(node for child in self.after for node in child.spread()),
        ]


def template_conllu(sentences: int = 400, seed: int = 0) -> str:
    """A CoNLL-U file of that many different sentences; its comments say that templates made them."""
    rng = np.random.default_rng(seed)
    blocks: dict[str, None] = {}
    while len(blocks) < sentences:
        words = _sentence(rng).spread()
        if len(words) <= 28:
            blocks[_block(words)] = None
    head = "# Sentences and trees made by templates, to try a structural probe with; this is no treebank of real text."
    numbered = (f"# sent_id = template-{i}\n{block}" for i, block in enumerate(blocks, start=1))
    return f"{head}\n" + "\n\n".join(numbered) + "\n\n"


def _block(words: Sequence[_Node]) -> str:
    number = {id(word): i for i, word in enumerate(words, start=1)}
    head = {id(child): number[id(word)] for word in words for child in (*word.before, *word.after)}
    forms = [word.form for word in words]
    forms[0] = forms[0].capitalize()
    rows, text = [], ""
    for i, (word, form) in enumerate(zip(words, forms, strict=True)):
        close = i + 1 < len(words) and words[i + 1].upos == "PUNCT"
        last = i + 1 == len(words)
        text += form + ("" if close or last else " ")
        rows.append(
            f"{i + 1}\t{form}\t_\t{word.upos}\t_\t_\t{head.get(id(word), 0)}\t{word.deprel}\t_\t"
            f"{'SpaceAfter=No' if close else '_'}"
        )
    return "\n".join([f"# text = {text}", *rows])


def _sentence(rng: np.random.Generator) -> _Node:
    """A statement: a main clause, perhaps within another one, with one beside it, or with one before it."""
    shape = int(rng.integers(5))
    # The place in "said that it fell near the tower" might be where that was said.
    root = _clause(rng, room=2, place=shape != 1)
    if shape == 1:  # The king said that ...
        verb = _Node(pick(rng, _SPEECH_VERBS), "VERB")
        verb.before = [_noun_phrase(rng, pick(rng, PEOPLE), "nsubj", room=1)]
        root.deprel = "ccomp"
        root.before.insert(0, _Node("that", "SCONJ", "mark"))
        verb.after = [root]
        root = verb
    elif shape == 2:  # ..., and ...
        other = _clause(rng, room=1)
        other.deprel = "conj"
        other.before[:0] = [_Node(",", "PUNCT", "punct"), _Node(pick(rng, ("and", "but")), "CCONJ", "cc")]
        root.after.append(other)
    elif shape == 3:  # Because ..., ...
        other = _clause(rng, room=1)
        other.deprel = "advcl"
        other.before.insert(0, _Node(pick(rng, _MARKS), "SCONJ", "mark"))
        root.before[:0] = [other, _Node(",", "PUNCT", "punct")]
    root.after.append(_Node(".", "PUNCT", "punct"))
    return root


def _clause(rng: np.random.Generator, room: int, *, place: bool = True) -> _Node:
    """A verb in the past, its subject, an object or, if ``place``, a place; ``room`` is how deep phrases may go."""
    subject = _noun_phrase(rng, pick(rng, PEOPLE + ANIMALS), "nsubj", room)
    # After "the dog that the king saw" an adverb may belong to either verb.
    clear = all(node.deprel != "acl:relcl" for node in subject.after)
    adverb = [_Node(pick(rng, ADVERBS), "ADV", "advmod")] if clear and rng.random() < 0.4 else []
    if rng.random() < 0.6:
        verb = _Node(pick(rng, TRANSITIVE).past, "VERB", before=[subject, *adverb])
        verb.after = [_noun_phrase(rng, pick(rng, PEOPLE + THINGS), "obj", room, object_=True)]
        return verb
    verb = _Node(pick(rng, NEUTRAL_PAST), "VERB", before=[subject, *adverb])
    if place and rng.random() < 0.8:
        where = _noun(rng, pick(rng, PLACES), "obl")
        where.before.insert(0, _Node(pick(rng, PREPOSITIONS), "ADP", "case"))
        verb.after = [where]
    return verb


def _noun(rng: np.random.Generator, form: str, deprel: str) -> _Node:
    """A noun with its determiner, and up to two adjectives."""
    described = pick_adjectives(rng, ADJECTIVES, int(rng.choice(3, p=(0.5, 0.35, 0.15))))
    adjectives = [_Node(word, "ADJ", "amod") for word in described]
    return _Node(form, "NOUN", deprel, before=[_Node(pick(rng, _DETERMINERS), "DET", "det"), *adjectives])


def _noun_phrase(rng: np.random.Generator, noun: Noun, deprel: str, room: int, *, object_: bool = False) -> _Node:
    """A noun with what describes it: nothing, another noun, a second one beside it, or a clause."""
    node = _noun(rng, noun.singular, deprel)
    shape = rng.random() if room > 0 else 1.0
    if shape < 0.2:  # after an object only "of" belongs to it and nothing else
        other = _noun(rng, pick(rng, PEOPLE).singular, "nmod")
        other.before.insert(0, _Node("of" if object_ else pick(rng, ("of", *PREPOSITIONS)), "ADP", "case"))
        node.after.append(other)
    elif shape < 0.35:
        other = _noun(rng, pick(rng, PEOPLE).singular, "conj")
        other.before.insert(0, _Node("and", "CCONJ", "cc"))
        node.after.append(other)
    elif shape < 0.65:
        node.after.append(_relative_clause(rng, room - 1, acts=noun not in THINGS))
    return node


def _relative_clause(rng: np.random.Generator, room: int, *, acts: bool) -> _Node:
    """... that saw the dog, of what ``acts``, as no lamp does; ... that the dog saw."""
    verb = _Node(pick(rng, TRANSITIVE).past, "VERB", "acl:relcl")
    other = _noun_phrase(rng, pick(rng, PEOPLE + ANIMALS), "obj", room - 1, object_=True)
    if acts and rng.random() < 0.5:
        verb.before, verb.after = [_Node("that", "PRON", "nsubj")], [other]
    else:
        other.deprel = "nsubj"
        verb.before = [_Node("that", "PRON", "obj"), other]
    return verb
