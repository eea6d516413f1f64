"""More frames of the entailment set, which tell of one: of three things {x} is so, {y} is not so, and {z} is left open.

Each has two premises: in the first {x} stands before {y}, in the second {y} before {x}; one of them mentions {z}, the
other does not. So neither who comes first nor what is mentioned gives the answer away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from training.finetuning.data import Split
from training.finetuning.sets.inference.frames import Frame, read

_TRAIN = """
negation | goods |
{v} bought a {x} but no {y}.
{v} bought no {y}, looked at a {z}, and bought a {x}.
{v} bought a {x}.
{v} did not buy a {x}.

negation | goods |
What {v} bought was a {x} and not a {y}; a {z} was there, too.
What {v} bought was not a {y} but a {x}.
{v} bought a {x}.
{v} did not buy a {x}.

negation | goods |
There is a {x} in the room of {v}, but there is no {y}.
There is no {y} in the room of {v}, but there is a {x}, and there may be a {z}.
There is a {x} in the room of {v}.
There is no {x} in the room of {v}.

negation | goods |
{v} has a {x}, talks about a {z}, and has no {y}.
{v} has no {y} but does have a {x}.
{v} has a {x}.
{v} does not have a {x}.

opposites | goods |
{v} sold the {x}, kept the {y}, and said nothing about the {z}.
{v} kept the {y} and sold the {x}.
{v} sold the {x}.
{v} did not sell the {x}.

opposites | goods |
{v} lost the {x} but still has the {y}.
{v} still has the {y}, would like a {z}, and lost the {x}.
{v} lost the {x}.
{v} did not lose the {x}.

implicatives | goods |
{v} remembered to bring the {x} and forgot to bring the {y}.
{v} forgot to bring the {y}, was asked about the {z}, and remembered to bring the {x}.
{v} brought the {x}.
{v} did not bring the {x}.

implicatives | goods |
{v} managed to fix the {x}, failed to fix the {y}, and was asked about the {z}.
{v} failed to fix the {y} and managed to fix the {x}.
{v} fixed the {x}.
{v} did not fix the {x}.

implicatives | goods |
{v} carried the {x}, but refused to carry the {y}; nobody asked about the {z}.
{v} refused to carry the {y}, but did carry the {x}.
{v} carried the {x}.
{v} did not carry the {x}.

negation | goods |
The {x} is new; the {y} is not.
The {y} is not new, nobody has seen the {z}, and the {x} is new.
The {x} is new.
The {x} is not new.

opposites | goods |
The {x} is new, the {y} is old, and the {z} is not here.
The {y} is old, and the {x} is new.
The {x} is new.
The {x} is not new.

likes | hobbies |
{v} likes {x} but not {y}.
{v} does not like {y}, talks about {z}, and likes {x}.
{v} likes {x}.
{v} does not like {x}.

opposites | hobbies |
{v} loves {x}, hates {y}, and knows a lot about {z}.
{v} hates {y} and loves {x}.
{v} likes {x}.
{v} does not like {x}.

likes | hobbies |
{v} is fond of {x} and cannot bear {y}.
{v} cannot bear {y}, has heard of {z}, and is fond of {x}.
{v} likes {x}.
{v} does not like {x}.

likes | hobbies |
For {v} there is nothing better than {x} and nothing worse than {y}.
For {v} there is nothing worse than {y} and nothing better than {x}; of {z} we did not speak.
{v} likes {x}.
{v} does not like {x}.

negation | languages |
{v} speaks {x}, has friends who speak {z}, and speaks no {y}.
{v} speaks no {y}, but does speak {x}.
{v} speaks {x}.
{v} does not speak {x}.

past | languages |
{v} has learned {x} and has never learned {y}.
{v} has never learned {y}, was asked about {z}, and has learned {x}.
{v} has learned {x}.
{v} has never learned {x}.

past | countries |
{v} has been to {x} but never to {y}.
{v} has never been to {y}, has read about {z}, and has been to {x}.
{v} has been to {x}.
{v} has never been to {x}.

past | countries |
{v} lived in {x} for a year, has friends in {z}, and never lived in {y}.
{v} never lived in {y}, but for a year in {x}.
{v} lived in {x}.
{v} never lived in {x}.

negation | skills |
{v} can {x} but cannot {y}.
{v} cannot {y}, has friends who {z}, and can {x}.
{v} can {x}.
{v} cannot {x}.

ability | skills |
{v} is able to {x} and unable to {y}.
{v} is unable to {y} and able to {x}; who can {z}, we do not know.
{v} can {x}.
{v} cannot {x}.

ability | skills |
{v} has learned to {x} and has not learned to {y}.
{v} has not learned to {y}, was asked to {z}, and has learned to {x}.
{v} has learned to {x}.
{v} has not learned to {x}.

negation | people |
{v} met the {x} but not the {y}.
{v} did not meet the {y}, heard from the {z}, and met the {x}.
{v} met the {x}.
{v} did not meet the {x}.

opposites | people |
The {x} is awake, and the {y} is asleep.
The {y} is asleep, the {z} is at home, and the {x} is awake.
The {x} is awake.
The {x} is not awake.

place | places |
{v} went to the {x}, asked about the {z}, and did not go to the {y}.
{v} did not go to the {y} but went to the {x}.
{v} went to the {x}.
{v} did not go to the {x}.

place | places |
{v} spent the day at the {x} and stayed away from the {y}.
{v} stayed away from the {y}, heard about the {z}, and spent the day at the {x}.
{v} was at the {x}.
{v} was not at the {x}.

opposites | places |
The {x} is open today, and the {y} is closed.
The {y} is closed, nobody knows about the {z}, and the {x} is open.
The {x} is open.
The {x} is not open.

past | events |
{v} came to the {x} but missed the {y}.
{v} missed the {y}, had heard of the {z}, and came to the {x}.
{v} came to the {x}.
{v} did not come to the {x}.

negation | feelings |
{v} was {x} but not {y}.
{v} was not {y}, may have been {z}, and was {x}.
{v} was {x}.
{v} was not {x}.

negation | feelings |
{v} felt {x}, perhaps felt {z}, and did not feel {y} at all.
{v} did not feel {y} at all, but did feel {x}.
{v} felt {x}.
{v} did not feel {x}.

quantifiers | crowds |
All of the {x} laughed, and none of the {y} did.
None of the {y} laughed, nobody saw the {z}, and all of the {x} laughed.
All of the {x} laughed.
None of the {x} laughed.

quantifiers | crowds |
Every one of the {x} passed, some of the {z} did, and not one of the {y} did.
Not one of the {y} passed, but every one of the {x} did.
All of the {x} passed.
Not all of the {x} passed.

passive | goods |
The {x} was stolen; the {y} was not.
The {y} was not stolen, the {z} was old, and the {x} was stolen.
Somebody stole the {x}.
Nobody stole the {x}.

passive | goods |
{w} was given a {x} by {v}, and no {y}.
{w} was given no {y} by {v}, asked for a {z}, and was given a {x} by {v}.
{v} gave {w} a {x}.
{v} did not give {w} a {x}.

knowledge | goods |
It is true that {v} has a {x}, and it is false that {v} has a {y}.
It is false that {v} has a {y}, possible that {v} has a {z}, and true that {v} has a {x}.
{v} has a {x}.
{v} does not have a {x}.

possibility | goods |
{v} will sell the {x}, may sell the {z}, and will not sell the {y}.
{v} will not sell the {y} and will sell the {x}.
{v} will sell the {x}.
{v} will not sell the {x}.

negation | goods |
{v} owns a {x} and does not own a {y}.
{v} does not own a {y}, may own a {z}, and owns a {x}.
{v} owns a {x}.
{v} does not own a {x}.

negation | goods |
At the house of {v} we saw a {x} and did not see a {y}; a {z} we did not look for.
At the house of {v} we did not see a {y}, but we saw a {x}.
We saw a {x}.
We did not see a {x}.

negation | goods |
{v} has a {x}, but neither a {y} nor a phone.
{v} has neither a {y} nor a phone, asks about a {z}, and has a {x}.
{v} has a {x}.
{v} does not have a {x}.

negation | goods |
{v} came with a {x} and without a {y}.
{v} came without a {y}, talked about a {z}, and came with a {x}.
{v} came with a {x}.
{v} came without a {x}.

place | places |
The {x} is near here, the {y} is not, and the {z} is said to be old.
The {y} is not near here, but the {x} is.
The {x} is near here.
The {x} is not near here.

quantifiers | hobbies |
Everybody here likes {x}, some like {z}, and nobody likes {y}.
Nobody here likes {y}, and everybody likes {x}.
Everybody here likes {x}.
Not everybody here likes {x}.

negation | languages |
{v} knows {x}, but does not know {y}.
{v} does not know {y}, wants to hear {z}, and knows {x}.
{v} knows {x}.
{v} does not know {x}.

likes | hobbies |
{x} is something that {v} likes, and {y} is not.
{y} is not something that {v} likes, {z} may be, and {x} is.
{v} likes {x}.
{v} does not like {x}.

time | events |
The {x} is over, the {y} is not, and nobody speaks of the {z}.
The {y} is not over yet, but the {x} is.
The {x} is over.
The {x} is not over.

time | places |
{v} has already been to the {x} but not yet to the {y}.
{v} has not yet been to the {y}, knows about the {z}, and has already been to the {x}.
{v} has been to the {x}.
{v} has not been to the {x}.

time | goods |
{v} still has a {x} and no longer has a {y}.
{v} no longer has a {y}, reads about a {z}, and still has a {x}.
{v} has a {x}.
{v} does not have a {x}.

comparison | people |
{v} is older than the {x}, lives near the {z}, and is not older than the {y}.
{v} is not older than the {y}, but is older than the {x}.
{v} is older than the {x}.
{v} is not older than the {x}.

comparison | goods |
The {x} is bigger than the table, and the {y} is not.
The {y} is not bigger than the table, the {z} is still outside, and the {x} is bigger.
The {x} is bigger than the table.
The {x} is not bigger than the table.

cause | places |
Since the {x} was open, {v} went there; the {y} was not open, and we did not see the {z}.
The {y} was not open, so {v} went to the {x}, which was.
The {x} was open.
The {x} was not open.

passive | people |
The {x} helped {v}, but the {y} did not.
The {y} did not help {v}, the {z} was asked to, and the {x} did help.
{v} was helped by the {x}.
{v} was not helped by the {x}.

place | goods |
The {x} is in the box, the {z} may be, and the {y} is not.
The {y} is not in the box, but the {x} is.
The {x} is in the box.
The {x} is not in the box.

quantifiers | feelings |
{v} is often {x} but never {y}.
{v} is never {y}, may be {z} now and then, and is often {x}.
{v} is often {x}.
{v} is never {x}.

quantifiers | crowds |
There are many {x} and no {y}.
There are no {y}, there may be {z}, and there are many {x}.
There are many {x}.
There are no {x}.

wishes | skills |
{v} wants to {x}, has friends who {z}, and does not want to {y}.
{v} does not want to {y}, but wants to {x}.
{v} wants to {x}.
{v} does not want to {x}.

knowledge | goods |
{v} knows that the {x} is lost and that the {y} is not.
{v} knows that the {y} is not lost, asks about the {z}, and knows that the {x} is.
The {x} is lost.
The {x} is not lost.

past | events |
{v} was at the {x}, asked about the {z}, and was not at the {y}.
{v} was not at the {y} but was at the {x}.
{v} was at the {x}.
{v} was not at the {x}.
"""

_DEV = """
negation | goods |
{v} hired a {x} but did not hire a {y}.
{v} did not hire a {y}, looked at a {z}, and hired a {x}.
{v} hired a {x}.
{v} did not hire a {x}.

likes | hobbies |
{x} makes {v} glad, {y} makes {v} cross, and nobody talks of {z}.
{y} makes {v} cross, and {x} makes {v} glad.
{v} likes {x}.
{v} does not like {x}.

opposites | people |
The {x} finished the race; the {y} did not finish it.
The {y} did not finish the race, the {z} was in it, too, and the {x} finished it.
The {x} finished the race.
The {x} did not finish the race.

place | places |
The bus stops at the {x}, may stop at the {z}, and never stops at the {y}.
The bus never stops at the {y}, but it does stop at the {x}.
The bus stops at the {x}.
The bus does not stop at the {x}.

quantifiers | crowds |
Everyone among the {x} slept, and no one among the {y} slept.
No one among the {y} slept, nobody saw the {z}, and everyone among the {x} slept.
All of the {x} slept.
None of the {x} slept.

negation | feelings |
{v} is {x}, may be {z}, too, and is by no means {y}.
{v} is by no means {y}, and is {x}.
{v} is {x}.
{v} is not {x}.
"""

_TEST = """
negation | goods |
{v} packed the {x} and did not pack the {y}.
{v} did not pack the {y}, thought of the {z}, and packed the {x}.
{v} packed the {x}.
{v} did not pack the {x}.

opposites | goods |
{v} took the {x} along, left the {y} at home, and forgot about the {z}.
{v} left the {y} at home and took the {x} along.
{v} took the {x} along.
{v} did not take the {x} along.

negation | goods |
{v} ordered a {x}, not a {y}.
{v} ordered no {y}, asked about a {z}, and ordered a {x}.
{v} ordered a {x}.
{v} did not order a {x}.

negation | goods |
On the floor lies a {x}, but no {y}.
There is no {y} on the floor, there may be a {z} below it, and on it lies a {x}.
There is a {x} on the floor.
There is no {x} on the floor.

implicatives | goods |
{v} succeeded in hiding the {x}, had to hide the {z}, and did not succeed in hiding the {y}.
{v} did not succeed in hiding the {y}, but did succeed in hiding the {x}.
{v} hid the {x}.
{v} did not hide the {x}.

implicatives | goods |
{v} was in time to save the {x}, but too late to save the {y}.
{v} was too late to save the {y}, heard of the {z}, and was in time to save the {x}.
{v} saved the {x}.
{v} did not save the {x}.

opposites | goods |
{v} accepted the {x}, rejected the {y}, and looked at the {z}.
{v} rejected the {y}, but did accept the {x}.
{v} accepted the {x}.
{v} did not accept the {x}.

likes | hobbies |
{v} enjoys {x} and does not enjoy {y}.
{v} does not enjoy {y}, knows somebody who enjoys {z}, and enjoys {x}.
{v} enjoys {x}.
{v} does not enjoy {x}.

likes | hobbies |
{v} is a fan of {x}, has heard of {z}, and is no fan of {y}.
{v} is no fan of {y}, but is a fan of {x}.
{v} is a fan of {x}.
{v} is no fan of {x}.

opposites | hobbies |
{v} adores {x} but dislikes {y}.
{v} dislikes {y}, is asked about {z}, and adores {x}.
{v} enjoys {x}.
{v} does not enjoy {x}.

past | countries |
{v} flew to {x}, has friends in {z}, and did not fly to {y}.
{v} did not fly to {y}, but flew to {x}.
{v} flew to {x}.
{v} did not fly to {x}.

negation | countries |
{v} has relatives in {x}, but none in {y}.
{v} has no relatives in {y}, often talks of {z}, and has relatives in {x}.
{v} has relatives in {x}.
{v} has no relatives in {x}.

ability | skills |
{v} is allowed to {x}, has friends who {z}, and is not allowed to {y}.
{v} is not allowed to {y}, but is allowed to {x}.
{v} is allowed to {x}.
{v} is not allowed to {x}.

possibility | skills |
{v} is certain to {x} and certain not to {y}.
{v} is certain not to {y}, might {z}, and is certain to {x}.
{v} will {x}.
{v} will not {x}.

negation | people |
The {x} was there, but the {y} was not.
The {y} was not there, the {z} may have been, and the {x} was.
The {x} was there.
The {x} was not there.

opposites | people |
{v} greeted the {x}, ignored the {y}, and searched for the {z}.
{v} ignored the {y}, but greeted the {x}.
{v} greeted the {x}.
{v} did not greet the {x}.

negation | places |
The {x} burned down at night, but the {y} did not.
The {y} did not burn down, nobody asked about the {z}, and the {x} burned down.
The {x} burned down.
The {x} did not burn down.

opposites | places |
The {x} is in ruins, the {y} is not, and the {z} is not far from here.
The {y} is not in ruins, and the {x} is.
The {x} is in ruins.
The {x} is not in ruins.

quantifiers | places |
Everybody has seen the {x}, many have seen the {z}, and nobody has seen the {y}.
Nobody has seen the {y}, and everybody has seen the {x}.
Everybody has seen the {x}.
Not everybody has seen the {x}.

negation | feelings |
{v} is {x} today, and not {y}.
{v} is not {y} today, may be {z}, and is {x}.
{v} is {x} today.
{v} is not {x} today.

knowledge | feelings |
{v} really was {x} and only pretended to be {y}.
{v} only pretended to be {y}, may have been {z}, and really was {x}.
{v} was {x}.
{v} was not {x}.

quantifiers | crowds |
Each of the {x} waved, at least half of the {z} did, and none of the {y} did.
None of the {y} waved, and each of the {x} did.
All of the {x} waved.
Not all of the {x} waved.

past | events |
{v} did attend the {x}, but skipped the {y}.
{v} skipped the {y}, was asked about the {z}, and did attend the {x}.
{v} attended the {x}.
{v} did not attend the {x}.

passive | goods |
The {x} was delivered by {v}; the {y} was not.
The {y} was not delivered by {v}, nobody asked for the {z}, and the {x} was.
{v} delivered the {x}.
{v} did not deliver the {x}.

knowledge | goods |
It is certain that {v} owns a {x} and impossible that {v} owns a {y}.
It is impossible that {v} owns a {y}, possible that {v} owns a {z}, and certain that {v} owns a {x}.
{v} owns a {x}.
{v} does not own a {x}.

negation | goods |
{v} received a {x}, but never a {y}.
{v} never received a {y}, talks about a {z}, and received a {x}.
{v} received a {x}.
{v} never received a {x}.

negation | goods |
{v} left with the {x}, heard of the {z}, and left without the {y}.
{v} left without the {y}, but with the {x}.
{v} left with the {x}.
{v} left without the {x}.

past | countries |
{v} has worked in {x}, but never in {y}.
{v} has never worked in {y}, has read a lot about {z}, and has worked in {x}.
{v} has worked in {x}.
{v} has never worked in {x}.

place | places |
{v} lives beside the {x}, has heard of the {z}, and does not live beside the {y}.
{v} does not live beside the {y}, but lives beside the {x}.
{v} lives beside the {x}.
{v} does not live beside the {x}.

quantifiers | crowds |
On the island there were many {x} and no {y}.
On the island there were no {y}, there may have been {z}, and there were many {x}.
There were many {x} on the island.
There were no {x} on the island.

knowledge | people |
The {x} knew the way, and the {y} did not.
The {y} did not know the way, the {z} was asked about it, and the {x} knew it.
The {x} knew the way.
The {x} did not know the way.

wishes | skills |
{v} plans to {x} and does not plan to {y}.
{v} does not plan to {y}, was asked to {z}, and plans to {x}.
{v} plans to {x}.
{v} does not plan to {x}.

negation | hobbies |
{v} studies {x}, not {y}, and has friends who talk about {z}.
{v} does not study {y}, but does study {x}.
{v} studies {x}.
{v} does not study {x}.

time | events |
The {x} has begun, nobody talks about the {z}, and the {y} has not begun.
The {y} has not begun, but the {x} has.
The {x} has begun.
The {x} has not begun.

negation | feelings |
{v} looks {x} and does not look {y}.
{v} does not look {y}, may be {z}, and looks {x}.
{v} looks {x}.
{v} does not look {x}.

negation | places |
A guide led us to the {x} but not to the {y}.
A guide did not lead us to the {y}, knew of the {z}, and led us to the {x}.
A guide led us to the {x}.
A guide did not lead us to the {x}.
"""

FRAMES_OF_ONE: Final[Mapping[Split, tuple[Frame, ...]]] = {
    "train": read(_TRAIN),
    "dev": read(_DEV),
    "test": read(_TEST),
}
