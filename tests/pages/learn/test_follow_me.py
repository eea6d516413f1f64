"""A teacher and students in one process: what is shown in a room is what they see, and what they answer is counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from on_screen import prose
from streamlit.testing.v1 import AppTest

from classroom import session as room_session
from classroom import widgets
from classroom.rooms import Display, RoomsUnreachable
from classroom.session import ROOM, LedRoom, Visit, on_browser_report
from classroom.stores import rooms
from classroom.teachers import TEACHERS
from model_zoo.errors import InvalidInput
from pages.learn import teaching
from pages.learn.fields import ANSWERS, LESSON, STEP, drawn
from pages.learn.lesson import Sketch
from pages.learn.lessons import LESSONS
from tests.pages.learn.sentences import SENTENCES
from ui.widgets import HEAD, LAYER, TEXT

Open = Callable[..., AppTest]
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
    assert not app.exception
    return app


@pytest.fixture
def code(teacher: AppTest) -> str:
    return led_by(teacher).code


@pytest.fixture
def student(code: str, open_page: Open) -> AppTest:
    return open_page(PAGE, room=code)


def test_a_student_sees_what_the_teacher_shows(teacher: AppTest, student: AppTest, code: str) -> None:
    assert f"You are in room **{code}**" in prose(student)
    assert "1. Words and pieces" in [element.value for element in student.header]
    assert not student.text_area
    assert not [element for element in student.button if element.key in ("step-on", "step-back", "show-me")]
    teacher.text_area[0].set_value(BUT).run()
    teacher.button(key="step-on").click().run()
    student.run()
    assert student.session_state[TEXT.key] == BUT
    assert student.header[0].value.startswith("2. ")
    assert student.query_params == {"room": code, "lesson": "pieces", "step": "2"} | {
        name: value for name, value in student.query_params.items() if name in ("text", "model", "layer", "head")
    }
    teacher.button(key="map heads").click().run()
    teacher.number_input(key=LAYER.key).set_value(3).run()
    student.run()
    assert student.session_state[LESSON.key] == "head"
    assert student.session_state[LAYER.key] == 3
    assert "layer 3" in prose(student)
    assert not student.exception
    teacher.button(key="step-out").click().run()
    student.run()
    assert not student.header
    assert "No lesson is open" in prose(student)


def test_answers_are_counted_and_held_back(teacher: AppTest, student: AppTest, code: str, open_page: Open) -> None:
    assert not is_open(teacher)  # what was answered before the room is put aside
    other = open_page(PAGE, room=code)
    options(student)[1].click().run()
    options(other)[0].click().run()
    options(other)[1].click().run()
    assert "Recorded." in prose(student)
    assert chosen(student) == [1]
    assert not is_open(student)
    assert ANSWERS.name not in student.query_params
    teacher.run()
    assert "2 answers from 2 students in the room." in prose(teacher)
    assert dict(rooms().see(code).counts) == {"2": 2}
    teacher.button(key="show-me").click().run()
    assert is_open(teacher)
    student.run()
    assert is_open(student)
    assert chosen(student) == [1]
    assert student.session_state[ANSWERS.key] == ("pieces.1.2",)
    options(student)[0].click().run()  # to read what is said to it
    assert chosen(student) == [0]
    late = open_page(PAGE, room=code)
    assert is_open(late)
    assert dict(rooms().see(code).counts) == {"2": 2}
    teacher.button(key="ask-again").click().run()
    student.run()
    assert not is_open(student)
    assert chosen(student) == []
    assert "0 answers from" in prose(teacher)


def test_another_sentence_is_another_question(teacher: AppTest, student: AppTest, code: str) -> None:
    options(student)[0].click().run()
    teacher.text_area[0].set_value(SING).run()
    student.run()
    assert chosen(student) == []
    assert "Recorded." not in prose(student)
    assert dict(rooms().see(code).counts) == {}


def test_drawings_are_counted_with_their_mean(
    teacher: AppTest, code: str, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, place, question = next(
        (lesson.name, place, sketch)
        for lesson in LESSONS.values()
        for place, step in enumerate(lesson.steps, start=1)
        for sketch in [step(teaching_case(lesson.name)).ask()]
        if isinstance(sketch, Sketch)
    )
    monkeypatch.setattr(teaching.fields, "own_sentence", lambda: True)
    teacher.session_state[LESSON.key], teacher.session_state[STEP.key] = name, place
    teacher.run()
    student = open_page(PAGE, room=code)
    assert not student.exception
    n = len(question.labels)
    for visitor, height in (("one", 0.0), ("two", question.top)):
        rooms().answer(code, visitor, f"{name}.{place}", drawn([height] * n, question.top))
    teacher.run()
    assert "2 answers from 1 student in the room." in prose(teacher)
    assert not any("class mean" in element.proto.spec for element in teacher.get("plotly_chart"))
    teacher.button(key="show-votes").click().run()
    (figure,) = (element for element in teacher.get("plotly_chart") if "class mean" in element.proto.spec)
    assert "what the class drew" in figure.proto.id


def teaching_case(lesson: str) -> Any:
    from pages.learn.case import Case

    text, pair = LESSONS[lesson].examples[0]
    return Case("embedded/bert", text, pair or None)


def test_who_leaves_goes_on_alone(teacher: AppTest, student: AppTest) -> None:
    labelled(student, "Leave").click().run()
    assert ROOM.name not in student.query_params
    assert student.text_area[0].value == CAT
    teacher.button(key="step-on").click().run()
    student.run()
    assert student.header[0].value.startswith("1. ")
    assert "You follow" not in prose(student)


def test_a_room_that_has_ended_lets_go(teacher: AppTest, student: AppTest, code: str) -> None:
    assert teacher.session_state[ANSWERS.key] == ()
    options(teacher)[0].click().run()
    teacher.button(key="step-on").click().run()
    labelled(teacher, "End the room").click().run()
    assert teacher.session_state[ANSWERS.key] == ("pieces.1.1",)
    assert [element for element in teacher.button if element.label == "Start a room"]
    student.run()
    assert [f"There is no room “{code}”" in element.value for element in student.toast] == [True]
    assert ROOM.name not in student.query_params
    student.run()
    assert not student.toast
    assert student.text_area


def test_a_room_that_was_forgotten_lets_its_teacher_go(teacher: AppTest, code: str) -> None:
    mine = led_by(teacher)
    rooms().end(code, mine.key)
    teacher.run()
    assert [f"Your room {code} has ended" in element.value for element in teacher.toast] == [True]
    assert teacher.session_state[ANSWERS.key] == ("pieces.1.1",)
    assert not teacher.exception


@pytest.mark.parametrize("entered", ["AAAAA", "K7Q", "<b>", "aaaaa"])
def test_a_wrong_code_is_a_sentence(entered: str, open_page: Open) -> None:
    app = open_page(PAGE, lesson="pieces", room=entered)
    assert not app.exception
    assert len(app.toast) + len(app.warning) == 1
    assert app.text_area
    typed = open_page(PAGE)
    typed.text_input[0].set_value(entered)
    labelled(typed, "Join").click().run()
    assert len(typed.toast) == 1
    assert typed.text_input[0].value == entered, "to be put right"


def test_a_code_is_typed(code: str, open_page: Open) -> None:
    app = open_page(PAGE)
    app.text_input[0].set_value(f" {code.lower()} ")
    labelled(app, "Join").click().run()
    assert f"You are in room **{code}**" in prose(app)
    assert app.query_params[ROOM.name] == code


def test_a_teacher_does_not_follow_the_own_room(teacher: AppTest, code: str) -> None:
    teacher.session_state[ROOM.key] = code
    teacher.run()
    assert "You follow" not in prose(teacher)
    assert f"**{code}**" in prose(teacher)


def test_a_look_draws_the_page_again_when_there_is_something_else(
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


def bars(app: AppTest) -> list[str]:
    """What the bars beside the options say."""
    return [
        match
        for element in app.get("html")
        for match in re.findall(r'class="count".*?aria-label="([^"]*)"', element.proto.body)
    ]


def test_votes_are_seen_when_the_teacher_shows_them(teacher: AppTest, student: AppTest, code: str) -> None:
    options(student)[1].click().run()
    teacher.run()
    assert bars(teacher) == bars(student) == []
    assert "1 answer so far." in prose(student)
    teacher.button(key="show-votes").click().run()
    student.run()
    assert bars(teacher) == bars(student) == ["0 of 1 answer", "1 of 1 answer", "0 of 1 answer", "0 of 1 answer"]
    assert not is_open(student)
    teacher.button(key="step-on").click().run()
    teacher.button(key="step-back").click().run()
    student.run()
    assert bars(teacher) == bars(student) == []
    assert rooms().see(code).counts == {"2": 1}


def test_a_teacher_who_comes_back_leads_on(teacher: AppTest, student: AppTest, code: str, open_page: Open) -> None:
    options(student)[1].click().run()
    teacher.button(key="show-me").click().run()
    teacher.button(key="step-on").click().run()
    ticket = led_by(teacher).ticket
    again = come_back(open_page(PAGE, answers="pieces.1.1,head.1.1"), ticket)  # on another device
    assert again.header[0].value.startswith("2. ")
    assert f"**{code}**" in prose(again)
    assert again.session_state[ANSWERS.key] == ("pieces.1.x",), "what the room has revealed, and nothing else"
    assert code not in str(again.query_params)
    again.button(key="step-on").click().run()
    student.run()
    assert student.header[0].value.startswith("3. ")
    visit_of(teacher).syncing = True  # as its look finds
    teacher.run()
    assert teacher.header[0].value.startswith("3. ")
    teacher.button(key="step-back").click().run()
    student.run()
    assert student.header[0].value.startswith("2. ")
    labelled(again, "End the room").click().run()
    assert set(again.session_state[ANSWERS.key]) == {"pieces.1.x", "head.1.1"}
    teacher.run()
    assert [f"Your room {code} has ended" in element.value for element in teacher.toast] == [True]


def test_a_click_comes_before_what_the_room_shows(teacher: AppTest, code: str, open_page: Open) -> None:
    """Also of a teacher whose browser has just come back, and whose page has not shown anything yet."""
    again = open_page(PAGE, lesson="pieces", step="2")
    ticket = led_by(teacher).ticket
    visit_of(again).led, visit_of(again).syncing = LedRoom(*ticket.split(".")), True
    again.button(key="step-on").click().run()
    assert again.header[0].value.startswith("3. ")
    display = rooms().see(code).display
    assert display is not None
    assert display.question == "pieces.3"


def come_back(app: AppTest, ticket: str) -> AppTest:
    """The page after its browser has told of a room that it led."""
    visit_of(app).led, visit_of(app).syncing = LedRoom(*ticket.split(".")), True
    return app.run()


def test_what_a_browser_reports_may_be_anything(code: str, teacher: AppTest, session: Visit) -> None:
    key, name = led_by(teacher).key, session.visitor
    for anything in (None, [], "x", {"lead": 3}, {"lead": "AAAAA.x"}, {"lead": f"{code}.{key}x"}, {"visitor": "<b>"}):
        on_browser_report(anything)
        assert (session.led, session.visitor) == (None, name), anything
    on_browser_report({"offer": f"{code}.{key}"})
    assert session.offered == f"{code}.{key}"
    assert session.led is None, "another tab may lead it"
    on_browser_report({"lead": f"{code}.{key}", "visitor": "0123456789abcdef"})
    assert session.led is not None
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


def test_a_visitor_has_one_room(teacher: AppTest, code: str, open_page: Open) -> None:
    """The browser tells another tab, or a session after this one, of the room that was started in it."""
    ticket = led_by(teacher).ticket
    again = open_page(PAGE)
    visit_of(again).started = LedRoom(*ticket.split("."))
    labelled(again, "Start a room").click().run()  # before the visitor was asked
    assert is_open_room(code)
    labels = [button.label for button in again.button]
    assert "Start a room" not in labels
    assert f"Lead room {code} again" in labels
    assert f"ends room **{code}**" in prose(again)
    labelled(again, f"End room {code} and start a new one").click().run()
    assert not is_open_room(code)
    new = led_by(again).code
    assert is_open_room(new)
    labelled(again, "End the room").click().run()
    assert "Start a room" in [button.label for button in again.button]


def test_a_program_has_one_room(session: Visit) -> None:
    """Whatever it presses and tells: buttons that are gone, rooms that others have started."""
    theirs = rooms().open()
    opened: set[str] = set()
    for number in range(6):
        room_session.start(session.started if number % 2 else None)
        assert session.led is not None
        opened.add(session.led.code)
        on_browser_report({"lead": ".".join(theirs), "offer": ".".join(theirs)})
        on_browser_report({"lead": ".".join((*theirs, "shared"))})
    assert len(opened) > 3
    assert sum(map(is_open_room, opened - {theirs[0]})) == 1
    assert is_open_room(theirs[0])
    rooms().end(*theirs)


def test_who_came_by_a_key_link_starts_a_room_of_the_own(teacher: AppTest, code: str, session: Visit) -> None:
    on_browser_report({"lead": led_by(teacher).link})
    mine = session.led
    assert mine is not None
    assert (mine.code, mine.shared, session.started) == (code, True, None)
    on_browser_report({"lead": mine.ticket})  # by the browser, after a reload
    assert session.led is not None
    assert session.led.shared
    room_session.start(None)
    assert is_open_room(code)
    assert session.led.code != code


@pytest.mark.parametrize(
    "ticket", ["\ud800.k", "AAAAA.\ud800", "<b>.k", "A" * 10_000 + ".k", "AAAAA", ".", "AAAAA.k\n"]
)
def test_a_ticket_that_is_none_is_a_sentence(ticket: str, code: str, session: Visit) -> None:
    for ticket_sent in (ticket, ticket.replace("AAAAA", code)):
        on_browser_report({"lead": ticket_sent, "offer": ticket_sent, "visitor": ticket_sent})
        assert "no such room" in session.message
        assert (session.led, session.offered, session.ended) == (None, "", ())


def test_a_code_is_typed_with_what_cannot_be_seen(code: str, open_page: Open) -> None:
    app = open_page(PAGE)
    app.text_input[0].set_value(f"\u202e{code.lower()}\u200b\u2069\0")
    labelled(app, "Join").click().run()
    assert f"You are in room **{code}**" in prose(app)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)//",
        "http://[::1",
        "http://a:99999/",
        "http://" + "a" * 5_000,
        "http://<img src=x>/",
        "http://\u202ea/",
        "http://a\0b:80/",
        "data:text/html,<script>",
        "http://:80/",
    ],
)
def test_an_address_that_a_browser_makes_up_is_none(
    url: str, teacher: AppTest, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(widgets.st.context), "url", url)
    teacher.run()
    assert not teacher.exception
    assert not teacher.error
    assert widgets._browser_url() == ""
    assert f"/learn?room={code}" in prose(teacher)


def test_the_picture_of_a_link_is_a_picture() -> None:
    for link in ('"><script>alert(1)</script>', "\u202e\0 javascript:alert(1)", "ü" * 400):
        picture = widgets._qr(link)
        assert picture.startswith("data:image/svg+xml")
        assert not set('"<>') & set(picture)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://bert.example.org/learn", "https://bert.example.org/"),
        ("http://[2001:db8::1]:8501/", "http://[2001:db8::1]:8501/"),
        ("", "/"),
    ],
)
def test_students_are_given_the_address_that_the_teacher_has(url: str, base: str) -> None:
    assert widgets._base(url) == base


def test_students_follow_to_another_page(teacher: AppTest, student: AppTest, code: str) -> None:
    teacher.switch_page("pages/attention/page.py").run()
    assert f"Room {code}" in [element.proto.popover.label for element in teacher.get("popover")]
    teacher.number_input(key=LAYER.key).set_value(3).run()
    student.run()
    assert [element.value for element in student.title] == ["Attention"]
    assert student.session_state[LAYER.key] == 3
    assert f"You are in room **{code}**" in prose(student)
    student.switch_page("pages/attention/page.py")  # where a browser is by now
    student.number_input(key=LAYER.key).set_value(5).run()
    assert student.session_state[LAYER.key] == 5, "until the teacher shows something else one can look around"
    teacher.number_input(key=HEAD.key).set_value(2).run()
    student.run()
    assert (student.session_state[LAYER.key], student.session_state[HEAD.key]) == (3, 2)
    teacher.switch_page(PAGE).run()
    student.run()
    assert student.header[0].value.startswith("1. ")
    assert not student.exception


def test_students_are_told_when_nobody_leads(
    teacher: AppTest, student: AppTest, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TEACHERS, "_note", lambda *_: None)  # to which every session of a test is connected
    visitor = visit_of(teacher).visitor
    rooms().note_present(code, visitor, teaches=True)
    student.run()
    assert "Your teacher has left" not in prose(student)
    rooms().note_left(code, visitor, teaches=True)
    student.run()
    assert "Your teacher has left; you can go on by yourself" in prose(student)
    rooms().note_present(code, visitor, teaches=True)
    student.run()
    assert [element.value for element in student.toast] == ["Your teacher is here."]


def test_rooms_that_cannot_be_reached_are_a_sentence(
    teacher: AppTest, student: AppTest, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_code: str) -> None:
        raise RoomsUnreachable("The server that keeps the rooms does not answer. The app tries again by itself.")

    monkeypatch.setattr(rooms()._store, "read", read)
    for app in (teacher, student):
        app.run()
        assert not app.exception
        assert ["does not answer" in element.value for element in app.toast] == [True]
        assert app.header[0].value.startswith("1. ")
    monkeypatch.undo()
    student.run()
    assert not student.toast
    assert f"You are in room **{code}**" in prose(student)
