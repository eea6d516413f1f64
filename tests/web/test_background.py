"""A visitor's jobs on the screen: they end with the visit."""

from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from web.background import VISITS


def test_jobs_end_with_the_visit() -> None:
    def page() -> None:
        import streamlit as st
        from gated import Endless

        from web.background import desk

        st.session_state["job"] = Endless()
        desk().start(st.session_state["job"])

    app = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not app.exception
    job = app.session_state["job"]
    assert job.running
    assert not job.stopping
    VISITS.close()
    assert job.wait(PATIENCE)


def test_jobs_of_two_kinds_are_stopped_one_by_one() -> None:
    """On the page "Train" two trainings can be at work."""

    def page() -> None:
        import streamlit as st
        from gated import Endless

        from ui.work import watch
        from web.background import desk

        class Other(Endless):
            pass

        if "jobs" not in st.session_state:
            st.session_state["jobs"] = [Endless(), Other()]
            for job in st.session_state["jobs"]:
                desk().start(job)
        for job in st.session_state["jobs"]:
            if job.running:
                watch(job)

    app = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not app.exception
    first, other = app.session_state["jobs"]
    app.button(key="stop Other").click().run()
    assert not app.exception
    assert other.wait(PATIENCE)
    assert not first.stopping
    first.stop()
    assert first.wait(PATIENCE)
