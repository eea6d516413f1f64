"""The page "Layers" as its tests use it: run, look at figures and sentences, paste data."""

import json
from collections.abc import Sequence

from on_screen import button
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from jobs import Desk
from jobs.study import Results, Study

PAGE = "pages/layers/page.py"


def last_run(app: AppTest) -> Study | None:
    desk: Desk = app.session_state["desk"]
    return desk.current(Study)


def results_of(app: AppTest) -> Results:
    run = last_run(app)
    assert run is not None
    return run.results


def run(app: AppTest) -> AppTest:
    """Press Run, wait for the end, look again."""
    button(app, "Run").click().run()
    study = last_run(app)
    assert study is not None
    assert study.wait(PATIENCE)
    return app.run()


def figure(app: AppTest, place: int = 0) -> dict[str, object]:
    spec: dict[str, object] = json.loads(app.get("plotly_chart")[place].proto.spec)
    return spec


def written(app: AppTest) -> dict[tuple[float, float], str]:
    """What stands in the cells of the picture: (column, row) -> text, without its bold type."""
    return {
        (a["x"], a["y"]): a["text"].replace("<b>", "").replace("</b>", "") for a in figure(app)["layout"]["annotations"]
    }


def nothing_yet(app: AppTest) -> bool:
    """Whether there is only the place where results will stand."""
    return [chart.key for chart in app.get("plotly_chart")] == ["layers to come"]


VIEWS = ("layers", "curve", "summary", "misclassified", "plane", "similarity", "movement")


ROWS = [(f"sentence number {i} here", "ab"[i % 2]) for i in range(40)]


def table(rows: Sequence[tuple[str, str]], separator: str = ",", header: str = "text,label") -> str:
    return "\n".join([header.replace(",", separator), *(separator.join(row) for row in rows)])


def conllu(n: int, bad: str = "") -> str:
    """Sentences of three words; ``bad`` takes the place of the second word of the first."""
    blocks = []
    for i in range(n):
        words = [("The", "DET", 2), (f"dog{i}", "NOUN", 3), ("barked", "VERB", 0)]
        lines = [f"{k}\t{w}\t_\t{pos}\t_\t_\t{head}\tdep\t_\t_" for k, (w, pos, head) in enumerate(words, start=1)]
        blocks.append("\n".join(lines))
    text = "\n\n".join(blocks) + "\n"
    return text.replace(text.splitlines()[1], bad, 1) if bad else text
