"""Tables of what visitors bring: whole where they fit into one message, else with every text cut, and said so."""

import pandas as pd
import pytest
from on_screen import run_script
from streamlit import config
from streamlit.dataframe_util import convert_pandas_df_to_arrow_bytes

from ui.tables import MOST_TEXT, short


def test_a_table_that_fits_is_left_as_it_is() -> None:
    table = pd.DataFrame({"a": ["x" * 100_000], "p": [0.5]})
    assert short(table) is table


@pytest.mark.parametrize("sign", ["x", "漢", "😀"])
def test_a_list_as_long_as_a_file_may_be_fits_into_one_message(sign: str) -> None:
    text = sign * (480 // len(sign.encode()))
    table = pd.DataFrame({"a": [text] * 10_000, "b": [text] * 10_000, "label": [True] * 5_000 + [None] * 5_000})
    limit = config.get_option("server.maxMessageSize") * 1e6
    assert len(convert_pandas_df_to_arrow_bytes(table)) > limit
    cut = short(table)
    assert len(convert_pandas_df_to_arrow_bytes(cut)) < limit
    share = MOST_TEXT // 30_000 // len(sign.encode())
    assert list(cut.iloc[0])[:2] == [sign * share + "…"] * 2
    assert list(cut["label"]) == list(table["label"])


def test_what_is_cut_is_said() -> None:
    def page(n: int) -> None:
        import pandas as pd

        from ui import tables

        tables.draw(pd.DataFrame({"a": ["x" * n] * 2}))

    def captions(n: int) -> list[str]:
        return [caption.value for caption in run_script(page, n).caption]

    assert captions(10) == []
    assert captions(2_000_000) == ["Texts that end in “…” are cut on this screen alone."]
