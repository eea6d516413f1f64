"""What hypothesis draws for tests of several packages: texts as people type them, tags, filters of attention."""

from hypothesis import strategies as st

from analysis.filters import DIRECTIONS, Filter

TYPED = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs", "Cc"]),
        st.sampled_from("the cat's [MASK] <mask> [SEP] \t\n 中か हि\u0301👨\u200d👩🏽 ﬁ ½"),
    ),
    min_size=1,
    max_size=30,
).filter(str.strip)

IOB2 = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B-C", "I-B-C"]), max_size=12)
"""Tags of a sentence as a model may give them: an entity need not begin with B-."""

FILTERS = st.builds(
    Filter,
    direction=st.sampled_from(DIRECTIONS),
    hide_special=st.booleans(),
    renormalize=st.booleans(),
    threshold=st.floats(0, 1),
    top_k=st.none() | st.integers(1, 8),
    words=st.booleans(),
)
