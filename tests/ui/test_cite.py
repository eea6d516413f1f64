"""How to cite what is on the screen."""

import re
from dataclasses import replace
from datetime import date

from ui.cite import Citation

ONE = Citation(
    page="Attention",
    view="All heads",
    models={"org/my_bert": "sha256:cb7d674"},
    version="0.1.0",
    day=date(2026, 11, 26),
    link="https://bert.example.org/attention?text=100%25+sure&layer=3",
)


def fields(bibtex: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+) = \{(.*)\},?$", bibtex, re.MULTILINE))


def test_an_entry_has_model_revision_version_day_and_link() -> None:
    entry = ONE.bibtex()
    assert entry.startswith("@misc{inside-bert-attention-all-heads-2026-11-26,\n")
    assert fields(entry) == {
        "title": "Inside BERT: Attention: All heads",
        "key": "Inside BERT",
        "year": "2026",
        "version": "0.1.0",
        "howpublished": "Inside BERT 0.1.0",
        "note": r"org/my\_bert (revision sha256:cb7d674); computed on 2026-11-26",
        "url": ONE.link,
        "urldate": "2026-11-26",
    }


def test_the_same_as_text() -> None:
    assert ONE.text() == (
        "Inside BERT 0.1.0 (2026). Attention: All heads. Model: org/my_bert (revision sha256:cb7d674). "
        f"Computed on 2026-11-26. {ONE.link}"
    )


def test_nobody_is_sent_to_ones_own_machine() -> None:
    """What restores the view in any copy of the app is there all the same."""
    for host in ("localhost:8501", "127.0.0.1", "[::1]:8501"):
        citation = replace(ONE, link=f"http://{host}/attention?text=100%25+sure&layer=3")
        assert "url" not in fields(citation.bibtex())
        assert fields(citation.bibtex())["note"].endswith(r"in the app: /attention?text=100\%25+sure\&layer=3")
        assert citation.text().endswith("Computed on 2026-11-26, in the app: /attention?text=100%25+sure&layer=3.")
        assert host not in citation.text() + citation.bibtex()


def test_several_models_and_none() -> None:
    two = replace(ONE, models={"a": "1", "b": "2"}, link="")
    assert "Models: a (revision 1), b (revision 2)." in two.text()
    assert replace(ONE, models={}, link="").text() == (
        "Inside BERT 0.1.0 (2026). Attention: All heads. Computed on 2026-11-26."
    )


def test_what_means_something_to_latex_is_written_out() -> None:
    entry = fields(replace(ONE, models={r"C:\a_b~{c}^#$&%": "1"}).bibtex())["note"]
    assert entry.startswith(r"C:\textbackslash{}a\_b\textasciitilde{}\{c\}\textasciicircum{}\#\$\&\% (revision 1)")
