"""What the entailment set is written from: frames, in which something is so of one, is not so of another and is left
open of a third, and the words that fill their slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from training.finetuning.data import SPLITS, Split
from training.finetuning.writing import blocks


@dataclass(frozen=True, slots=True)
class Frame:
    """Premises, and two hypotheses, each with a slot {x}. Filled with a premise's {x}, the ``affirmative`` one is true;
    with its {y}, the ``negative`` one; with its {z}, neither is known.

    {x}, {y} and {z} are of the pool ``of``; {a}, {b}, ... are the words of one entry of each of ``slots``, which names
    pools; {v} and {w} are other people; {low}, {mid} and {high} are numbers that rise.
    """

    phenomenon: str
    of: str
    slots: tuple[str, ...]
    premises: tuple[str, ...]
    affirmative: str
    negative: str


def _read(name: str) -> tuple[Frame, ...]:
    """The frames of a file. A block of it is: phenomenon | pool of {x}, {y}, {z} | pools of the slots; premises, a line
    each; the affirmative hypothesis; the negative one.
    """
    frames = []
    for head, *premises, affirmative, negative in blocks(__file__, name):
        phenomenon, of, *slots = (field.strip() for field in head.split("|"))
        frames.append(Frame(phenomenon, of, tuple(" ".join(slots).split()), tuple(premises), affirmative, negative))
    return tuple(frames)


FRAMES: Final[Mapping[Split, tuple[Frame, ...]]] = {split: _read(f"of_three_{split}") for split in SPLITS}
"""Frames that tell of three people or things."""

FRAMES_OF_ONE: Final[Mapping[Split, tuple[Frame, ...]]] = {split: _read(f"of_one_{split}") for split in SPLITS}
"""Frames that tell of one: of three things {x} is so, {y} is not so, and {z} is left open.

Each has two premises: in the first {x} stands before {y}, in the second {y} before {x}; one of them mentions {z}, the
other does not. So neither who comes first nor what is mentioned gives the answer away.
"""

POOLS: Final[Mapping[Split, Mapping[str, str]]] = {
    "train": {
        "names": "Anna, Peter, Maria, Tom, Lucy, David, Sarah, Paul, Nina, Mark, Julia, Robert, Susan, James, Kate",
        "people": "baker, nurse, farmer, pilot, lawyer, painter, waiter, dentist, plumber, barber",
        "crowds": "students, teachers, players, drivers, dancers, guards, boys, girls",
        "feelings": "tired, angry, surprised, hungry, proud, nervous",
        "traits": "rich/poor, healthy/sick, single/married, careful/careless",
        "places": "museum, library, station, school, hotel, bank, market, theater",
        "states": "open/closed, full/empty, busy/quiet, clean/dirty",
        "goods": "car, camera, guitar, tent, bicycle, violin, clock, computer",
        "pictures": "lamp, mirror, map, calendar, painting",
        "hobbies": "chess, tennis, football, jazz, cheese, coffee, chocolate",
        "languages": "French, German, Russian, Greek, Dutch, Polish",
        "countries": "France, Spain, Italy, Egypt, Japan, India",
        "events": "party, concert, wedding, meeting",
        "skills": "swim, cook, drive, sing, ski, paint",
        "acts": "laugh/laughed, arrive/arrived, dance/danced, sneeze/sneezed, eat/ate",
        "deeds": "praised/praise, invited/invite, thanked/thank, visited/visit, helped/help, followed/follow",
        "handle": "open/opened, repair/repaired, lock/locked, clean/cleaned",
        "parts": "window, box, basket, gate, cupboard",
        "below": "table, desk, stove, sofa",
        "kin": "cousins, brothers, neighbors, horses",
        "kinds": "rose/flower/flowers, hammer/tool/tools, puppy/dog/dogs, novel/book/books",
        "animals": "sparrow/bird/birds, cow/animal/animals, bee/insect/insects",
        "areas": "street, house, town, village",
    },
    "dev": {
        "names": "Helen, Oscar, Ruth, Victor, Alice, Henry",
        "people": "tailor, sailor, judge, miner",
        "crowds": "campers, tourists, runners",
        "feelings": "afraid, bored, thirsty",
        "traits": "strong/weak, polite/rude",
        "places": "garage, cinema, harbor, airport",
        "states": "noisy/silent, cheap/expensive",
        "goods": "boat, piano, pipe",
        "hobbies": "golf, tea, cake, rugby",
        "skills": "dive, knit, juggle, type",
        "acts": "smile/smiled, jump/jumped, frown/frowned",
        "deeds": "warned/warn, kissed/kiss, called/call",
        "handle": "push/pushed, move/moved",
        "parts": "shelf, bench, barrel",
        "kin": "actors, ministers",
        "kinds": "kitten/cat/cats, dagger/weapon/weapons",
        "areas": "cabin, caravan",
    },
    "test": {
        "names": "Emma, Daniel, Laura, Simon, Clara, Martin, Frank, Ellen",
        "people": "doctor, gardener, butcher, poet, king, priest",
        "crowds": "children, pirates, hunters, monks",
        "feelings": "ill, sad, exhausted, jealous",
        "places": "church, castle, factory, prison, hospital",
        "states": "dark/bright, warm/cold, safe/dangerous",
        "goods": "ring, vase, carpet, knife, blanket",
        "pictures": "flag, bell, poster, coat",
        "hobbies": "poetry, wine, opera, fish",
        "countries": "China, Brazil, Norway, Kenya",
        "events": "lecture, funeral, dinner",
        "skills": "run, write, ride, climb",
        "acts": "cry/cried, return/returned, whistle/whistled, pray/prayed",
        "deeds": "attacked, blamed, found, admired",
        "handle": "break/broke, build/built, inspect/inspected",
        "kin": "goats, ducks",
        "parts": "wall, bridge, statue",
        "below": "balcony, counter, arch",
        "animals": "trout/fish/fish, oak/tree/trees, beetle/bug/bugs",
        "areas": "building, district, city",
    },
}
"""Entries by commas; the words of an entry by slashes."""
