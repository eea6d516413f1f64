"""Questions on short passages, with the answer's place in the passage, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from training.finetuning.data import PARTS, Asked, BuiltIn, Part
from training.finetuning.writing import Deck, shuffled

_PASSAGES: Final[Mapping[Part, int]] = {"train": 42, "dev": 6, "test": 12}
_ANSWERED = 3  # questions of a passage that it answers; one more that it does not
_SEED = 15


@dataclass(frozen=True, slots=True)
class Topic:
    """A passage with slots ({a}, {b}, ...), what fills each of them, and questions: (question, slot that answers it).

    ``open`` are questions on the same thing that no passage of the topic answers.
    """

    passage: str
    slots: Mapping[str, str]
    asked: tuple[tuple[str, str], ...]
    open: tuple[str, ...]


_TRAIN: Final = (
    Topic(
        "Last {a} the {b} class of our school went to the {c}. They left at {d} and travelled by {e}. At noon they "
        "ate beside a small lake, where {f} fell into the water. Nobody was hurt, and all of them came home tired but "
        "happy.",
        {
            "a": "Monday, Wednesday, Friday, week", "b": "youngest, second, third, oldest",
            "c": "science museum, zoo, castle, puppet theatre", "d": "seven o'clock, half past eight, dawn, nine sharp",
            "e": "bus, train, boat, tram", "f": "a hat, a camera, two sandwiches, the teacher's bag",
        },
        (
            ("Which place did the pupils visit?", "c"),
            ("When did they set off?", "d"),
            ("How did they get there?", "e"),
            ("What dropped into the lake?", "f"),
        ),
        ("How much did the tickets cost?", "Who planned the trip?"),
    ),
    Topic(
        "For this soup you need {a}, an onion and {b}. Cut everything into pieces and boil it for {c}. Then add {d} "
        "and stir well. My grandmother, who learned the recipe from {e}, always served it with {f}. It tastes even "
        "better on the following day.",
        {
            "a": "three carrots, a small pumpkin, two leeks, half a cabbage", "b": "a potato, some rice, red beans, a "
            "turnip", "c": "twenty minutes, an hour, half an hour, forty minutes", "d": "a spoon of cream, fresh "
            "parsley, a little pepper, lemon juice", "e": "a neighbour, her aunt, a sailor, an old cookbook",
            "f": "dark bread, dumplings, grated cheese, a boiled egg",
        },
        (
            ("For how long does it have to cook?", "c"),
            ("What goes in after the boiling?", "d"),
            ("Who taught the old woman to make this dish?", "e"),
            ("What was eaten together with it?", "f"),
        ),
        ("How many people does it feed?", "What does the pot cost?"),
    ),
    Topic(
        "The {a} lives in the forests of the {b}. It is about as large as a {c} and eats mostly {d}. The female hides "
        "her young {e}. In winter the animal sleeps for {f}, and only hunger can wake it before the first warm days.",
        {
            "a": "silver marten, ringed dormouse, marsh squirrel, crested badger", "b": "north, east, high mountains, "
            "river delta", "c": "cat, rabbit, hen, small dog", "d": "nuts and berries, beetles, roots, fallen fruit",
            "e": "in hollow trees, under stones, in old nests, behind waterfalls", "f": "four months, ten weeks, half "
            "the year, ninety days",
        },
        (
            ("What is its main food?", "d"),
            ("Where are the babies kept?", "e"),
            ("How long does it rest in the cold season?", "f"),
            ("To what is its size compared?", "c"),
        ),
        ("How fast can it run?", "Who discovered this species?"),
    ),
    Topic(
        "The library on {a} was built in {b} with money from {c}. It holds some {d} books, the oldest of which is {e}. "
        "Since the roof was repaired, {f} have been kept on the top floor. Readers may borrow five volumes at a time.",
        {
            "a": "Mill Street, Castle Hill, the market square, Garden Road", "b": "1902, 1887, 1931, 1954", "c": "a "
            "brewer, a rich widow, the railway company, two brothers", "d": "forty thousand, nine thousand, a hundred "
            "thousand, sixty thousand", "e": "a herbal, an atlas, a prayer book, a dictionary", "f": "the maps, old "
            "newspapers, the children's books, rare prints",
        },
        (
            ("Who paid for the building?", "c"),
            ("In which year was it put up?", "b"),
            ("What is found under the roof now?", "f"),
            ("Which work is older than all others there?", "e"),
        ),
        ("Who is the head of the library?", "At what time does it close?"),
    ),
    Topic(
        "Before you use the {a}, fill the tank with {b}. Press the {c} button and wait until {d}. If the machine makes "
        "a loud noise, {e}. Clean the filter every {f}, and never leave the cable near the stove.",
        {
            "a": "steam cleaner, coffee machine, humidifier, bread maker", "b": "cold water, two cups of water, "
            "distilled water, warm water", "c": "green, round, upper, small", "d": "the lamp goes out, a bell rings, "
            "the lid opens, the arrow turns blue", "e": "pull the plug, close the valve, lower the heat, call the shop",
            "f": "month, ten days, Sunday, third use",
        },
        (
            ("What has to be poured in?", "b"),
            ("What shows that it is ready?", "d"),
            ("What should be done when it gets noisy?", "e"),
            ("Which of the buttons must be pushed?", "c"),
        ),
        ("How much does it weigh?", "For how many years does the guarantee last?"),
    ),
    Topic(
        "{a} won the chess tournament on {b}. In the last game she beat {c} after {d}. The winner, who works as {e}, "
        "received {f}. She told reporters that she had learned the rules from her father at the age of six.",
        {
            "a": "Irina Kessler, Maud Ferris, Chloe Adler, Nadia Brandt", "b": "Saturday, Sunday evening, Tuesday, the "
            "last day of May", "c": "a student, the champion of last year, her own cousin, a retired judge",
            "d": "five "
            "hours, ninety moves, a long night, seventy minutes", "e": "a nurse, an architect, a bus driver, a "
            "translator", "f": "a silver cup, a new clock, five hundred euros, a journey to Iceland",
        },
        (
            ("Who came first?", "a"),
            ("What is her job?", "e"),
            ("What prize did she get?", "f"),
            ("Whom did she defeat at the end?", "c"),
        ),
        ("In which town was it played?", "How many players took part?"),
    ),
    Topic(
        "In the night to {a} a storm crossed the island. It tore the roof off the {b} and {c} lost their "
        "electricity. The ferry stayed in the harbour until {d}. The mayor thanked {e}, who cleared the roads with "
        "{f}. More wind is expected next week.",
        {
            "a": "Thursday, Easter, Tuesday, the first of March", "b": "town hall, fish market, school, old mill",
            "c": "two hundred houses, all shops, three villages, half of the families", "d": "noon, the next evening, "
            "ten in the morning, sunset", "e": "the firemen, forty volunteers, the farmers, the football club",
            "f": "tractors, saws, their bare hands, a borrowed crane",
        },
        (
            ("Which building was left without its top?", "b"),
            ("Until when did no ship leave?", "d"),
            ("Who made the streets free again?", "e"),
            ("With what was the clearing done?", "f"),
        ),
        ("How many people were injured?", "What is the name of the mayor?"),
    ),
    Topic(
        "{a} opened her workshop in a former {b}. She makes {c} from {d} and sells them {e}. A single piece takes her "
        "about {f}. What she likes most, she says, is the quiet of the early morning.",
        {
            "a": "Greta Holm, Paula Winter, Ines Calder, Tilda Marsh", "b": "bakery, stable, post office, garage",
            "c": "lamps, chairs, bowls, toys", "d": "driftwood, old bottles, scrap metal, paper", "e": "at fairs, "
            "on the "
            "internet, to hotels, in a tiny shop", "f": "three days, a week, two hours, a whole month",
        },
        (
            ("What was in the rooms before?", "b"),
            ("What is her material?", "d"),
            ("How long does she need for one of them?", "f"),
            ("What does she produce?", "c"),
        ),
        ("How many people work for her?", "Where was she born?"),
    ),
    Topic(
        "The bridge over the {a} is {b} long. It was opened in {c} and replaced {d}. Because salt had damaged the "
        "steel, it was closed for {e} and painted {f}. Walkers may cross it free of charge, but lorries have to pay.",
        {
            "a": "Alder, Moss River, Long Strait, Silver Creek", "b": "three hundred metres, half a mile, ninety "
            "yards, two kilometres", "c": "1976, 1968, 1999, 1983", "d": "a ferry, a wooden bridge, a tunnel, a row of "
            "boats", "e": "eight months, two summers, a year, six weeks", "f": "dark green, white, rusty red, grey",
        },
        (
            ("What was used there before it was built?", "d"),
            ("What colour did it get?", "f"),
            ("For how long could nobody drive over it?", "e"),
            ("What is its length?", "b"),
        ),
        ("Who designed it?", "How many cars use it each day?"),
    ),
    Topic(
        "Our tomatoes grow best beside {a}. We sow them in {b} and carry the pots outside when {c}. Once a week they "
        "get {d}. Against snails my uncle puts {e} around the bed, and {f} keep the birds away.",
        {
            "a": "the south wall, the beans, a row of basil, the old fence", "b": "February, early March, small boxes, "
            "April", "c": "the frost is over, the swallows return, the lilac blooms, the nights are mild", "d": "tea "
            "made of nettles, rain water, ash, a little milk", "e": "sand, coffee grounds, egg shells, copper wire",
            "f": "old discs, silver ribbons, a scarecrow and its hat, glass bells",
        },
        (
            ("What protects them from snails?", "e"),
            ("What chases the birds off?", "f"),
            ("What are they given every seven days?", "d"),
            ("When are the plants moved into the garden?", "c"),
        ),
        ("How many tomatoes were picked last year?", "How large is the garden?"),
    ),
)  # fmt: skip

_DEV: Final = (
    Topic(
        "The choir meets every {a} in the hall behind the {b}. {c}, who leads it, studied music in {d}. This spring "
        "they will sing {e} songs by {f}. New voices are welcome, above all deep ones.",
        {
            "a": "second evening, Thursday night, other weekend", "b": "fire station, chapel, brewery", "c": "Mr Lund, "
            "Mrs Abbott, Miss Corey", "d": "Leipzig, Dakar, Montreal", "e": "twelve, eighteen, nine", "f": "local "
            "poets, a deaf composer, fishermen",
        },
        (
            ("Where was the conductor educated?", "d"),
            ("Who directs the singers?", "c"),
            ("How many pieces are planned?", "e"),
            ("Which house stands in front of the hall?", "b"),
        ),
        ("What does membership cost?", "When was the group founded?"),
    ),
    Topic(
        "A customer found {a} in a coat that she had bought for {b} at a flea market. She took it to {c}, where an "
        "expert said that it was worth {d}. The former owner of the coat, {e}, wanted nothing but {f}.",
        {
            "a": "a pearl ring, a lottery ticket, a love letter", "b": "four pounds, the price of a coffee, ten francs",
            "c": "an auction house, the lost property office, a jeweller", "d": "a fortune, nothing at all, about nine "
            "thousand pounds", "e": "a widower, a clown, an opera singer", "f": "a photograph of it, the buttons, an "
            "apology",
        },
        (
            ("What was hidden in the garment?", "a"),
            ("How much had she paid?", "b"),
            ("To whom had it belonged?", "e"),
            ("What did that person ask for?", "f"),
        ),
        ("In which city did it happen?", "What is the customer's name?"),
    ),
)  # fmt: skip

_TEST: Final = (
    Topic(
        "The desert observatory stands at a height of {a}. Its largest telescope was a gift of {b}, and its mirror "
        "weighs {c}. Astronomers there look for {d}. During the day they sleep in rooms {e}; their food is brought up "
        "by {f} once a fortnight.",
        {
            "a": "4,200 metres, 9,000 feet, two miles, 3,650 metres", "b": "a biscuit maker, the Danish crown, an "
            "unknown donor, a tyre firm", "c": "eleven tons, as much as an elephant, 860 kilograms, six tons",
            "d": "comets, dying stars, moons of other planets, dust between galaxies", "e": "below the ground, without "
            "windows, in a former mine, painted black", "f": "helicopter, mules, cable car, a patient soldier",
        },
        (
            ("Who donated the instrument?", "b"),
            ("What are the scientists searching for?", "d"),
            ("How do supplies reach them?", "f"),
            ("How heavy is the mirror?", "c"),
        ),
        ("How old is the youngest astronomer?", "Which language do they speak?"),
    ),
    Topic(
        "After her shift the pilot wrote a report. At {a} a warning light had come on because {b}. She decided to land "
        "in {c}, although {d} passengers had to miss their connection. While mechanics replaced {e}, the crew handed "
        "out {f}.",
        {
            "a": "ten past two, midnight, 4.40 a.m., twenty to eleven", "b": "a sensor was frozen, oil pressure fell, "
            "a door was loose, smoke rose from the galley", "c": "Tallinn, Porto, Nairobi, Winnipeg",
            "d": "thirty-one, "
            "all, a dozen, eighty", "e": "a fuse, the left pump, two tyres, a worn seal", "f": "chocolate, blankets, "
            "vouchers, crosswords",
        },
        (
            ("At which airport did she bring the aircraft down?", "c"),
            ("Which part was exchanged?", "e"),
            ("What was given to the travellers?", "f"),
            ("What had caused the alarm?", "b"),
        ),
        ("What was the name of the pilot?", "Where had the flight begun?"),
    ),
    Topic(
        "Divers have raised a ship that sank {a}. In its hold they found {b} and {c}, still packed in straw. A coin "
        "with the head of {d} helped them to date the wreck. The wood is now kept in {e} so that it does not crumble, "
        "and {f} will decide who owns the treasure.",
        {
            "a": "off Crete, near Bergen, in the Bay of Bengal, beside a lighthouse", "b": "clay jars, cannon balls, "
            "bronze statues, barrels of indigo", "c": "a harp, ivory combs, glass beads, a dentist's tools", "d": "an "
            "empress, King Sigmund, a bull, Athena", "e": "sugar water, a cooled pool, wax, wet sand",
            "f": "a court in "
            "Hamburg, the two governments, a committee of nine, the insurers",
        },
        (
            ("Where did the vessel go down?", "a"),
            ("In what is the timber stored?", "e"),
            ("Whose picture showed how old it is?", "d"),
            ("Who has to settle the question of ownership?", "f"),
        ),
        ("How many sailors drowned?", "How deep was the water?"),
    ),
)  # fmt: skip

TOPICS: Final[Mapping[Part, tuple[Topic, ...]]] = {"train": _TRAIN, "dev": _DEV, "test": _TEST}


def _filled(topic: Topic, decks: Mapping[str, Deck[str]], rng: np.random.Generator) -> list[Asked]:
    """The questions on one passage."""
    words = {slot: deck.draw() for slot, deck in decks.items()}
    passage, places = "", {}
    rest = topic.passage
    for slot in sorted(words, key=lambda slot: topic.passage.index("{" + slot + "}")):
        before, rest = rest.split("{" + slot + "}")
        passage += before
        places[slot] = len(passage)
        passage += words[slot]
    passage += rest
    asked = shuffled(rng, topic.asked)[:_ANSWERED]
    items = [Asked(question, passage, ((places[slot], words[slot]),)) for question, slot in asked]
    return [*items, Asked(shuffled(rng, topic.open)[0], passage, ())]


def _part(part: Part) -> tuple[Asked, ...]:
    rng = np.random.default_rng((_SEED, PARTS.index(part)))
    topics = TOPICS[part]
    decks = [
        {slot: Deck(rng, [one.strip() for one in words.split(", ")]) for slot, words in topic.slots.items()}
        for topic in topics
    ]
    items = []
    for number in range(_PASSAGES[part]):
        place = number % len(topics)
        items += _filled(topics[place], decks[place], rng)
    return shuffled(rng, items)


SET = BuiltIn(
    name="questions",
    title="Questions",
    kind="answering",
    question="Which words of the passage answer the question, if any do?",
    card="""\
**240 questions on 60 short passages** written for this project on 15 topics: 168 on 42 passages to train on, 24 on 6
for development, 48 on 12 for the test. Every answer is a piece of its passage; one question in four has none there.
Questions mostly use other words than their passage.

**How the parts are kept apart.** A topic with its passages, questions and answers is in one part only: school trips and
soups to train on, an observatory and a wreck in the test. Passages of one topic differ in six places each, where the
answers stand.

**Balance.** Three questions of a passage are answered and one is not. Questions without an answer ask for something
else than the others of their topic, so that within a part the wording alone can tell them; in the test it is new.

**What it cannot show.** The passages are short, each answer stands in one place and is a few words long. Nothing has
to be counted, compared or put together.
""",
    part=_part,
    measure="span_f1",
    tries=(
        (
            "Who repaired the clock?",
            "The clock on the tower had stopped in March. In June a student of physics repaired it with a bent spoon.",
        ),
        (
            "How long did the walk take?",
            "We walked from the village to the pass in five hours, ate cheese, and took the last bus home.",
        ),
        (
            "What did the guests drink?",
            "The wedding was held in a barn. There was a cake with four layers, and the band played until two.",
        ),
        (
            "Where is the key kept?",
            "If you arrive late, the key lies under the third flower pot. Breakfast is served from eight.",
        ),
    ),
)
