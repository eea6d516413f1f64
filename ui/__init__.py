"""What the pages share, of which they import from here what nearly every view needs."""

import look_inside_bert
from ui.appearance import is_dark
from ui.examples import Example, Examples, read_examples
from ui.field import (
    HEADS,
    MODELS,
    SHARE,
    SWITCH,
    Codec,
    Field,
    count,
    names,
    number,
    one_of,
    optional,
    pattern,
    place,
    places,
    within,
)
from ui.lesson_links import LessonLink, read_lesson_links
from ui.messages import (
    as_text,
    ask_for,
    caption,
    failures_as_messages,
    fragment,
    join_names,
    make_distinct,
    note,
    number_repeats,
    say,
    say_cut,
)
from ui.page import Mention, Need, Page, View, lacking, run, view_field, views_of
from ui.widgets import HEAD, LAYER, MASK, MASKS, MODEL, PAIR, TEXT, page_link
from ui.work import start_button, watch
