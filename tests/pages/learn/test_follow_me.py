"""A teacher and students in one process: what is shown in a room is what they see, and what they answer is counted."""

from dataclasses import replace
from typing import Any

import pytest
from on_screen import Open, prose
from streamlit.testing.v1 import AppTest

from classroom import session as room_session
from classroom import widgets
from classroom.rooms import Display, RoomsUnreachable
from classroom.session import ROOM, LedRoom, Visit, on_browser_report
from classroom.stores import rooms
from model_zoo.errors import InvalidInput
from pages.learn import teaching
from pages.learn.fields import ANSWERS, LESSON, STEP, drawn
from pages.learn.lesson import Sketch
from pages.learn.lessons import LESSONS
from tests.pages.learn.sentences import SENTENCES, cases

PAGE = "pages/learn/page.py"
CAT, BUT, SING = SENTENCES


def labelled(app: AppTest, label: str) -> Any:
    return next(button for button in app.button if button.label == label)


def options(app: AppTest) -> list[Any]:
    return [button for button in app.button if str(button.key).startswith("option ")]


def is_open(app: AppTest) -> bool:
    """Whether the page gives the answer away."""
    return "**Why?**" in prose(app) or any(element.icon for element in options(app))


def chosen(app: AppTest) -> list[int]:
    """What is filled, and after the answer what is called one's own."""
    filled = [element.proto.type == "primary" and not element.icon for element in options(app)]
    return [place for place, element in enumerate(options(app)) if filled[place] or "your answer" in element.label]


def visit_of(app: AppTest) -> Visit:
    visit: Visit = app.session_state["classroom"]
    return visit


def led_by(app: AppTest) -> LedRoom:
    led = visit_of(app).led
    assert led is not None
    return led


@pytest.fixture
def teacher(open_page: Open) -> AppTest:
    app = open_page(PAGE, lesson="pieces", text=CAT, answers="pieces.1.1")
    labelled(app, "Start a room").click().run()
    return app


@pytest.fixture
def code(teacher: AppTest) -> str:
    return led_by(teacher).code


@pytest.fixture
def student(code: str, open_page: Open) -> AppTest:
    return open_page(PAGE, room=code)


def test_drawings_have_a_mean(teacher: AppTest, code: str, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    name, place, question = next(
        (lesson.name, place, sketch)
        for lesson in LESSONS.values()
        for place, step in enumerate(lesson.steps, start=1)
        for sketch in [step(cases(lesson)[0]).ask()]
        if isinstance(sketch, Sketch)
    )
    monkeypatch.setattr(teaching.fields, "own_sentence", lambda: True)
    teacher.session_state[LESSON.key], teacher.session_state[STEP.key] = name, place
    teacher.run()
    open_page(PAGE, room=code)
    n = len(question.labels)
    for visitor, height in (("one", 0.0), ("two", question.top)):
        rooms().answer(code, visitor, f"{name}.{place}", drawn([height] * n, question.top))
    teacher.run()
    assert "2 answers from 1 student in the room." in prose(teacher)
    assert not any("class mean" in element.proto.spec for element in teacher.get("plotly_chart"))
    teacher.button(key="show-votes").click().run()
    (figure,) = (element for element in teacher.get("plotly_chart") if "class mean" in element.proto.spec)
    assert "what the class drew" in figure.proto.id


def test_rooms_that_have_ended_let_go(teacher: AppTest, code: str) -> None:
    teacher.session_state[ROOM.key] = code
    teacher.run()
    assert "You follow" not in prose(teacher)
    assert f"**{code}**" in prose(teacher)

    assert teacher.session_state[ANSWERS.key] == ()
    options(teacher)[0].click().run()
    teacher.button(key="step-on").click().run()
    labelled(teacher, "End the room").click().run()
    assert teacher.session_state[ANSWERS.key] == ("pieces.1.1",)
    assert [element for element in teacher.button if element.label == "Start a room"]

    labelled(teacher, "Start a room").click().run()
    code = led_by(teacher).code
    rooms().end(code, led_by(teacher).key)  # as one that was forgotten
    teacher.run()
    assert [f"Your room {code} has ended" in element.value for element in teacher.toast] == [True]
    assert teacher.session_state[ANSWERS.key] == ("pieces.1.1",)


def test_a_look_draws_what_is_new(
    teacher: AppTest, student: AppTest, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rooms().see(code)
    rerun: list[bool] = []
    monkeypatch.setattr(widgets.st, "rerun", lambda: rerun.append(True))
    widgets._look(code, before)
    options(student)[0].click().run()
    widgets._look(code, before)  # votes are not seen: another one is nothing to draw
    assert not rerun
    widgets._look(code, replace(before, version=before.version - 1))
    assert rerun
    rerun.clear()
    teacher.button(key="show-votes").click().run()
    widgets._look(code, replace(rooms().see(code), counts={}))
    assert rerun
    rooms().end(code, led_by(teacher).key)
    with pytest.raises(InvalidInput):  # which draws the page again: it lets go
        widgets._look(code, before)


def test_a_click_comes_before_what_the_room_shows(teacher: AppTest, code: str, open_page: Open) -> None:
    """Also of a teacher whose browser has just come back, and whose page has not shown anything yet."""
    again = open_page(PAGE, lesson="pieces", step="2")
    ticket = led_by(teacher).ticket
    visit_of(again).led, visit_of(again).syncing = LedRoom(*ticket.split(".")), True
    again.button(key="step-on").click().run()
    assert again.header[0].value.startswith("3. ")
    display = rooms().see(code).display
    assert display.question == "pieces.3"


def come_back(app: AppTest, ticket: str) -> AppTest:
    """The page after its browser has told of a room that it led."""
    visit_of(app).led, visit_of(app).syncing = LedRoom(*ticket.split(".")), True
    return app.run()


def test_a_ticket_that_is_none_is_a_sentence(code: str, teacher: AppTest, session: Visit) -> None:
    for ticket in ("\ud800.k", "AAAAA.\ud800", "<b>.k", "A" * 10_000 + ".k", "AAAAA", ".", "AAAAA.k\n"):
        for ticket_sent in (ticket, ticket.replace("AAAAA", code)):
            on_browser_report({"lead": ticket_sent, "offer": ticket_sent, "visitor": ticket_sent})
            assert "no such room" in session.message
            assert (session.led, session.offered, session.ended) == (None, "", ())

    key, name = led_by(teacher).key, session.visitor
    for anything in (None, [], "x", {"lead": 3}, {"lead": "AAAAA.x"}, {"lead": f"{code}.{key}x"}, {"visitor": "<b>"}):
        on_browser_report(anything)
        assert (session.led, session.visitor) == (None, name), anything
    on_browser_report({"offer": f"{code}.{key}"})
    assert session.offered == f"{code}.{key}"
    assert session.led is None, "another tab may lead it"
    on_browser_report({"lead": f"{code}.{key}", "visitor": "0123456789abcdef"})
    assert (session.led.code, session.visitor) == (code, "0123456789abcdef")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Visit:
    """That of a visitor whose browser is a program."""
    visit = Visit()
    monkeypatch.setattr(widgets.st, "session_state", {"classroom": visit})
    return visit


def test_a_connection_has_one_answer_whatever_it_calls_itself(session: Visit) -> None:
    """Also one that tells another name outside of the room, or in another one."""
    codes = {}
    for _ in range(2):
        code, key = rooms().open()
        rooms().show(code, key, Display("learn", {}, "pieces.1"))
        codes[code] = key
    for number in range(24):
        for code in codes:
            ROOM.value = code
            room_session.answer("pieces.1", str(1 + number % 2))
        ROOM.value = [*codes, ""][number % 3]
        on_browser_report({"visitor": f"{number:016x}"})
        assert [sum(rooms().see(code).counts.values()) for code in codes] == [0, 0]
    ROOM.value = code
    room_session.answer("pieces.1", "1")
    on_browser_report({"visitor": session.visitor})  # which is no other name
    assert dict(rooms().see(code).counts) == {"1": 1}
    for code_and_name in codes.items():
        rooms().end(*code_and_name)


def is_open_room(code: str) -> bool:
    try:
        rooms().see(code)
    except InvalidInput:
        return False
    return True


def test_who_came_by_a_key_link_starts_a_room_of_the_own(teacher: AppTest, code: str, session: Visit) -> None:
    on_browser_report({"lead": led_by(teacher).link})
    mine = session.led
    assert (mine.code, mine.shared, session.started) == (code, True, None)
    on_browser_report({"lead": mine.ticket})  # by the browser, after a reload
    assert session.led.shared
    room_session.start(None)
    assert is_open_room(code)
    assert session.led.code != code


def test_rooms_out_of_reach(teacher: AppTest, student: AppTest, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_code: str) -> None:
        raise RoomsUnreachable("The server that keeps the rooms does not answer. The app tries again by itself.")

    monkeypatch.setattr(rooms()._store, "read", read)
    for app in (teacher, student):
        app.run()
        assert ["does not answer" in element.value for element in app.toast] == [True]
        assert app.header[0].value.startswith("1. ")
    monkeypatch.undo()
    student.run()
    assert not student.toast
    assert f"You are in room **{code}**" in prose(student)


def test_answers_are_held_back_and_asked_anew(teacher: AppTest, student: AppTest, code: str, open_page: Open) -> None:
    assert not is_open(teacher)  # what was answered before the room is put aside
    options(student)[1].click().run()
    assert chosen(student) == [1]
    assert ANSWERS.name not in student.query_params
    teacher.button(key="show-me").click().run()
    student.run()
    assert is_open(student)
    assert student.session_state[ANSWERS.key] == ("pieces.1.2",)
    options(student)[0].click().run()  # to read what is said to it
    assert chosen(student) == [0]
    assert is_open(open_page(PAGE, room=code)), "who comes late"
    assert dict(rooms().see(code).counts) == {"2": 1}
    teacher.button(key="ask-again").click().run()
    student.run()
    assert not is_open(student)
    assert chosen(student) == []
    assert "0 answers from" in prose(teacher)


def test_a_wrong_code_is_a_sentence(code: str, open_page: Open) -> None:
    for entered in ("AAAAA", "K7Q", "<b>", "aaaaa"):
        app = open_page(PAGE, lesson="pieces", room=entered)
        assert len(app.toast) + len(app.warning) == 1
        assert app.text_area
    app = open_page(PAGE)
    app.text_input[0].set_value(entered)
    labelled(app, "Join").click().run()
    assert len(app.toast) == 1
    assert app.text_input[0].value == entered, "to be put right"
    app.text_input[0].set_value(f"\u202e{code.lower()}\u200b\u2069\0")  # with what cannot be seen
    labelled(app, "Join").click().run()
    assert f"You are in room **{code}**" in prose(app)


def test_a_teacher_who_comes_back_leads_on(teacher: AppTest, student: AppTest, code: str, open_page: Open) -> None:
    options(student)[1].click().run()
    teacher.button(key="show-me").click().run()
    teacher.button(key="step-on").click().run()
    again = come_back(open_page(PAGE, answers="pieces.1.1,head.1.1"), led_by(teacher).ticket)  # on another device
    assert again.header[0].value.startswith("2. ")
    assert f"**{code}**" in prose(again)
    assert again.session_state[ANSWERS.key] == ("pieces.1.x",), "what the room has revealed, and nothing else"
    assert code not in str(again.query_params)
    again.button(key="step-on").click().run()
    visit_of(teacher).syncing = True  # as its look finds
    teacher.run()
    assert teacher.header[0].value.startswith("3. ")
    labelled(again, "End the room").click().run()
    assert set(again.session_state[ANSWERS.key]) == {"pieces.1.x", "head.1.1"}
    teacher.run()
    assert [f"Your room {code} has ended" in element.value for element in teacher.toast] == [True]


def test_a_visitor_has_one_room(teacher: AppTest, code: str, open_page: Open) -> None:
    """The browser tells another tab, or a session after this one, of the room that was started in it."""
    again = open_page(PAGE)
    visit_of(again).started = LedRoom(*led_by(teacher).ticket.split("."))
    labelled(again, "Start a room").click().run()  # before the visitor was asked
    assert is_open_room(code)
    labels = [button.label for button in again.button]
    assert "Start a room" not in labels
    assert f"Lead room {code} again" in labels
    labelled(again, f"End room {code} and start a new one").click().run()
    assert not is_open_room(code)
    assert is_open_room(led_by(again).code)


def test_a_program_has_one_room(session: Visit) -> None:
    """Whatever it presses and tells: buttons that are gone, rooms that others have started."""
    theirs = rooms().open()
    opened: set[str] = set()
    for number in range(6):
        room_session.start(session.started if number % 2 else None)
        opened.add(session.led.code)
        on_browser_report({"lead": ".".join(theirs), "offer": ".".join(theirs)})
        on_browser_report({"lead": ".".join((*theirs, "shared"))})
    assert len(opened) > 3
    assert sum(map(is_open_room, opened - {theirs[0]})) == 1
    assert is_open_room(theirs[0])
    rooms().end(*theirs)


def test_an_address_that_is_made_up_is_none(teacher: AppTest, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("a:99999/", "a" * 5_000, "<img src=x>/", "\u202ea/", "a\0b:80/", ":80/", "[::1"):
        monkeypatch.setattr(type(widgets.st.context), "url", f"http://{host}")
        assert widgets._browser_url() == "", host
    for url in ("javascript:alert(1)//", "data:text/html,<script>"):
        monkeypatch.setattr(type(widgets.st.context), "url", url)
        assert widgets._browser_url() == "", url
    teacher.run()
    assert not teacher.error
    assert f"/learn?room={code}" in prose(teacher)
    for link in ('"><script>alert(1)</script>', "\u202e\0 javascript:alert(1)", "ü" * 400):
        picture = widgets._qr(link)
        assert picture.startswith("data:image/svg+xml")
        assert not set('"<>') & set(picture)
    assert widgets._base("https://bert.example.org/learn") == "https://bert.example.org/"
    assert widgets._base("http://[2001:db8::1]:8501/") == "http://[2001:db8::1]:8501/"
    assert widgets._base("") == "/"
