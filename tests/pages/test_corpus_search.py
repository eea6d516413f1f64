"""The view "Search" of the page "Corpus": A looks at B, and nearest words, against the engine's own answers."""

import csv
import json
import os
from typing import Any

import numpy as np
import pytest
from on_screen import Open, button, prose, to_save, unpacked
from streamlit.testing.v1 import AppTest
from walks.visitor import OpenVisitor

from analysis.corpus.pattern import Pattern
from analysis.corpus.reading import built_in
from evidence.questions.look import Look
from jobs.attention_search import AttentionSearchJob
from jobs.indexing import Indexing
from jobs.job import Job
from model_zoo import Engine
from viz.layout import percent

PAGE = "pages/corpus/page.py"
TINY = "embedded/tinybert"


@pytest.fixture
def search(open_page: Open) -> Open:
    def opened(**query: str) -> AppTest:
        app = open_page(PAGE, **({"view": "search", "model": TINY} | query))
        assert not app.error
        return app

    return opened


def done(job: Job) -> None:
    while job.running:
        job.advance()
    assert job.failure is None


def rows(app: AppTest) -> dict[str, Any]:
    """The list of sentences as it is sent."""
    (component,) = [
        element for element in app.get("bidi_component") if element.proto.component_name == "example_sentences"
    ]
    payload: dict[str, Any] = unpacked(component.proto.bytes)[0]
    return payload


def bars(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]


def table(app: AppTest, name: str) -> list[str]:
    lines: list[str] = app.session_state["saved_shelf"].files[f"csv {name}"].make().decode().splitlines()
    return lines


# --- A looks at B


def test_it_opens_on_what_verbs_give_their_objects(search: Open, engine: Engine) -> None:
    app = search()
    corpus = built_in()
    query, key = Pattern("upos", ("VERB",)), Pattern("deprel", ("obj",))
    numbers = np.flatnonzero(query.sentences(corpus) & key.sentences(corpus))
    drawn = np.random.default_rng(35).permutation(numbers)[:60]
    looks = engine.ask(Look(TINY, corpus.take(drawn.tolist()), query, key, joined=True))
    best = int(np.argmax(looks.mean))
    text = prose(app)
    assert (
        f"**Layer {looks.layer[best] + 1}, head {looks.head[best] + 1}** looks from VERB to obj the most of 8 heads: "
        in text
    )
    assert f"**{percent(looks.mean[best])}** of the attention" in text
    assert f"over {looks.n[best]} pairs in {looks.n_found} sentences" in text
    assert f"uniform attention would give {percent(looks.expected[best])}" in text
    assert f"From 60 of the {len(numbers)} sentences that may hold both, drawn at random." in text
    assert bars(app)[0]["customdata"][0] == [looks.layer[best], looks.head[best]]

    payload = rows(app)
    strongest = looks.strongest_of_all(50)
    assert payload["ways"] == ["Attention", "Cause"]
    assert [row["beside"] for row in payload["rows"]] == [percent(weight) for weight in strongest.weight]
    assert payload["rows"][0]["text"] == corpus.texts[strongest.sentence[0]]
    assert to_save(app) == ["Heads (CSV)", "Pairs of words (CSV)"]
    assert len(table(app, "search-heads")) == 1 + 8
    pairs = table(app, "search-pairs")
    assert len(pairs) == 1 + len(looks.hits)
    assert pairs[1].endswith(f'line {corpus.where(int(looks.hits.sentence[0])).rpartition(" ")[2]}"')


def test_words_and_tokens_are_typed_and_one_head_is_asked(search: Open) -> None:
    """Another kind of word begins with one that is there."""
    app = search()
    app.selectbox(key="corpus_from_is").set_value("word").run()
    assert app.text_input(key="corpus_from").value == "the"
    app.selectbox(key="corpus_to_is").set_value("upos").run()
    assert app.selectbox(key="corpus_to").value == "NOUN"
    app.text_input(key="corpus_from").set_value("fox").run()
    assert "looks from “fox” to NOUN the most" in prose(app)
    assert (app.query_params["from"], app.query_params["to_is"]) == ("fox", "upos")
    query = {"from_is": "word", "from": "That, this", "to_is": "piece", "to": "[SEP]", "heads": "head"}
    app.query_params.update(query | {"layer": "2", "head": "3"})
    app.run()
    assert "**Layer 2, head 3** looks from “that” or “this” to “[SEP]”" in prose(app)
    assert "joined" not in " ".join(toggle.label for toggle in app.toggle)
    assert not app.get("plotly_chart")
    row = rows(app)["rows"][0]
    assert row["label"].startswith("“")
    assert "layer=2" in row["ways"][0]
    assert "head=3" in row["ways"][0]
    assert "off=2.3" in row["ways"][1]


def test_what_cannot_be_found_is_said(search: Open) -> None:
    app = search()
    for query, message in (
        ({"from_is": "word", "from": " "}, "Type a word to look for."),
        ({"from_is": "word", "from": "zebra"}, "No sentence holds both “zebra” and obj."),
        ({"from_is": "word", "from": "nkey"}, "can a head look from “nkey” to obj."),
        ({"from_is": "upos", "from": "DET", "to_is": "upos", "to": "VERB"}, "where the tree joins them."),
        ({"to_is": "piece", "to": ""}, "Type a token to look for."),
        ({"model": "embedded/bilstm"}, "has no attention"),
    ):
        app.query_params.update(query)
        app.run()
        assert message in prose(app)
        kinds = [element.proto.component_name for element in app.get("bidi_component")]
        assert "example_sentences" not in kinds


def test_sentences_without_trees_are_searched_for_words(search: Open) -> None:
    text = "The <b>dog</b> saw the cat. It slept because the cat was tired. The cat slept."
    app = search(data=text, **{"from": "It", "from_is": "word"})
    assert app.selectbox(key="corpus_to_is").options == ["Word", "Token"]
    assert app.text_input(key="corpus_to").value == "the"
    assert "looks from “it” to “the” the most" in prose(app)
    assert "over 1 pair in 1 sentence;" in prose(app)
    app.text_input(key="corpus_to").set_value("cat").run()
    assert "looks from “it” to “cat” the most" in prose(app)
    app.text_input(key="corpus_from").set_value("<").run()
    assert "looks from “<” to “cat”" in prose(app)
    assert rows(app)["rows"][0]["parts"][1] == {"text": "<", "framed": True}
    assert [row["text"] for row in rows(app)["rows"]] == ["The <b>dog</b> saw the cat."] * 2


@pytest.mark.slow
def test_all_sentences_are_searched_by_a_job(search: Open, jobs: list[Job]) -> None:
    app = search(**{"from": "NONSENSE"})
    assert app.selectbox(key="corpus_from").value == "NOUN"  # a label that the corpus lacks is another one
    app.selectbox(key="corpus_from").set_value("VERB").run()
    button(app, "Search all").click().run()
    (stopped,) = jobs
    assert isinstance(stopped, AttentionSearchJob)
    assert any(control.label == "Stop" for control in app.button)
    assert "From 60 of the" in prose(app)  # until the job has found something
    while stopped.n_done < 100:
        stopped.advance()
    stopped.stop()
    stopped.advance()
    app.run()
    assert f"From {stopped.n_done} of the {stopped.n_total} sentences that may hold both" in prose(app)
    button(app, "Search all").click().run()
    job = jobs[-1]
    done(job)
    app.run()
    looks = job.looks
    assert looks.n_sentences == job.n_total > 500
    assert f"in {looks.n_found} sentences" in prose(app)
    assert "drawn at random" not in prose(app)
    app.toggle(key="corpus_joined").set_value(False).run()  # another search, which was not made
    assert "From 60 of the" in prose(app)


def test_a_bar_chooses_its_head_and_a_sentence_opens_on_another_page(visitor: OpenVisitor) -> None:
    here = visitor(PAGE, view="search", model=TINY)
    here.choose(here.tree.get("plotly_chart")[0], {"points": [{"customdata": [1, 2]}]})
    query = dict(here.address.query)
    assert (query["heads"], query["layer"], query["head"]) == ("head", "2", "3")
    (sentences,) = [
        element for element in here.tree.get("bidi_component") if element.proto.component_name == "example_sentences"
    ]
    text = unpacked(sentences.proto.bytes)[0]["rows"][1]["text"]  # type: ignore[index]
    here.choose(sentences, {"open": [1, 0]})
    query = dict(here.address.query)  # that of Attention
    assert (query["text"], query["view"], query["layer"], query["head"]) == (text, "lines", "2", "3")
    assert query["locked"] == f"query.{query['token']}"
    assert "search" not in query


# --- nearest words


def indexed(app: AppTest, jobs: list[Job]) -> Indexing:
    """The page when the corpus was read."""
    button(app, "Read 1,000").click().run()
    job = jobs[-1]
    assert isinstance(job, Indexing)
    done(job)
    app.run()
    return job


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that is read in a moment, though it says that it has 1,000 sentences."""
    monkeypatch.setattr("jobs.indexing.Index.full", property(lambda index: index.n_sentences >= 120))


@pytest.mark.usefixtures("short")
def test_the_nearest_words_are_those_of_the_index(search: Open, jobs: list[Job], engine: Engine) -> None:
    app = search(search="nearest", after="2", nearest="10")
    assert "The vectors after layer 2 were not read yet." in prose(app)
    job = indexed(app, jobs)
    assert job.layer == 2
    text = job.corpus.texts[0]
    vector = engine.encoded_states(TINY, text, layers=[2]).states[0, 2]
    near = job.index.nearest(vector, 10, without=[(0, 2)])
    assert f"The 10 tokens nearest to **monk** after layer 2 have cosines of **{near.tokens[0].cosine:.2f}**" in prose(
        app
    )
    assert f"the mean cosine with all {near.n:,} tokens is {near.mean:.2f}" in prose(app)
    assert f"Read: {job.n_sentences} sentences of 1,000, from the beginning; 200,000 tokens are the most" in prose(app)
    assert [row["beside"] for row in rows(app)["rows"]] == [f"{token.cosine:.2f}" for token in near.tokens]
    assert rows(app)["ways"] == ["Attention"]
    parts, relations, following, looked_at = bars(app)
    assert sum(parts["x"]) == pytest.approx(1)
    assert all(0 < share <= 1 for token in (relations, following, looked_at) for share in token["x"])
    (header, *lines) = table(app, "nearest-words")
    assert header.endswith("cosine,token,word,part of speech,relation,next word,looked at most,sentence,where")
    assert len(lines) == 10

    app.toggle(key="corpus_once").set_value(True).run()
    words = [line.split(",")[header.split(",").index("word")].lower() for line in table(app, "nearest-words")[1:]]
    assert len(set(words)) == len(words) == 10
    assert "monk" not in words

    app.text_area(key="corpus_sentence").set_value("A queen slept.").run()
    assert "nearest to **queen**" in prose(app)
    assert app.query_params["sentence"] == "A queen slept."
    app.number_input(key="corpus_after").set_value(1).run()
    assert "The vectors after layer 1 were not read yet." in prose(app)


@pytest.mark.usefixtures("short")
def test_the_word_that_a_head_looks_at_is_that_of_the_matrix(search: Open, jobs: list[Job], engine: Engine) -> None:
    app = search(search="nearest", after="2", nearest="5", layer="2", head="3")
    job = indexed(app, jobs)
    for line in csv.DictReader(table(app, "nearest-words")):
        text, word, looked_at = line["sentence"], line["word"], line["looked at most"]
        if job.corpus.texts.count(text) != 1 or text.split().count(word) != 1:
            continue
        sentence = job.corpus.sentence(job.corpus.texts.index(text))
        run = engine.attend(TINY, text)
        tokens = [token.lower() for token in run.encoding.tokens]
        if tokens.count(word.lower()) != 1 or len(tokens) != len(sentence) + 2:
            continue
        row = run.head(1, 2)[tokens.index(word.lower())].copy()
        row[[0, tokens.index(word.lower()), len(tokens) - 1]] = 0
        assert tokens[int(row.argmax())] == looked_at


@pytest.mark.usefixtures("short")
def test_a_model_without_attention_has_nearest_words(search: Open, jobs: list[Job]) -> None:
    app = search(search="nearest", model="embedded/bilstm", after="99")
    indexed(app, jobs)
    assert "nearest to **mon** after layer 2" in prose(app)  # its tokenizer cuts “monk”
    assert rows(app)["ways"] == []
    assert len(bars(app)) == 3


def test_another_sentence_is_one_of_the_corpus(search: Open) -> None:
    assert not search(search="nearest", sentence="\u200d").exception
    assert search(search="nearest", token="5000").session_state["corpus_token"] == 1
    app = search(search="nearest", token="7")
    button(app, "Another sentence").click().run()
    assert app.text_area(key="corpus_sentence").value in built_in().texts
    assert app.session_state["corpus_token"] == 2


@pytest.mark.usefixtures("short")
def test_lost_vectors_can_be_read_again(search: Open, jobs: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    app = search(search="nearest", after="2")
    job = indexed(app, jobs)
    os.truncate(job.index.file, 100)
    app.run()
    assert "The vectors after layer 2 are gone: their file was cut short or removed." in prose(app)
    indexed(app, jobs)
    assert "after layer 2 have cosines of" in prose(app)
    monkeypatch.setattr("jobs.indexing.room_left", lambda _folder: 0)
    app.number_input(key="corpus_after").set_value(1).run()
    button(app, "Read 1,000").click().run()
    while jobs[-1].running:
        jobs[-1].advance()
    app.run()
    assert "does not fit on the disk" in app.warning[0].value
    assert any(control.label.startswith("Read 1,000") for control in app.button)
