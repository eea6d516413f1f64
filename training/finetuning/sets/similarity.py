"""Similarity: pairs of sentences scored from 0 to 5 by how much of what they say is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np

from training.finetuning.data import SPLITS, BuiltIn, Scored, Split
from training.finetuning.writing import shuffled

_SEED = 15
_PER_SCORE: Final[Mapping[Split, int]] = {"train": 35, "dev": 5, "test": 10}


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing that happens, in several wordings.

    ``said`` and ``again`` say the same (5). ``detail`` leaves out or adds something small (4). ``other`` has the same
    people doing something else of the kind, or something important changed (3). ``shares`` has some details in common
    (2). ``topic`` is about the same topic alone (1).
    """

    said: str
    again: str
    detail: str
    other: str
    shares: str
    topic: str


def _scenes(text: str) -> tuple[Scene, ...]:
    return tuple(Scene(*(line.strip() for line in block.strip().splitlines())) for block in text.strip().split("\n\n"))


_TRAIN = _scenes("""
A man is slicing an onion in the kitchen.
Somebody cuts up an onion where meals are cooked.
A man is slicing a large onion.
A man is slicing bread in the kitchen.
A woman is washing an onion.
The recipe calls for two tomatoes.

The boy kicked the ball over the fence.
A child's shot sent the football across the fence.
The boy kicked the ball far over the fence.
The boy threw the ball against the fence.
The boy painted the fence.
The match ended without a goal.

Two dogs are running along the beach.
A pair of hounds races beside the sea.
Two dogs are running along the sunny beach.
Two dogs are sleeping on the beach.
A girl is running along the beach.
Our puppy likes its new basket.

The shop closes at six in the evening.
After 6 p.m. one cannot buy anything in the store.
The shop closes at about six.
The shop opens at six in the morning.
The library closes at six.
Prices in the market have risen.

She plays the violin in a large orchestra.
As a violinist she belongs to a big symphonic ensemble.
She plays the violin in an orchestra.
She sings in a large choir.
He repairs violins in a small workshop.
The concert hall has a new roof.

The old bridge was destroyed by a flood.
High water swept the ancient crossing away.
The old bridge was destroyed by a flood in spring.
The old bridge was damaged by a fire.
A new bridge was opened last week.
The river is full of fish.

A teacher explains the homework to her class.
The pupils are told by their instructor what to do at home.
A teacher carefully explains the homework.
A teacher collects the homework from her class.
A mother helps with the homework.
The school needs a new gym.

The plane landed safely in spite of the storm.
Though the weather was wild, the aircraft came down unharmed.
The plane landed safely in spite of the heavy storm.
The plane could not take off because of the storm.
The ship reached the harbour in spite of the storm.
Airline tickets are cheaper in autumn.

My sister has bought a used bicycle.
A second-hand bike now belongs to my sister.
My sister has bought a cheap used bicycle.
My sister has sold her old bicycle.
My brother has bought a used car.
Cycling is good for the heart.

The doctor told him to stop smoking.
He was advised by his physician to give up cigarettes.
The doctor told him once more to stop smoking.
The doctor told him to sleep more.
The nurse took his temperature.
The hospital stands on a hill.

Snow covered all the roofs of the village.
Every house in the hamlet was white on top.
Snow covered nearly all the roofs of the village.
Snow blocked all the roads of the village.
Leaves covered the roofs of the cars.
Summers are getting hotter.

The baker sells fresh rolls every morning.
Each day at dawn one can get newly baked buns from him.
The baker sells fresh rolls every morning but Sunday.
The baker gives old rolls away every evening.
The butcher sells fresh sausages.
Wheat is grown in this valley.

A girl is drawing a horse with a pencil.
With her crayon a child sketches a pony.
A girl is drawing a small horse with a pencil.
A girl is riding a horse through the field.
A girl is drawing a map with a pencil.
The exhibition ends on Friday.

The company fired half of its workers.
Every second employee lost his job with the firm.
The company fired nearly half of its workers.
The company hired fifty new workers.
The company moved to another town.
Taxes will rise next year.

He forgot his umbrella on the bus.
His brolly was left behind when he got off the coach.
He forgot his black umbrella on the bus.
He lost his wallet on the bus.
He waited for the bus in the rain.
The subway runs all night.

The cat is hiding under the bed.
Beneath the mattress the kitten keeps out of sight.
The frightened cat is hiding under the bed.
The cat is sleeping on the bed.
The shoes are under the bed.
Vets study for six years.

The film was too long for the children.
The young ones could not sit through the whole picture.
The film was a little too long for the children.
The film was too scary for the children.
The children made a short film.
The cinema has four hundred seats.

They painted the walls of the bathroom green.
The room with the tub now has a grass-coloured coat.
They painted the walls of the small bathroom green.
They painted the door of the bathroom white.
They cleaned the bathroom.
Paint should be stored in a cool place.

The thief escaped through the window.
By way of the open casement the burglar got away.
The thief escaped through the kitchen window.
The thief was caught at the window.
The window was broken by a ball.
The police station is being rebuilt.

We planted three apple trees behind the house.
In our back garden there are now a few young trees that will bear fruit.
We planted three small apple trees behind the house.
We cut down the apple tree behind the house.
We parked the car behind the house.
Orchards need a lot of water.
""")

_DEV = _scenes("""
The farmer milks his cows before breakfast.
Early in the day, on an empty stomach, he gets the milk from the herd.
The farmer milks all his cows before breakfast.
The farmer feeds his pigs before breakfast.
The farmer sells his tractor.
Cheese is made in the next valley.

The singer cancelled her tour because of a cold.
Being ill, the vocalist called off all her shows.
The singer cancelled her tour because of a bad cold.
The singer finished her tour although she had a cold.
The singer wrote a song about winter.
The album has twelve tracks.

A waiter spilled coffee on my jacket.
My coat was stained by somebody serving drinks.
A young waiter spilled coffee on my jacket.
A waiter brought my jacket.
I spilled tea on the table.
The restaurant has two stars.
""")

_TEST = _scenes("""
The lake was frozen from shore to shore.
Ice lay on the whole of the water.
The lake was completely frozen from shore to shore.
The lake was warm enough to swim in.
The pipes were frozen in the cellar.
Skating is popular in the north.

An engineer invented a lamp that needs no battery.
A light that runs without cells was devised by a technician.
A young engineer invented a lamp that needs no battery.
An engineer improved a lamp with a battery.
An engineer designed a dam.
Electricity is expensive here.

The lawyer read the contract twice.
Two times the agreement was studied by the attorney.
The careful lawyer read the contract twice.
The lawyer signed the contract at once.
The tenant lost the contract.
The court is closed on Mondays.

Grandmother told us a story about a dragon.
From granny we heard a tale of a fire-breathing monster.
Grandmother told us a long story about a dragon.
Grandmother read us a letter about a wedding.
Grandmother knitted us scarves.
Fairy tales are older than books.

A truck blocked the narrow road for hours.
For a long time nobody could pass the small street because of a lorry.
A broken truck blocked the narrow road for hours.
A truck left the narrow road in a curve.
A truck carried sand to the town.
Traffic lights were invented long ago.

The gardener waters the roses at night.
After dark the flowers get a drink from the man who tends them.
The gardener waters the red roses at night.
The gardener cuts the roses in the afternoon.
The gardener sharpens his spade.
Bees have a good sense of smell.

The students protested against higher fees.
Young people at the university marched because studying is to cost more.
The angry students protested against higher fees.
The students protested against a new exam.
The students celebrated their exam.
A degree takes three years.

A sailor found an unknown island.
Land that was on no map was discovered by a seaman.
A sailor found a small unknown island.
A sailor left the island for ever.
A sailor mended his net.
The tide turns twice a day.

The new phone is too heavy for my pocket.
My trousers cannot hold so weighty a mobile.
The new phone is a bit too heavy for my pocket.
The new phone is too slow for my work.
My new coat has four pockets.
Chargers often get lost.

The judge believed the witness.
What the person who had seen it said convinced the court.
In the end the judge believed the witness.
The judge sent the witness home.
The judge wore glasses.
Trials can last for years.
""")

SCENES: Final[Mapping[Split, tuple[Scene, ...]]] = {"train": _TRAIN, "dev": _DEV, "test": _TEST}


def _candidates(score: int, scenes: Sequence[Scene]) -> list[tuple[str, str]]:
    """The pairs of one score, those that are used first in front."""
    if score == 0:
        n = len(scenes)
        apart = [(scenes[place], scenes[(place + step) % n]) for step in range(1, n) for place in range(n)]
        return [(one.said, other.again if place % 2 else other.said) for place, (one, other) in enumerate(apart)]
    if score == 5:
        return [(each.said, each.again) for each in scenes] + [(each.again, each.said) for each in scenes]
    second = [(each, (each.topic, each.shares, each.other, each.detail)[score - 1]) for each in scenes]
    firsts = [[(each.said, text) for each, text in second], [(text, each.again) for each, text in second]]
    if score < 4:
        firsts.append([(each.detail, text) for each, text in second])
    return [pair for pairs in firsts for pair in pairs]


def _items(split: Split) -> tuple[Scored, ...]:
    rng = np.random.default_rng((_SEED, SPLITS.index(split)))
    scenes = shuffled(rng, SCENES[split])
    scene_of = {text: scene.said for scene in scenes for text in astuple(scene)}
    items = [
        Scored(first, second, float(score), scene_of[first])
        for score in range(6)
        for first, second in _candidates(score, scenes)[: _PER_SCORE[split]]
    ]
    return shuffled(rng, items)


SET = BuiltIn(
    name="similarity",
    title="Similarity",
    kind="similarity",
    question="How much of what two sentences say is the same?",
    card="""\
**300 pairs** of sentences written for this project around 33 small scenes: 210 to train on, 30 for development, 60 for
the test. Scores follow a rule. **5**: the same in other words. **4**: the same but for an unimportant detail. **3**:
something important is different. **2**: a few details are shared. **1**: the topic alone. **0**: nothing.

**Balance.** A sixth of each part has each score. Words in common do not give the score away: pairs of 5 share few of
them and pairs of 3 many. Over all pairs the rank correlation of the score with the share of words in common
(Jaccard) is 0.29 in the training part and 0.45 in the test, most of it because pairs of 0 and 1 share hardly any.

**How the parts are kept apart.** A scene and its sentences are in one part only, and scenes of different parts are
about different things. A sentence occurs in several pairs of its part, and some pairs of 5 in both orders.

**What it cannot show.** The scores come from a rule and not from many people’s judgements, the sentences are short,
and nothing depends on a wider context.
""",
    items=_items,
    measure="spearman",
    tries=(
        ("A chef is tasting the sauce.", "The cook tries a spoonful of gravy."),
        ("The museum is open on holidays.", "The museum is closed on holidays."),
        ("A carpenter is sawing a board.", "A carpenter is carrying a ladder."),
        ("The moon is full tonight.", "Potatoes should not be stored in the light."),
    ),
)
