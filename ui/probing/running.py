"""Starting a run, stopping it, and watching how far it is."""

from __future__ import annotations

import functools

import streamlit as st

from model_zoo.errors import NotDownloaded
from ui.engine import engine
from ui.messages import as_text, failures_as_messages, fragment
from ui.probing.choice import Choice
from ui.probing.study import Desk, Study

_DESK = "probing desk"
_ASKED = "probing asked for"
_SECONDS_BETWEEN_LOOKS = 1.0


def desk() -> Desk:
    """This visitor's results and run."""
    found: Desk = st.session_state.setdefault(_DESK, Desk())
    return found


def _ask(model: str) -> None:
    """Remembered until it is done: another click while the model is loading starts the page over."""
    st.session_state[_ASKED] = model


def draw(choice: Choice) -> None:
    """The button that runs or stops, and while something runs how far it is."""
    mine = desk()
    if mine.study is not None and mine.running:
        st.button(
            "Stopping …" if mine.study.stopping else "Stop",
            on_click=mine.study.stop,
            disabled=mine.study.stopping,
            icon=":material/stop:",
        )
        fragment(_watch, run_every=_SECONDS_BETWEEN_LOOKS)(mine.study, mine.study.n_ended)
        return
    missing = [key for key in choice.tasks if key not in mine.results]
    label = f"Run {len(missing)} task{'s' if len(missing) != 1 else ''}" if missing else "Run"
    st.button(
        label,
        on_click=_ask,
        args=(choice.model,),
        type="primary",
        disabled=not missing,
        icon=":material/play_arrow:",
    )
    if not choice.tasks:
        st.caption("Choose at least one task above, or bring your own data.")
    elif not missing:
        st.caption("Everything chosen has been run. Other tasks, models or settings can be added; nothing is lost.")
    if missing and st.session_state.get(_ASKED) == choice.model:
        done = True
        with failures_as_messages():
            try:
                with st.spinner("Loading the model …", show_time=True):
                    info = engine().info(choice.model)
            except NotDownloaded:
                done = False  # the run begins by itself when the download has ended
                raise
            encode = functools.partial(engine().iter_hidden_states, choice.model)
            mine.start(info, encode, choice.tasks, choice.titles, choice.settings)
        if done:
            st.session_state[_ASKED] = None
        if mine.running:
            st.rerun()
    else:
        st.session_state[_ASKED] = None
    if mine.study is not None:
        _aftermath(mine.study)


def _watch(study: Study, n_drawn: int) -> None:
    """The progress of each task; the whole page is drawn again as soon as one more has ended."""
    if study.n_ended != n_drawn or not study.running:
        st.rerun()
    standings = {task: study.standing(task) for task in study.tasks}
    share = sum(standing.share for standing in standings.values()) / len(standings)
    st.progress(min(share, 1.0), f"{share:.0%} done, {study.seconds:,.0f} s")
    lines = []
    for task, standing in standings.items():
        right = ", ".join(f"{100 * layer.accuracy:.0f}" for layer in standing.layers)
        so_far = f" · right in the embeddings and layers so far: {right} %" if right else ""
        lines.append(f"- **{as_text(study.titles[task])}**: {standing.words}{so_far}")
    st.markdown("\n".join(lines))
    if study.others:
        st.caption("Other visitors' runs take turns with this one, so it takes longer.")


def _aftermath(study: Study) -> None:
    """What the last run could not do, and why."""
    for task, reason in study.failed.items():
        st.warning(as_text(f"{study.titles[task]}: {reason}"), icon=":material/edit:")
    stopped = [study.titles[task] for task in study.tasks if study.standing(task).words == "stopped"]
    if stopped:
        st.info(
            as_text(
                f"Stopped before {', '.join(stopped)} {'was' if len(stopped) == 1 else 'were'} done. "
                "Nothing that was finished is lost; Run goes on with the rest."
            ),
            icon=":material/stop_circle:",
        )
