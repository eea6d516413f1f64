"""More frames of the entailment set, which tell of one: of three things {x} is so, {y} is not so, and {z} is left open,
mostly by not being mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from training.finetuning.data import Part
from training.finetuning.sets.inference.frames import Frame, read

_TRAIN = """
negation | goods |
{v} bought a {x} but no {y}.
{v} bought a {x}.
{v} did not buy a {x}.

negation | goods |
What {v} bought was not a {y} but a {x}.
{v} bought a {x}.
{v} did not buy a {x}.

negation | goods |
There is a {x} in the room of {v}, but there is no {y}.
There is a {x} in the room of {v}.
There is no {x} in the room of {v}.

wishes | goods |
{v} has a {x}, wants a {z}, and has no {y}.
{v} has a {x}.
{v} does not have a {x}.

opposites | goods |
{v} kept the {y} and sold the {x}.
{v} sold the {x}.
{v} did not sell the {x}.

opposites | goods |
{v} lost the {x} but still has the {y}.
{v} lost the {x}.
{v} did not lose the {x}.

implicatives | goods |
{v} forgot to bring the {y} and remembered to bring the {x}.
{v} brought the {x}.
{v} did not bring the {x}.

implicatives | goods |
{v} managed to fix the {x}, failed to fix the {y}, and was asked about the {z}.
{v} fixed the {x}.
{v} did not fix the {x}.

implicatives | goods |
{v} refused to carry the {y}, so {w} carried it, but {v} did carry the {x}.
{v} carried the {x}.
{v} did not carry the {x}.

negation | goods |
The {x} is new; the {y} is not.
The {x} is new.
The {x} is not new.

opposites | goods |
The {y} is old, and the {x} is new.
The {x} is new.
The {x} is not new.

likes | hobbies |
{v} likes {x} but not {y}.
{v} likes {x}.
{v} does not like {x}.

opposites | hobbies |
{v} hates {y} and loves {x}.
{v} likes {x}.
{v} does not like {x}.

likes | hobbies |
{v} talks about {z}, cannot bear {y}, and is fond of {x}.
{v} likes {x}.
{v} does not like {x}.

likes | hobbies |
For {v} there is nothing better than {x} and nothing worse than {y}.
{v} likes {x}.
{v} does not like {x}.

negation | languages |
{v} speaks {x}, but no {y}.
{v} speaks {x}.
{v} does not speak {x}.

wishes | languages |
{v} has learned {x}, has never learned {y}, and would like to learn {z}.
{v} has learned {x}.
{v} has never learned {x}.

past | countries |
{v} has been to {x} but never to {y}.
{v} has been to {x}.
{v} has never been to {x}.

past | countries |
{v} never lived in {y}, but for a year in {x}.
{v} lived in {x}.
{v} never lived in {x}.

negation | skills |
{v} can {x} but cannot {y}.
{v} can {x}.
{v} cannot {x}.

ability | skills |
{v} is unable to {y} and able to {x}.
{v} can {x}.
{v} cannot {x}.

ability | skills |
{v} has learned to {x}, has not learned to {y}, and would like to {z}.
{v} has learned to {x}.
{v} has not learned to {x}.

negation | people |
{v} met the {x} but not the {y}.
{v} met the {x}.
{v} did not meet the {x}.

opposites | people |
The {x} is awake, and the {y} is asleep.
The {x} is awake.
The {x} is not awake.

place | places |
{v} went to the {x} and did not go to the {y}.
{v} went to the {x}.
{v} did not go to the {x}.

place | places |
{v} stayed away from the {y} and spent the day at the {x}.
{v} was at the {x}.
{v} was not at the {x}.

opposites | places |
The {x} is open today, and the {y} is closed.
The {x} is open.
The {x} is not open.

opposites | places |
The {y} is closed, nobody knows about the {z}, and the {x} is open.
The {x} is open.
The {x} is not open.

past | events |
{v} came to the {x} but missed the {y}.
{v} came to the {x}.
{v} did not come to the {x}.

negation | feelings |
{v} was {x} but not {y}.
{v} was {x}.
{v} was not {x}.

negation | feelings |
{v} did not feel {y} at all, only {x}.
{v} felt {x}.
{v} did not feel {x}.

quantifiers | crowds |
All of the {x} laughed, and none of the {y} did.
All of the {x} laughed.
None of the {x} laughed.

quantifiers | crowds |
Every one of the {x} passed, some of the {z} did, and not one of the {y} did.
All of the {x} passed.
Not all of the {x} passed.

passive | goods |
The {x} was stolen; the {y} was not stolen.
Somebody stole the {x}.
Nobody stole the {x}.

passive | goods |
{w} was given a {x} by {v}, and no {y}.
{v} gave {w} a {x}.
{v} did not give {w} a {x}.

knowledge | goods |
It is true that {v} has a {x}, and it is false that {v} has a {y}.
{v} has a {x}.
{v} does not have a {x}.

possibility | goods |
{v} may sell the {z}, will sell the {x}, and will not sell the {y}.
{v} will sell the {x}.
{v} will not sell the {x}.
"""

_DEV = """
negation | goods |
{v} hired a {x} but did not hire a {y}.
{v} hired a {x}.
{v} did not hire a {x}.

likes | hobbies |
{y} makes {v} cross, and {x} makes {v} glad.
{v} likes {x}.
{v} does not like {x}.

opposites | people |
The {x} won the race; the {y} did not win it.
The {x} won the race.
The {x} did not win the race.

place | places |
The bus stops at the {x}, but it never stops at the {y}.
The bus stops at the {x}.
The bus does not stop at the {x}.

quantifiers | crowds |
Everyone among the {x} slept, and no one among the {y} slept.
All of the {x} slept.
None of the {x} slept.

negation | feelings |
It is not that {v} is {y}: {v} is {x}.
{v} is {x}.
{v} is not {x}.
"""

_TEST = """
opposites | goods |
{v} packed the {x} and left out the {y}.
{v} packed the {x}.
{v} did not pack the {x}.

negation | goods |
{v} ordered a {x}, not a {y}.
{v} ordered a {x}.
{v} did not order a {x}.

negation | goods |
On the floor lies a {x}, but no {y}.
There is a {x} on the floor.
There is no {x} on the floor.

implicatives | goods |
{v} had to hide the {z}, succeeded in hiding the {x}, and did not succeed in hiding the {y}.
{v} hid the {x}.
{v} did not hide the {x}.

implicatives | goods |
{v} was too late to save the {y}, but in time to save the {x}.
{v} saved the {x}.
{v} did not save the {x}.

opposites | goods |
{v} rejected the {y}, but did accept the {x}.
{v} accepted the {x}.
{v} did not accept the {x}.

likes | hobbies |
{v} enjoys {x} and does not enjoy {y}.
{v} enjoys {x}.
{v} does not enjoy {x}.

likes | hobbies |
{v} is a fan of {x}, is no fan of {y}, and reads about {z}.
{v} is a fan of {x}.
{v} is no fan of {x}.

opposites | hobbies |
Although {v} dislikes {y}, {v} adores {x}.
{v} enjoys {x}.
{v} does not enjoy {x}.

past | countries |
{v} flew to {x}, did not fly to {y}, and dreams of {z}.
{v} flew to {x}.
{v} did not fly to {x}.

negation | countries |
{v} has relatives in {x}, but none in {y}.
{v} has relatives in {x}.
{v} has no relatives in {x}.

ability | skills |
{v} is allowed to {x}, but forbidden to {y}.
{v} is allowed to {x}.
{v} is not allowed to {x}.

possibility | skills |
{v} is certain to {x}, is certain not to {y}, and might {z}.
{v} will {x}.
{v} will not {x}.

negation | people |
The {x} was there, but the {y} was not.
The {x} was there.
The {x} was not there.

opposites | people |
{v} greeted the {x}, ignored the {y}, and searched for the {z}.
{v} greeted the {x}.
{v} did not greet the {x}.

negation | places |
The {x} burned down, but the {y} did not.
The {x} burned down.
The {x} did not burn down.

opposites | places |
The {x} is in ruins, and the {y} is not.
The {x} is in ruins.
The {x} is not in ruins.

quantifiers | places |
Everybody has seen the {x}, and nobody has seen the {y}.
Everybody has seen the {x}.
Not everybody has seen the {x}.

negation | feelings |
{v} is {x} today, and not {y}.
{v} is {x} today.
{v} is not {x} today.

knowledge | feelings |
{v} only pretended to be {y}, and really was {x}.
{v} was {x}.
{v} was not {x}.

quantifiers | crowds |
Each of the {x} waved, at least half of the {z} did, and none of the {y} did.
All of the {x} waved.
Not all of the {x} waved.

past | events |
{v} skipped the {y}, but did attend the {x}.
{v} attended the {x}.
{v} did not attend the {x}.

passive | goods |
The {x} was delivered by {v}; the {y} was not delivered.
{v} delivered the {x}.
{v} did not deliver the {x}.

knowledge | goods |
It is certain that {v} owns a {x}, impossible that {v} owns a {y}, and possible that {v} owns a {z}.
{v} owns a {x}.
{v} does not own a {x}.
"""

FRAMES_OF_ONE: Final[Mapping[Part, tuple[Frame, ...]]] = {
    "train": read(_TRAIN),
    "dev": read(_DEV),
    "test": read(_TEST),
}
