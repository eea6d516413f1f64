"""A treebank of one's own on Corpus, from the upload to the question whether a head matters: what is seen is held
against what the engine says of the same sentences."""

import re
from pathlib import Path

from browser.test_attention_page import expect_head
from journeys import choose, expect_view, open_view, step
from on_screen import StartVisit
from playwright.sync_api import Page, expect

from analysis.corpus.reading import read_corpus
from analysis.corpus.relations import Relation, findings
from analysis.probing.template_trees import template_conllu
from evidence.corpus import measure_heads
from model_zoo import Engine

TINY = "embedded/tinybert"
OBJECTS = Relation("obj", "down")


def test_the_head_of_objects_is_found_opened_and_switched_off(
    visit: StartVisit, app_url: str, engine: Engine, tmp_path: Path
) -> None:
    treebank = tmp_path / "own.conllu"
    treebank.write_text(template_conllu(200, seed=5), encoding="utf-8")
    corpus = read_corpus([(treebank.name, treebank.read_bytes())])
    *_, measured = measure_heads(engine, TINY, corpus)
    finding = findings(measured.cases).get(OBJECTS)
    assert finding is not None
    layer, head = (index + 1 for index in measured.head(finding.head))
    n_verbs = len(measured.cases.select(OBJECTS))

    here = visit(height=1400)
    page: Page = here.open(f"{app_url}/corpus?model={TINY}&view=relations")
    with step(here):
        page.get_by_role("button", name="Sentences: built-in").click()
        page.get_by_test_id("stFileUploader").first.locator("input").set_input_files(treebank)
        expect(page.get_by_text(f"{len(corpus)} sentences, ")).to_be_visible()
        page.keyboard.press("Escape")
    with step(here):
        page.get_by_role("button", name=f"Measure {len(corpus)} sentences").click()
        expect(page.get_by_text("the best head with random weights").first).to_be_visible()  # the second of three steps
        expect(page.get_by_role("button", name=f"Measure {len(corpus)} sentences")).to_be_visible()
    with step(here):
        caption = page.get_by_text(
            f"of {finding.n_judged} held-out words, the object is where its verb looks most"
        ).first
        here.until(  # the page is drawn again when the work ends, which closes the list
            lambda: choose(here, "Relation", "obj: verb → object"),
            lambda patience: expect(caption).to_contain_text(f"Layer {layer}, head {head}: in ", timeout=patience),
        )
        share = re.search(r"in (\d+)%", caption.inner_text())
        assert share is not None
        assert int(share[1]) == round(100 * finding.accuracy.share)
    example = page.locator(".examples .row").first
    sentence = example.locator(".sentence").inner_text()
    assert sentence in corpus.texts
    with step(here):
        example.get_by_role("link", name="Attention").click()
        expect(page.get_by_role("heading", name="Attention", exact=True, level=1)).to_be_visible()
        expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(sentence)
        expect_head(page, layer, head)
    with step(here):
        page.go_back()
        expect_view(page, "Relations")
        expect(caption).to_be_visible()
    with step(here):
        page.get_by_role("button", name=f"Open layer {layer}, head {head}").click()
        expect_view(page, "A head")
        expect(page.get_by_text(f"Layer {layer}, head {head}: in ").first).to_be_visible()
    with step(here):
        open_view(page, "Does it matter?")
        expect(page.get_by_role("button", name=f"Switch {layer}.{head} off", exact=True)).to_be_visible()
    with step(here):
        page.get_by_role("button", name=f"Switch {layer}.{head} off", exact=True).click()
        expect(page.get_by_text("Every head: what its gradient predicts")).to_be_visible()
        off = page.get_by_text(f"With layer {layer}, head {head} off, ").first
        expect(off).to_contain_text(f"over {n_verbs} words in ")


ROWS = (("She", "PRON", 2, "nsubj"), ("sees", "VERB", 1, "root"), ("it", "PRON", 0, "obj"))
CYCLE = "".join(
    f"{place}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"
    for place, (form, upos, head, deprel) in enumerate(ROWS, start=1)
)


def test_a_treebank_is_uploaded_and_a_pronoun_opened_on_attention(
    visit: StartVisit, app_url: str, tmp_path: Path
) -> None:
    treebank, broken = tmp_path / "own.conllu", tmp_path / "broken.conllu"
    text = template_conllu(40)
    treebank.write_text(f"{text}{text}{CYCLE}", encoding="utf-8")
    broken.write_text(f"{text}1\tx\n", encoding="utf-8")
    page: Page = visit().open(f"{app_url}/corpus?model=embedded/tinybert&view=coreference")
    page.get_by_role("button", name="Sentences: built-in").click()
    upload = page.get_by_test_id("stFileUploader").first
    upload.locator("input").set_input_files(broken)
    expect(page.get_by_text("2 columns instead of ten").first).to_be_visible()
    upload.get_by_role("button", name="Remove broken.conllu").click()
    expect(page.get_by_text("1,000 sentences").first).to_be_visible()
    upload.locator("input").set_input_files(treebank)
    expect(page.get_by_text("41 sentences, ")).to_be_visible()
    page.keyboard.press("Escape")

    page.get_by_text("How the sentences were read: 2 notes").click()
    expect(page.get_by_text("Left out 40: sentences that had come before").last).to_be_visible()
    expect(page.get_by_text("Without a tree, but with all words, because of a cycle").last).to_be_visible()
    page.get_by_role("button", name="Measure 41 sentences").click()
    expect(page.get_by_text("gives the rarest word of a sentence more of its attention")).to_be_visible()

    pronoun = page.locator(".examples .row").first
    sentence = pronoun.locator(".sentence").inner_text()
    pronoun.get_by_role("link", name="Attention").click()
    expect(page).to_have_url(re.compile("/attention.*locked=query"))
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(sentence)
