"""Entities: people, places and organizations in sentences, a tag for each word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from training.finetuning.data import OUTSIDE, BuiltIn, Split, Tagged
from training.finetuning.writing import Deck, generator, shuffled

TYPES: Final = ("ORGANIZATION", "PERSON", "PLACE")
LABELS: Final = (OUTSIDE, *(f"{mark}-{type_}" for type_ in TYPES for mark in "BI"))
_COUNTS: Final[Mapping[Split, int]] = {"train": 280, "dev": 80, "test": 80}
_WITHOUT = 0.1  # of the sentences hold no entity
_SLOT = re.compile(r"\{([plco])\}")
_TYPES = {"p": "PERSON", "l": "PLACE", "c": "PLACE", "o": "ORGANIZATION"}


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))


FIRST: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": _split(
        "Anna, Peter, Maria, John, Laura, David, Emma, Mark, Rose, Daniel, Julia, Robert, Grace, Thomas, Helen, Frank, "
        "Sarah, Will, Clara, Martin, Alice, Jack, Nora, Steven"
    ),
    "dev": _split("Olivia, George, Hannah, Paul, Irene, Victor, Hope, Carl, Bella, Amir, Faith, Leon"),
    "test": _split("Lucy, Henry, Ruth, Oscar, May, Simon, Diana, Walter, Ella, Hugo, Joy, Edward"),
}
LAST: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": _split(
        "Miller, Garcia, Novak, Brown, Fischer, Rossi, Baker, Larsen, Silva, Green, Kowalski, Moore, Tanaka, Hill, "
        "Dubois, Clark, Jansen, Wood, Murphy, Stone"
    ),
    "dev": _split("Cooper, Moreau, Petrov, Young, Haas, Carpenter, Lopez, Bergman, Fields, Ricci"),
    "test": _split("Bishop, Weber, Santos, King, Lindberg, Fox, Okafor, Price, Marino, Banks"),
}
CITIES: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": _split(
        "Paris, Chicago, Madrid, Oslo, New York, Lisbon, Vienna, Cairo, Warsaw, Boston, Athens, Rio de Janeiro, "
        "Prague, Cape Town"
    ),
    "dev": _split("Dublin, Cork, San Francisco, Split, Zurich, Buenos Aires, Mobile, Kyoto"),
    "test": _split("Rome, Reading, Los Angeles, Berlin, Bath, Hong Kong, Naples, Nice"),
}
COUNTRIES: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": _split("Kenya, Brazil, Canada, South Korea, Norway, Mexico"),
    "dev": _split("Peru, Ghana, Wales"),
    "test": _split("Finland, Chile, Scotland"),
}
ORGANIZATIONS: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": _split(
        "Northwind Airlines, Bluefield Bank, Harper and Sons, Ridgeway University, Solara Motors, Greenleaf Foods, the "
        "Ministry of Health, Orion Software, Baxter Hospital, the Harbour Museum, Falcon Insurance, Maple Books, Quick "
        "Post, Delta Steel, the Rivers Trust, Nordia Telecom, Silverline Radio, Kestrel Media"
    ),
    "dev": _split(
        "Pioneer College, Atlas Shipping, the Forest Agency, Luna Chocolates, Crown Hotels, Lakeside Credit Union, the "
        "Department of Justice, Compass Software House, the Lantern Gallery, Juniper Tools"
    ),
    "test": _split(
        "Eastgate Savings Bank, Marlin Electronics, the Ministry of Transport, Whitfield School, Acorn Pharma, Summit "
        "Railways, the Old Mill Theatre, Target Cycles, Brightwater Energy, Amber Studios"
    ),
}
# {p} is a person, {o} an organization, {c} a city, {l} a city or a country.
TEMPLATES: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": (
        "{p} moved from {l} to {l} last summer .",
        "{p} works for {o} in {l} .",
        "The head of {o} , {p} , will visit {l} in March .",
        "{o} is looking for a new office in {c} .",
        "In {l} , {p} met {p} for the first time .",
        "“ We are proud of the result , ” said {p} of {o} .",
        "{p} , who was born in {l} , now lives near {c} .",
        "The train from {c} arrives at noon , and {p} is on it .",
        "{o} and {o} signed a contract on Monday .",
        "According to {o} , the old bridge in {c} is safe .",
        "My neighbour {p} sold the piano to {p} .",
        "The letter from {p} reached {l} three weeks later .",
        "{p} worked for {o} before moving to {o} .",
        "Nobody at {o} knew that {p} had left {l} .",
        "It was {p} who called the police in {l} .",
        "Flights to {l} were cancelled , and the guests of {o} arrived late .",
        "Is {c} colder than {c} in winter ?",
        "Last year {o} paid {p} for three paintings .",
        "“ Call me , ” wrote {p} on a postcard from {l} .",
        "The director thanked {p} , {p} and the team of {o} .",
    ),
    "dev": (
        "In July {p} spent two weeks in {l} .",
        "A woman from {o} wrote an angry letter to {p} .",
        "{p} rented a quiet room in {c} for the spring .",
        "Both {o} and {o} will send experts to {l} .",
        "The prize went to {p} , a teacher from {l} .",
        "At the party , {p} danced with {p} all evening .",
        "Workers at {o} went on strike again .",
        "The best hotel in {c} was full , so {p} slept in a tent .",
        "{o} has closed its rooms in {l} because the roof leaks .",
        "When did {p} first travel to {l} ?",
        "The treasurer of {o} , {p} , grew up in {l} .",
        "A cousin of {p} lost a ring at the entrance of {o} .",
    ),
    "test": (
        "Yesterday {p} flew to {l} with a group of students .",
        "A spokesman for {o} refused to speak to {p} .",
        "{p} bought a small house outside {c} , not far from the motorway .",
        "Both {o} and {o} want to rent rooms in {l} .",
        "The book by {p} is about a childhood in {l} .",
        "After the match , {p} shook hands with {p} .",
        "The staff of {o} complained about the delay .",
        "There are many museums in {c} , and {p} has seen them all .",
        "{o} lost money because a trip to {l} was put off .",
        "Why did {p} never return to {l} ?",
        "The lawyer of {o} , {p} , lives in {l} .",
        "A friend of {p} found the keys near the office of {o} .",
    ),
}
# Without entities, some with words that are names elsewhere.
WITHOUT: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": (
        "A red rose stood on the table .",
        "The baker will open at six .",
        "He threw a stone into the green water .",
        "We walked up the hill and rested in a wood of oaks .",
        "The bank of the river was covered with snow .",
        "The dancers moved with grace .",
        "Her brown coat hung behind the door .",
        "The report was sent to the office yesterday .",
        "It will rain in the south tomorrow .",
        "The university closed early because of the heat .",
        "A jack is needed to lift the car .",
        "They counted the maple trees along the road .",
        "The museum by the harbour was full of children .",
        "Please mark the page with a pencil .",
        "The train was late and the waiting room cold .",
        "A quick post in the forum answered the question .",
        "No one has seen the falcon since June .",
        "The hospital needs new beds .",
        "His sons repaired the roof together .",
        "The radio played softly in the kitchen .",
        "Some rivers are deeper than they look .",
        "The ministry has not answered yet .",
        "Three motors failed in one week .",
        "Some foods are best eaten raw .",
        "A blue field of flowers lay before us .",
        "The books were wet from the rain .",
        "The river ends in a wide delta .",
        "The director left her keys at home .",
    ),
    "dev": (
        "A young crown prince waved to the crowd .",
        "The cooper and the carpenter mended an old barrel .",
        "The hotels by the lake close in October .",
        "He pulled the cork out of the bottle .",
        "They lost all hope and faith .",
        "A mobile phone rang during the concert .",
        "We split the bill and walked home through the fields .",
        "The compass and the lantern lay in a box of tools .",
    ),
    "test": (
        "A king and a bishop are pieces in chess .",
        "The price of bread may rise again .",
        "To our joy , a fox ran across the garden .",
        "She was reading in the bath .",
        "It would be nice to sit by the fire .",
        "The banks of the canal are steep .",
        "An acorn fell on the old mill .",
        "He missed the target twice .",
    ),
}


def _entity(kind: str, decks: Mapping[str, Deck[str]], rng: np.random.Generator, used: list[str]) -> list[str]:
    """The words of one that is not among the names ``used``, which are added to."""
    if kind != "p":
        used.append(decks[kind].draw(*used))
        return used[-1].split()
    first, last = decks["first"].draw(*used), decks["last"].draw(*used)
    used += [first, last]
    drawn = rng.random()
    if drawn < 0.6:
        return [first, last]
    return [first] if drawn < 0.85 else [last]


def _filled(template: str, decks: Mapping[str, Deck[str]], rng: np.random.Generator) -> Tagged:
    words: list[str] = []
    tags: list[str] = []
    used: list[str] = []
    for piece in template.split():
        slot = _SLOT.fullmatch(piece)
        if slot is None:
            words.append(piece)
            tags.append(OUTSIDE)
            continue
        own = _entity(slot[1], decks, rng, used)
        if own[0] == "the":  # no part of the name
            words.append("the" if words else "The")
            tags.append(OUTSIDE)
            own = own[1:]
        words += own
        tags += [f"B-{_TYPES[slot[1]]}", *[f"I-{_TYPES[slot[1]]}"] * (len(own) - 1)]
    return Tagged(tuple(words), tuple(tags), template)


def _items(split: Split) -> tuple[Tagged, ...]:
    rng = generator(split)
    decks = {
        "first": Deck(rng, FIRST[split]),
        "last": Deck(rng, LAST[split]),
        "l": Deck(rng, CITIES[split] + COUNTRIES[split]),
        "c": Deck(rng, CITIES[split]),
        "o": Deck(rng, ORGANIZATIONS[split]),
    }
    templates, without = Deck(rng, TEMPLATES[split]), Deck(rng, WITHOUT[split])
    n_without = round(_WITHOUT * _COUNTS[split])
    found = {}
    for _ in range(n_without):
        words = tuple(without.draw().split())
        found[words] = Tagged(words, (OUTSIDE,) * len(words))
    while len(found) < _COUNTS[split]:
        item = _filled(templates.draw(), decks, rng)
        found[item.words] = item
    return shuffled(rng, list(found.values()))


SET = BuiltIn(
    name="entities",
    title="Entities",
    kind="tagging",
    question="Which words name a person, a place or an organization?",
    card="""\
**440 sentences** written for this project from 44 templates and 44 sentences without an entity: 280 to train on, 80 for
development, 80 for the test. Words carry tags as in B-PERSON (a name begins), I-PERSON (it goes on) and O (no entity),
for people, places and organizations; organizations are invented. Punctuation marks are words of their own.

**How the splits are kept apart.** No template and no sentence is in two splits, and no first name, family name, place
or organization is: a name memorized in training is of no use in the test. Single words of organizations (Bank,
Software, of) occur in several splits. The development split is of the same kind as the test: as many templates with the
same kinds of names in them, and as many names.

**Balance.** A tenth of each split holds no entity. Some names are also words, and occur as both within a split: Rose
and a rose, Bath and a bath.

**What it cannot show.** The sentences are short and clean, like the first lines of news, and each type of entity occurs
in few kinds of places. Real text has titles, initials, spelling mistakes and names that no model has seen.
""",
    items=_items,
    labels=LABELS,
    measure="entity_f1",
    tries=(
        ("Marta Jensen left Toronto and joined Greystone Analytics .", None),
        ("Did Ivan send the parcel to Lima or to Quito ?", None),
        ("The river rose after the storm .", None),
        ("Apple growers met Rosa Diaz of the Orchard Council in Kent .", None),
    ),
)
