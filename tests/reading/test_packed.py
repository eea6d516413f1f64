"""Many items in little memory, each equal to what was put in."""

import pickle
import tracemalloc

import pytest

from reading import read
from reading.packed import Packed

EACH = [("a text", None, n) for n in range(150)]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 150])
def test_what_is_packed_is_a_sequence_of_the_same(n: int) -> None:
    packed = Packed[tuple[str, None, int]]()
    for value in EACH[:n]:
        packed.append(value)
    assert (len(packed), list(packed), packed[:], packed[1:70:3]) == (
        n,
        EACH[:n],
        tuple(EACH[:n]),
        tuple(EACH[1:n:3][:23]),
    )
    assert [packed[place] for place in range(n)] == [packed[place - n] for place in range(n)] == EACH[:n]
    assert packed == EACH[:n] == pickle.loads(pickle.dumps(packed))
    assert packed != [*EACH[:n], ()]
    with pytest.raises(IndexError):
        packed[n]
    assert list(packed.drain()) == EACH[:n]
    assert len(packed) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "row", "begin", "between", "end"),
    [
        ("labelled", "a.tsv", "so many words in a short text {n}\t1", "text\tlabel\n", "\n", "\n"),
        ("labelled", "a.json", '{{"text": "so many words in a short text {n}", "label": 1}}', "[", ", ", "]"),
        ("scored", "a.csv", "a short text {n},another one,2.5", "text1,text2,score\n", "\n", "\n"),
        ("trees", "a.conllu", "1\tword{n}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n", "", "\n", "\n"),
    ],
)
def test_of_short_rows_a_longer_file_takes_twice_its_length_more_beside_itself(
    kind: str, name: str, row: str, begin: str, between: str, end: str
) -> None:
    def most(n: int) -> tuple[int, int]:
        data = (begin + between.join(row.format(n=n) for n in range(n)) + end).encode()
        tracemalloc.start()
        try:
            assert len(read(data, kind, name=name).items) == n
            return len(data), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (small, of_small), (large, of_large) = most(16_000), most(40_000)  # the beginning of a file is held besides
    assert of_large - of_small < 2 * (large - small)
