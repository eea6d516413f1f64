"""Universal relations and their two directions in plain words (de Marneffe et al. 2021)."""

from __future__ import annotations

from typing import Final

from analysis.corpus.relations import ALL, Relation

_ENDS: Final = {
    "acl": ("relative clause", "noun"),
    "advcl": ("adverbial clause", "verb"),
    "advmod": ("adverb", "modified word"),
    "amod": ("adjective", "noun"),
    "appos": ("apposition", "noun"),
    "aux": ("auxiliary", "main verb"),
    "case": ("preposition", "noun"),
    "cc": ("conjunction", "second conjunct"),
    "ccomp": ("object clause", "verb"),
    "clf": ("classifier", "number"),
    "compound": ("modifying noun", "noun"),
    "conj": ("second conjunct", "first conjunct"),
    "cop": ("copula", "predicate"),
    "csubj": ("subject clause", "verb"),
    "det": ("determiner", "noun"),
    "discourse": ("interjection", "verb"),
    "expl": ("expletive", "verb"),
    "iobj": ("indirect object", "verb"),
    "mark": ("subordinator", "clause"),
    "nmod": ("attached noun", "noun"),
    "nsubj": ("subject", "verb"),
    "nummod": ("number", "noun"),
    "obj": ("object", "verb"),
    "obl": ("oblique noun", "verb"),
    "parataxis": ("parallel clause", "verb"),
    "vocative": ("person addressed", "verb"),
    "xcomp": ("open complement", "verb"),
}
"""What the dependent is, and its head. A clause stands for its verb, which the tree names as its head."""


def ends(relation: Relation) -> tuple[str, str]:
    """What the word that looks is, and the one it should look at."""
    if relation == ALL:
        return "word", "head"
    dependent, head = _ENDS.get(relation.deprel, ("dependent", "head"))
    return (dependent, head) if relation.direction == "up" else (head, dependent)


def short(relation: Relation) -> str:
    """For a row of a table: "obj: verb → object"."""
    deprel = "all" if relation == ALL else relation.deprel
    return f"{deprel}: {' → '.join(ends(relation))}"


def looks(relation: Relation) -> str:
    """What a head does that finds it: "looks from a verb at its object"."""
    start, end = ends(relation)
    return f"looks from {'an' if start[0] in 'aeiou' else 'a'} {start} at its {end}"
