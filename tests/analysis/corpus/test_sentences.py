"""A corpus: what is put in comes out, and the rarest word is the rarest."""

import corpora
import pytest

from analysis.corpus.sentences import NO_HEAD, ROOT, Corpus
from reading.sentences import plain_words


def _tree() -> Corpus:
    corpus = corpora.corpus("Dogs bark.")
    tree = ["PRON", "VERB", "PRON", "PUNCT"], ["nsubj", "root", "obj", "punct"], [1, ROOT, 1, 1]
    corpus.add("She sees it.", plain_words("She sees it."), *tree, (0, 9), (0, 1, 2))
    return corpus


def test_what_is_added_comes_out() -> None:
    corpus = _tree()
    plain, parsed = corpus
    assert plain.words == ("Dogs", "bark", ".")
    assert (plain.upos, plain.deprel, plain.heads) == (("_",) * 3, ("_",) * 3, (NO_HEAD,) * 3)
    assert plain.coreference is None
    assert parsed.words == ("She", "sees", "it", ".")
    assert parsed.upos == ("PRON", "VERB", "PRON", "PUNCT")
    assert parsed.deprel == ("nsubj", "root", "obj", "punct")
    assert parsed.heads == (1, ROOT, 1, 1)
    assert parsed.coreference == (0, 1, 2)
    assert (parsed.number, len(parsed), len(corpus), corpus.n_words) == (1, 4, 2, 7)
    assert corpus.lengths().tolist() == [3, 4]
    assert corpus.take([1, 0]) == (parsed, plain)
    assert corpus.where(1) == "a.txt, line 9"
    assert corpus.has_trees
    assert corpus.labels("upos")
    with pytest.raises(ValueError, match="a sentence of 2 words"):
        Corpus().add("a b", [(0, 1), (2, 3)], heads=[ROOT])
    corpus = corpora.corpus("Dogs bark.")
    assert not corpus.has_trees
    assert not corpus.labels("upos")
    assert not Corpus().has_trees


def test_a_part_of_a_corpus_is_numbered_anew() -> None:
    complete = _tree()
    part = complete.subset([1])
    (actual,) = part
    assert actual.number == 0
    assert actual.coreference == (0, 1, 2)
    assert actual.upos == complete.sentence(1).upos
    assert part.where(0) == complete.where(1)
    assert part.counts == {"she": 1, "sees": 1, "it": 1, ".": 2}, "words are as rare as in the whole"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The dog-owner's cat, 3!", ["The", "dog-owner's", "cat", ",", "3", "!"]),
        ("don’t stop…", ["don’t", "stop", "…"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("我喜欢 tea", ["我", "喜", "欢", "tea"]),
        ("über-naïve café", ["über-naïve", "café"]),
        ("- a - b", ["-", "a", "-", "b"]),
        ("", []),
    ],
)
def test_words_of_plain_text(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in plain_words(text)] == words


def test_the_rarest_word_by_own_counts() -> None:
    corpus = corpora.corpus("the cat saw the dog", "The dog saw a bird", "a bird saw a Cat")
    corpus.find_rare()
    # the 3, saw 3, a 3, and two each of dog, bird and cat; of words equally rare it is the first.
    assert [sentence.rare for sentence in corpus] == [(1, None), (1, None), (1, None)]
    # The rarest word by a list.
    corpus = corpora.corpus("the cat saw the zyx !", "the the .")
    corpus.find_rare({"the": 10.0, "cat": 2.0, "saw": 3.0})
    assert corpus.sentence(0).rare == (1, 4), "a word that is not in the list is rarer than all that are"
    assert corpus.sentence(1).rare == (None, None), "all words alike, and signs are no words"
    # Rarest words are forgotten with a new sentence.
    corpus = corpora.corpus("one two two")
    corpus.find_rare()
    assert corpus.sentence(0).rare == (0, None)
    corpus.add("one one one", plain_words("one one one"))
    assert corpus.sentence(0).rare == (None, None)
    corpus.find_rare()
    assert corpus.sentence(0).rare == (1, None)
