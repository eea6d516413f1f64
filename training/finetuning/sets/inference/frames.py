"""What the entailment set is written from: frames, in which something is so of one, is not so of another and is left
open of a third, and the words that fill their slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from training.finetuning.data import Split


@dataclass(frozen=True, slots=True)
class Frame:
    """Premises, and two hypotheses, each with a slot {x}. Filled with a premise's {x}, ``so`` is true; with its {y},
    ``not_so`` is true; with its {z}, neither is known.

    {x}, {y} and {z} are of the pool ``of``; {a}, {b}, ... are the words of one entry of each of ``slots``, which names
    pools; {v} and {w} are other people; {low}, {mid} and {high} are numbers that rise.
    """

    phenomenon: str
    of: str
    slots: tuple[str, ...]
    premises: tuple[str, ...]
    so: str
    not_so: str


def read(block: str) -> tuple[Frame, ...]:
    """Frames of lines: phenomenon | pool of {x}, {y}, {z} | pools of the slots; premises, a line each; so; not so."""
    frames = []
    for lines in block.strip().split("\n\n"):
        head, *premises, so, not_so = lines.splitlines()
        phenomenon, of, *slots = (field.strip() for field in head.split("|"))
        frames.append(Frame(phenomenon, of, tuple(" ".join(slots).split()), tuple(premises), so, not_so))
    return tuple(frames)


_TRAIN = """
negation | names | hobbies
Nobody has asked {z}; {y} does not like {a}, and {x} does.
{x} likes {a}.
{x} does not like {a}.

negation | names | hobbies
Nobody has asked {z}, but {y} hates {a} and {x} loves it.
{x} likes {a}.
{x} does not like {a}.

negation | names | goods
{y} has no {a}, {x} has two, and {z} is reading about one.
{x} has a {a}.
{x} does not have a {a}.

negation | names | countries
{z} may have been to {a}, {y} has never been there, and {x} has been there.
{x} has been to {a}.
{x} has never been to {a}.

time | names | places
{z} has a friend at the {a}, where {y} no longer works and {x} still does.
{x} works at the {a}.
{x} does not work at the {a}.

time | names | places
{y} has yet to see the {a}, {x} has already seen it, and {z} has heard of it.
{x} has seen the {a}.
{x} has not seen the {a}.

time | names
{z} went to bed late, {y} is still asleep, and {x} woke up hours ago.
{x} is awake.
{x} is not awake.

relative clause | people | traits
The {x} who knows the {z} is {a}, and the {y} is {b}.
The {x} is {a}.
The {x} is not {a}.

relative clause | people | feelings
The {x} that the {z} was waiting for was {a}, unlike the {y}.
The {x} was {a}.
The {x} was not {a}.

relative clause | people | feelings
The {y}, who is a friend of the {z}, is not {a}, but the {x} is.
The {x} is {a}.
The {x} is not {a}.

attachment | places | states
The {y} opposite the {z} is {b}, but the {x} is {a}.
The {x} is {a}.
The {x} is not {a}.

attachment | places | states
The {x} next to the {z} is {a}; the {y} is not.
The {x} is {a}.
The {x} is not {a}.

comparison | names
{x} is older than {w}, {y} is younger than {w}, and {z} is a friend of {w}'s.
{x} is older than {w}.
{x} is not older than {w}.

comparison | names
{w} is taller than {y} but shorter than {x}, and {z} lives next door.
{x} is taller than {w}.
{x} is not taller than {w}.

comparison | places | places
The {y} is smaller than the {a}, the {z} is older, and the {x} is bigger.
The {x} is bigger than the {a}.
The {x} is not bigger than the {a}.

comparison | goods | goods
The {x} costs more than the {a}, the {y} costs less, and the {z} weighs less.
The {x} costs more than the {a}.
The {x} does not cost more than the {a}.

order | names | acts
{z} {b}, {y} {b} after {w}, and {x} {b} before {w}.
{x} {b} before {w}.
{x} did not {a} before {w}.

order | names
When {w} came, {x} was already there, {z} was expected, and {y} had not come yet.
{x} came before {w}.
{x} did not come before {w}.

order | names | acts
{w} {b} earlier than {y}, but later than {x}; {z} {b} alone.
{x} {b} before {w}.
{x} did not {a} before {w}.

conjunction | names | skills
{z} has not been asked; neither {y} nor {v} can {a}, but both {w} and {x} can.
{x} can {a}.
{x} cannot {a}.

conjunction | names | skills
Either {z} or {w} can {a}, {x} certainly can, and {y} cannot.
{x} can {a}.
{x} cannot {a}.

conjunction | names | skills
{w} can {a}, and so can {x}, but not {y}; {z} is a good teacher.
{x} can {a}.
{x} cannot {a}.

possibility | names | events
Perhaps {z} came to the {a}; {x} certainly did, and {y} stayed at home.
{x} came to the {a}.
{x} did not come to the {a}.

possibility | names | acts
It is possible that {z} {b}, false that {y} did, and true that {x} did.
{x} {b}.
{x} did not {a}.

knowledge | places | states
{w} knows that the {x} is {a}, hopes that the {z} is, and is sorry that the {y} is {b}.
The {x} is {a}.
The {x} is not {a}.

knowledge | places | states
{w} wrongly thinks that the {y} is {a}, rightly thinks that the {x} is, and wonders about the {z}.
The {x} is {a}.
The {x} is not {a}.

condition | places | states
The {x} is {a}, the {y} is not, and if {w} is right, the {z} is {a}, too.
The {x} is {a}.
The {x} is not {a}.

condition | names | events
{z} will come to the {a} if {w} does; {y} will not, but {x} will.
{x} will come to the {a}.
{x} will not come to the {a}.

cause | names | feelings
Because {x} was {a} and {y} was not, {w} wrote to {z}.
{x} was {a}.
{x} was not {a}.

cause | names | feelings
Although {y} was not {a}, {x} was, and {z} asked why.
{x} was {a}.
{x} was not {a}.

quantifiers | crowds | feelings
All of the {x}, only some of the {y}, and most, if not all, of the {z} were {a}.
All of the {x} were {a}.
Not all of the {x} were {a}.

quantifiers | crowds
Nobody was waiting for the {z}, none of the {y} came, and many of the {x} did.
Some of the {x} came.
None of the {x} came.

quantifiers | crowds | skills
At least one of the {y} cannot {a}, some of the {z} can, and every one of the {x} can.
Every one of the {x} can {a}.
Not every one of the {x} can {a}.

quantifiers | names | skills
Everybody there could {a} except {y}; even {x} could, but {z} was not there.
{x} could {a}.
{x} could not {a}.

passive | names | deeds
{z} {a} {w}, who never {a} {y}, but {a} {x}.
{w} {a} {x}.
{w} never {a} {x}.

passive | names | deeds
{w} {a} {x} but not {y}, and was {a} by {z}.
{x} was {a} by {w}.
{x} was not {a} by {w}.

exchange | names | goods
{z} showed {w} a {a}, {y} has never sold {w} anything, and {x} sold {w} a {a}.
{w} bought a {a} from {x}.
{w} has never bought a {a} from {x}.

exchange | names | goods
{w} borrowed a {a} from {x}; {y} refused to lend {w} one, and {z} was asked for one.
{x} lent {w} a {a}.
{x} did not lend {w} a {a}.

implicatives | names | handle parts
{z} tried to {a} the {c}, {y} failed to, and {x} managed to.
{x} {b} the {c}.
{x} did not {a} the {c}.

implicatives | names | handle parts
{z} promised to {a} the {c}, {y} forgot to, and {x} remembered to.
{x} {b} the {c}.
{x} did not {a} the {c}.

implicatives | names | handle parts
{y} was unable to {a} the {c}, {z} was asked to, and {x} did so at once.
{x} {b} the {c}.
{x} did not {a} the {c}.

location | pictures | below
The {z} hangs near the {a}, the {y} below it, and the {x} above it.
The {x} is above the {a}.
The {x} is not above the {a}.

location | names
{x} sat to the left of {w}, {y} to the right, and {z} at the same table.
{x} sat to the left of {w}.
{x} did not sit to the left of {w}.

location | names | places places
{y} has left the {a}, {x} is still inside, and {z} is either there or at the {b}.
{x} is in the {a}.
{x} is not in the {a}.

numbers | crowds | places
There are some {z}, {low} {y} and {high} {x} in the {a}.
There are more than {mid} {x} in the {a}.
There are fewer than {mid} {x} in the {a}.

numbers | names | kin
{x} has {high} {a}, {z} has at least {low}, and {y} has only {low}.
{x} has more than {mid} {a}.
{x} does not have more than {mid} {a}.

kinds | names | kinds
{z} looked at some {c}, {y} bought no {c} at all, and {x} bought a {a}.
{x} bought a {b}.
{x} did not buy a {b}.

kinds | names | animals
{z} saw something strange, {y} saw no {c}, and {x} saw a {a}.
{x} saw a {b}.
{x} did not see a {b}.

same | names | areas
{x} lives in the same {a} as {w}, {y} in a different one, and {z} in a nice one.
{x} and {w} live in the same {a}.
{x} and {w} do not live in the same {a}.

opposites | places | states
The {x} is {a}, the {y} is {b}, and the {z} is new.
The {x} is not {b}.
The {x} is not {a}.

opposites | names
{z} played against {w}, {y} lost to {w}, and {x} won against {w}.
{x} beat {w}.
{x} did not beat {w}.

opposites | names
{z} listened to {w}, {y} disagreed with {w}, and {x} agreed.
{x} agreed with {w}.
{x} did not agree with {w}.

negation | names | hobbies
{z} has said nothing about {a}, {y} does not like it, and {x} does.
{x} likes {a}.
{x} does not like {a}.

negation | names | goods
Unlike {y}, {x} has a {a}, and {z} may have one.
{x} has a {a}.
{x} does not have a {a}.

negation | names | goods
{z} is talking about a {a}, {x} has one, and {y} has none.
{x} has a {a}.
{x} does not have a {a}.

negation | names | countries
{y} has never been to {a}, unlike {x}; nobody knows about {z}.
{x} has been to {a}.
{x} has never been to {a}.

negation | names | feelings
{z} is away, {y} is not {a}, and {x} is.
{x} is {a}.
{x} is not {a}.

time | names | places
{y} no longer works at the {a}, where {x} still works; {z} lives next to it.
{x} works at the {a}.
{x} does not work at the {a}.

time | names
{y} is fast asleep, {z} has gone to bed, and {x} is up.
{x} is awake.
{x} is not awake.

time | names | places
{z} wants to know more about the {a}, which {x} has seen and {y} has not.
{x} has seen the {a}.
{x} has not seen the {a}.

relative clause | people | feelings
We saw the {z} with the {x}, who was {a}, and the {y}, who was not.
The {x} was {a}.
The {x} was not {a}.

relative clause | people | traits
The {y} is {b}, but the {x}, who had seen the {z}, is {a}.
The {x} is {a}.
The {x} is not {a}.

relative clause | people | feelings
The {z} was looking at two people: the {x}, who was {a}, and the {y}, who was not.
The {x} was {a}.
The {x} was not {a}.

attachment | places | states
Not far from the {z}, the {x} is {a} and the {y} is {b}.
The {x} is {a}.
The {x} is not {a}.

attachment | places | states
The {y} in front of the {z} is {b}, while the {x} is {a}.
The {x} is {a}.
The {x} is not {a}.

attachment | places | states
Unlike the {y} behind the {z}, the {x} is {a}.
The {x} is {a}.
The {x} is not {a}.

comparison | names
{w} is younger than {x}, older than {y}, and the best friend of {z}.
{x} is older than {w}.
{x} is not older than {w}.

comparison | names
{z} knows {w}, who is taller than {y} and shorter than {x}.
{x} is taller than {w}.
{x} is not taller than {w}.

comparison | places | places
The {a} is near the {z}; it is bigger than the {y} and smaller than the {x}.
The {x} is bigger than the {a}.
The {x} is not bigger than the {a}.

comparison | names
Both {x} and {z} are older than {y}; {w} is older than {y}, too, but younger than {x}.
{x} is older than {w}.
{x} is not older than {w}.

order | names | acts
{w} {b} after {x}, but long before {y}, and {z} {b} there, too.
{x} {b} before {w}.
{x} did not {a} before {w}.

order | names | acts
The first to {a} was {x}, the next was {w}, and then came {y}; nobody saw when {z} did.
{x} {b} before {w}.
{x} did not {a} before {w}.

order | names
{y} came when {w} had already left, {x} left before {w} came, and {z} came by car.
{x} came before {w}.
{x} did not come before {w}.

conjunction | names | skills
Neither {y} nor {v} can {a}; {x} and {w} can, and nobody knows whether {z} can.
{x} can {a}.
{x} cannot {a}.

conjunction | names | hobbies hobbies
{x} likes both {a} and {b}, {y} likes neither, and {z} likes {b}.
{x} likes {a}.
{x} does not like {a}.

conjunction | names | languages languages
{x} speaks {a} and {b}, {y} speaks {b} but not {a}, and {z} speaks at least one of the two.
{x} speaks {a}.
{x} does not speak {a}.

possibility | names | events
{y} did not come to the {a}, though {x} did, and {z} may have come.
{x} came to the {a}.
{x} did not come to the {a}.

possibility | names | acts
Certainly {x} {b} and certainly {y} did not, but whether {z} {b}, we cannot say.
{x} {b}.
{x} did not {a}.

knowledge | places | states
{w} has been told that the {z} is {a}, and knows that the {x} is {a} and that the {y} is {b}.
The {x} is {a}.
The {x} is not {a}.

knowledge | places | states
{w} did not know that the {x} was {a} and the {y} was {b}, nor what the {z} was like.
The {x} was {a}.
The {x} was not {a}.

condition | names | events
If {w} comes to the {a}, so will {z}; {x} will come even without {w}, and {y} will stay at home.
{x} will come to the {a}.
{x} will not come to the {a}.

condition | places | states
The {z} is {a} if {w} is right; in any case the {x} is {a}, and the {y} is {b}.
The {x} is {a}.
The {x} is not {a}.

cause | names | feelings
{y} is not {a} any more, {x} still is, and that is why {z} left.
{x} is {a}.
{x} is not {a}.

cause | names | feelings
{w} went home with {z} because {y} was not {a} and {x} was.
{x} was {a}.
{x} was not {a}.

quantifiers | crowds | feelings
Not all of the {y} were {a}, but all of the {x} were, and so were at least a few of the {z}.
All of the {x} were {a}.
Not all of the {x} were {a}.

quantifiers | crowds
Many of the {x} came, and we had written to the {z}, but not one of the {y} came.
Some of the {x} came.
None of the {x} came.

quantifiers | crowds | skills
Every one of the {x} and some of the {z} could {a}, but some of the {y} could not.
Every one of the {x} could {a}.
Not every one of the {x} could {a}.

quantifiers | crowds | acts
A few of the {x} {b}, none of the {y} did, and nobody was watching the {z}.
At least one of the {x} {b}.
None of the {x} {b}.

quantifiers | names | skills
Of all who were there, only {y} could not {a}; {x} was there, and {z} was not.
{x} could {a}.
{x} could not {a}.

passive | names | deeds
{w} has {a} {x}, {z} has {a} {w}, and nobody has {a} {y}.
{x} was {a} by {w}.
{x} was not {a} by {w}.

passive | names | deeds
Of {z} we know nothing; {y} was not {a} by {w}, but {x} was.
{w} {a} {x}.
{w} did not {b} {x}.

exchange | names | goods
{w} has bought a {a} from {x} but nothing from {y}, and has written to {z}.
{x} sold a {a} to {w}.
{x} did not sell a {a} to {w}.

exchange | names | goods
{z} has a {a}, {y} would not lend {w} one, and {x} did.
{w} borrowed a {a} from {x}.
{w} did not borrow a {a} from {x}.

implicatives | names | handle parts
{y} did not manage to {a} the {c}, {x} did, and {z} wanted to.
{x} {b} the {c}.
{x} did not {a} the {c}.

implicatives | names | handle parts
{x} did not forget to {a} the {c}, {y} did not remember to, and {z} was told to.
{x} {b} the {c}.
{x} did not {a} the {c}.

implicatives | names | handle parts
{z} meant to {a} the {c}, {x} really did, and {y} refused to.
{x} {b} the {c}.
{x} did not {a} the {c}.

location | pictures | below
The {y} is below the {a}, the {z} is not far from it, and above it hangs the {x}.
The {x} is above the {a}.
The {x} is not above the {a}.

location | names
{w} sat to the right of {x} and to the left of {y}, and {z} sat down with them.
{x} sat to the left of {w}.
{x} did not sit to the left of {w}.

location | names | places
{x} is in the {a}, {y} has just gone out of it, and {z} is on the phone.
{x} is in the {a}.
{x} is not in the {a}.

numbers | crowds | places
In the {a} there were {low} {y}, some {z} and {high} {x}.
There were more than {mid} {x} in the {a}.
There were fewer than {mid} {x} in the {a}.

numbers | names | kin
{z} has some {a}, {y} has {low}, and {x} has {high}.
{x} has more than {mid} {a}.
{x} does not have more than {mid} {a}.

kinds | names | kinds
{y} has never bought any {c}, {x} has just bought a {a}, and {z} has asked for some {c}.
{x} has bought a {b}.
{x} has never bought a {b}.

kinds | names | animals
{x} saw a {a}, {z} saw something in the grass, and {y} saw no {c} at all.
{x} saw a {b}.
{x} did not see a {b}.

same | names | areas
{w} lives in the same {a} as {x}, but in a different one from {y}, and knows {z} well.
{x} and {w} live in the same {a}.
{x} and {w} do not live in the same {a}.

opposites | places | states
The {z} is old, the {y} is {b}, and the {x} is {a}.
The {x} is not {b}.
The {x} is not {a}.

opposites | names
{w} played against {z}, lost to {x}, and won against {y}.
{x} beat {w}.
{x} did not beat {w}.

opposites | names
{x} agrees with {w}, {z} has asked {w}, and {y} thinks that {w} is wrong.
{x} agrees with {w}.
{x} does not agree with {w}.
"""

_DEV = """
negation | names | goods
Whereas {x} owns a {a}, {y} does not, and {z} often draws one.
{x} has a {a}.
{x} does not have a {a}.

time | names | places
{y} is no longer at the {a}, {z} is on the phone, and {x} is still there.
{x} is at the {a}.
{x} is not at the {a}.

relative clause | people | traits
The {x} is {a}, but the {y}, who is looking for the {z}, is {b}.
The {x} is {a}.
The {x} is not {a}.

attachment | places | states
Near the {z} there is a {x} that is {a} and a {y} that is not.
The {x} is {a}.
The {x} is not {a}.

comparison | names
{z} and {x} are friends of {w}, who is younger than {x} and older than {y}.
{x} is older than {w}.
{x} is not older than {w}.

order | names | acts
Before {w} {b}, {x} did; {y} only {b} after that, and {z} {b} alone.
{x} {b} before {w}.
{x} did not {a} before {w}.

conjunction | names | hobbies
Neither {y} nor {w} likes {a}; both {v} and {x} do, and {z} said nothing.
{x} likes {a}.
{x} does not like {a}.

knowledge | names | feelings
{z} wonders why {x} was {a} and {y} was not.
{x} was {a}.
{x} was not {a}.

quantifiers | crowds | feelings
Every one of the {x} was {a}, which is not true of the {y}, and the {z} were late.
All of the {x} were {a}.
Not all of the {x} were {a}.

passive | names | deeds
{w} was {a} by {z}, and {x} but not {y} was {a} by {w}.
{w} {a} {x}.
{w} did not {b} {x}.

implicatives | names | handle parts
In the end {x} managed to {a} the {c}, which {y} had failed to do; we forgot to ask {z}.
{x} {b} the {c}.
{x} did not {a} the {c}.

numbers | names | kin
{y} met {low} {a}, {z} met some, and {x} met {high}.
{x} met more than {mid} {a}.
{x} met fewer than {mid} {a}.
"""

_TEST = """
negation | names | hobbies
While {y} does not like {a}, {x} does; as for {z}, nobody can say.
{x} likes {a}.
{x} does not like {a}.

negation | names | goods
Of the three, {z} has a picture of a {a}, {y} has no {a} at all, and {x} has a real one.
{x} has a {a}.
{x} does not have a {a}.

negation | names | countries
{a} is a country that {x} has been to, {z} has read about, and {y} has never been to.
{x} has been to {a}.
{x} has never been to {a}.

time | names | places
{y} used to work at the {a} but no longer does; {z} sometimes eats there, and {x} still works there.
{x} works at the {a}.
{x} does not work at the {a}.

time | names | places
At noon {x} had already seen the {a}, {z} was asking about it, and {y} had not seen it yet.
{x} had seen the {a}.
{x} had not seen the {a}.

relative clause | people | feelings
The {x}, who had a letter from the {z}, is {a}, but the {y} is not.
The {x} is {a}.
The {x} is not {a}.

relative clause | people | feelings
We met a {z} and two others: a {x}, who was {a}, and a {y}, who was not.
The {x} was {a}.
The {x} was not {a}.

attachment | places | states
The {x} behind the {z} is {a} at night, whereas the {y} is {b}.
The {x} is {a} at night.
The {x} is not {a} at night.

comparison | names
As {z} knows, {w} is younger than {x} and older than {y}.
{x} is older than {w}.
{x} is not older than {w}.

comparison | names
{z} is a head taller than {y}; {w} is taller than {y}, too, but shorter than {x}.
{x} is taller than {w}.
{x} is not taller than {w}.

comparison | places | places
Near the {x} and the {z} lies the {a}, which is smaller than the {x} and bigger than the {y}.
The {x} is bigger than the {a}.
The {x} is not bigger than the {a}.

order | names | acts
First {x} {b}, then {w}, then {y}; when {z} {b} is not known.
{x} {b} before {w}.
{x} did not {a} before {w}.

order | names
{w} came after {x} but before {y}, and {z} came on foot.
{x} came before {w}.
{x} did not come before {w}.

conjunction | names | skills skills
Unlike {y}, {x} can {a}, and {z} can {b}.
{x} can {a}.
{x} cannot {a}.

conjunction | names | skills
{z} was not asked; of the others, {x} and {w} could {a}, but {y} and {v} could not.
{x} could {a}.
{x} could not {a}.

possibility | names | events
{z} might come to the {a}, {y} surely will not, and {x} surely will.
{x} will come to the {a}.
{x} will not come to the {a}.

possibility | names | acts
That {y} {b} is false, that {z} did is what {w} believes, and that {x} did is true.
{x} {b}.
{x} did not {a}.

knowledge | places | states
{w} asks whether the {z} is {a}, and sees that the {y} is {b} and the {x} is {a}.
The {x} is {a}.
The {x} is not {a}.

condition | places | states
If the {z} is {a}, {w} will go there; the {x} is {a} anyway, and the {y} is not.
The {x} is {a}.
The {x} is not {a}.

cause | names | feelings
Being {a}, {x} stayed at home with {z}; {y}, not being {a}, went out.
{x} was {a}.
{x} was not {a}.

quantifiers | crowds | feelings
Yesterday not all of the {y} were {a}, the {z} stayed at home, and all of the {x} were {a}.
Every one of the {x} was {a}.
Not every one of the {x} was {a}.

quantifiers | crowds | acts
Not one of the {y} {b}, but a few of the {x} did, and we could not see the {z}.
Some of the {x} {b}.
None of the {x} {b}.

passive | names | deeds
{z} {a} {w}, and {w} in turn {a} {x}, but not {y}.
{x} was {a} by {w}.
{x} was not {a} by {w}.

passive | names | deeds
We know that it was {w} who {a} {x} and not {w} who {a} {y}; who {a} {z}, we do not know.
{x} was {a} by {w}.
{x} was not {a} by {w}.

exchange | names | goods
{w} looked at a {a} of {z}'s, bought nothing from {y}, and bought a {a} from {x}.
{x} sold a {a} to {w}.
{x} did not sell a {a} to {w}.

implicatives | names | handle parts
Asked to {a} the {c}, {y} refused, {z} said nothing, and {x} did so.
{x} {b} the {c}.
{x} did not {a} the {c}.

implicatives | names | handle parts
Where {y} had failed to {a} the {c}, {x} managed to, and {z} wanted to.
{x} {b} the {c}.
{x} did not {a} the {c}.

location | pictures | below
Below the {a} hangs the {y}, not far from it the {z}, and above it the {x}.
The {x} is above the {a}.
The {x} is not above the {a}.

location | names
{z} stood near {w}, {y} stood on the right of {w}, and {x} on the left.
{x} stood to the left of {w}.
{x} did not stand to the left of {w}.

numbers | crowds | places
We did not count the {z} in the {a}, but we counted {low} {y} and {high} {x}.
There were more than {mid} {x} in the {a}.
There were fewer than {mid} {x} in the {a}.

kinds | names | animals
{y} photographed everything but {c}, {z} likes {c}, and {x} photographed a {a}.
{x} photographed a {b}.
{x} did not photograph a {b}.

same | names | areas
{x}, not {y}, lives in the same {a} as {w}; where {z} lives is not known.
{x} and {w} live in the same {a}.
{x} and {w} do not live in the same {a}.

numbers | names | kin
{y} has {low} {a} and {x} has {high}; how many {z} has is not known.
{x} has more than {mid} {a}.
{x} does not have more than {mid} {a}.

opposites | names
{x} has been asleep for an hour, {z} is in bed, and {y} is wide awake.
{x} is asleep.
{x} is not asleep.

opposites | names
{w} lost to {x} and won against {y}, and {z} came to watch.
{x} beat {w}.
{x} did not beat {w}.
"""

FRAMES: Final[Mapping[Split, tuple[Frame, ...]]] = {"train": read(_TRAIN), "dev": read(_DEV), "test": read(_TEST)}

POOLS: Final[Mapping[Split, Mapping[str, str]]] = {
    "train": {
        "names": "Anna, Peter, Maria, Tom, Lucy, David, Sarah, Paul, Nina, Mark, Julia, Robert, Susan, James, Kate",
        "people": "baker, nurse, farmer, pilot, lawyer, painter, waiter, dentist, plumber, barber",
        "crowds": "students, teachers, players, drivers, dancers, guards, boys, girls",
        "feelings": "tired, angry, happy, hungry, proud, nervous",
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
        "hobbies": "golf, tea, cake",
        "acts": "smile/smiled, jump/jumped, frown/frowned",
        "deeds": "warned/warn, kissed/kiss, called/call",
        "handle": "push/pushed, move/moved",
        "parts": "shelf, bench, barrel",
        "kin": "actors, ministers",
    },
    "test": {
        "names": "Emma, Daniel, Laura, Simon, Clara, Martin, Frank, Ellen",
        "people": "doctor, gardener, butcher, poet, king, priest",
        "crowds": "children, visitors, hunters, monks",
        "feelings": "ill, sad, exhausted, upset",
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
