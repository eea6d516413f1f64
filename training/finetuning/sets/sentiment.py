"""Sentiment: did the writer like it? Opinions on films, books, meals, hotels, lessons and gadgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from training.finetuning.data import BuiltIn, Labelled, Split
from training.finetuning.writing import Deck, generator, shuffled, written

LABELS: Final = ("negative", "positive")


@dataclass(frozen=True, slots=True)
class Topic:
    """What opinions are about: things, parts of theirs (with a star: plural), and what one says of either."""

    things: str
    parts: str
    good: str
    bad: str


@dataclass(frozen=True, slots=True)
class Writing:
    """What the sentences of one part are written from; no template and no word of it is used in another part.

    ``each`` is how many sentences a template makes. In a template {adj}, {verdict}, {verb}, {effect} and {reaction} are
    of the label's side, {anti} is of the other: so every template makes sentences of both labels.
    """

    each: int
    templates: tuple[str, ...]
    topics: tuple[Topic, ...]
    verdicts: tuple[str, str]
    verbs: tuple[str, str]
    effects: tuple[str, str]
    reactions: tuple[str, str]
    names: str
    kin: str


_TRAIN = Writing(
    each=6,
    templates=(
        "The {thing} was really {adj}.",
        "What a {adj} {thing} this was!",
        "{name} and I {verb} the {thing} from start to finish.",
        "Everything about the {thing} was {adj}, above all the {part}.",
        "I {verb} this {thing}, and my {kin} did too.",
        "We had heard a lot about the {thing}, and it was truly {adj}.",
        "This was a {adj} {thing}, and the {part_was} {adj2}.",
        "The {part} of this {thing} {effect}.",
        "Seldom have I come across such a {adj} {thing}.",
        "For that price, the {part_was} surprisingly {adj}.",
        "{name} called the {thing} {adj}, and so would I.",
        "After ten minutes I knew how {adj} the {thing} would be.",
        "If you ask me, it was the {part} that made this {thing} so {adj}.",
        "The {thing} is {adj}, and {reaction}.",
        "This {thing}? {reaction}.",
        "It is a {adj}, {adj2} {thing}.",
        "{adj} {part}, {adj2} {thing}.",
        "{name} says that the {part_was} {adj}.",
        "My {kin} and {name} agree that the {thing} was {adj}.",
        "The {part_was} {adj}, and so was everything else.",
        "I have to say that this {thing} {effect}.",
        "From the first moment the {part_was} {adj}.",
        "You could see at once how {adj} the {part_was}.",
        "That {thing} {effect}, just like the one before.",
        "Picking this {thing} {effect}.",
        "I {verb} everything about this {thing}.",
        "This year we ended up with a {adj} {thing}.",
        "{reaction}, for the {thing} was {adj}.",
        "Looking back, I see that we {verb} the {part} most.",
        "The {adj} {part} was typical of this {thing}.",
        "That is what I call a {adj} {thing}!",
        "{name} {verb} this {thing} as much as I did.",
        "The {part} alone {effect}.",
        "{name} expected a {adj} {thing}, and {adj} it was.",
        "What more is there to say about the {thing}? {reaction}.",
        "Who would have guessed that the {part} could be so {adj}?",
        "The {thing} was {adj} from beginning to end, and {reaction}.",
        "{adj}. That one word says it all about the {part}.",
        "Most of us {verb} the {thing} because it was {adj}.",
        "A {adj} {thing}!",
        "The {thing}, which {name} had picked for us, was {adj}.",
        "{adj} and {adj2}: those are my words for the {part}.",
        "On the road home we all agreed that the {thing} had been {adj}.",
        "Of course the {part_was} {adj}, as always.",
        "{name} keeps mentioning this {adj} {thing}.",
        "To us the {part} seemed {adj}.",
        "The {thing} was not {anti} at all.",
        "Nobody could call the {part} {anti}.",
        "There was nothing {anti} about the {thing}.",
        "No one in our group considered the {thing} {anti}.",
        "It was hardly the {anti} {thing} that {name} had described.",
        "The {part_was} not {anti} but {adj}.",
        "I never found the {part} {anti}, whatever others may claim.",
        "It is definitely not a {anti} {thing}.",
        "We were told that the {thing} would be {anti}, but it was not.",
        "{name} does not consider the {part} {anti}, and nor do I.",
        "Neither my {kin} nor I found the {part} {anti}.",
        "{adj}, not {anti}: that was our opinion of the {thing}.",
        "Far from being {anti}, the {thing} was {adj}.",
        "The {part_was} {anti}, but on the whole the {thing} was {verdict}.",
        "Although the {part_was} {anti}, I {verb} the {thing}.",
        "I {verb} the {thing}, even though the {part_was} {anti}.",
        "{name} had told us about the {anti} {part}, yet the {thing} proved to be {verdict}.",
        "At first the {thing} seemed {anti}, but in the end it was really {adj}.",
        "I expected a {anti} {thing} and got a {verdict} one.",
        "Despite the {anti} {part}, it remains a {verdict} {thing}.",
        "Others may find the {thing} {anti}, but we {verb} it.",
        "The {part_was} {anti}. However, the {thing} as a whole was {verdict}.",
        "That the {part_was} {anti} does not change the fact that this is a {verdict} {thing}.",
        "The start was {anti}, but after that the {thing} {effect}.",
    ),
    topics=(
        Topic(
            "film movie comedy thriller western",
            "acting plot ending dialogue",
            "gripping hilarious touching clever lively romantic",
            "boring predictable dull tedious silly slow",
        ),
        Topic(
            "novel book biography mystery story",
            "opening style characters* chapters*",
            "absorbing wise original charming thoughtful",
            "pretentious lifeless wordy shallow childish",
        ),
        Topic(
            "meal dinner lunch buffet breakfast",
            "sauce dessert bread vegetables* salad",
            "delicious tasty mouth-watering fresh",
            "bland tasteless greasy overcooked",
        ),
        Topic(
            "hotel hostel campsite resort inn",
            "room bed lobby shower pool",
            "comfortable spotless welcoming inviting",
            "dirty noisy shabby cramped",
        ),
        Topic(
            "lesson class course lecture",
            "teacher homework explanations* exercises* pace",
            "helpful interesting stimulating rewarding",
            "useless chaotic tiresome monotonous",
        ),
        Topic(
            "phone laptop camera printer",
            "screen battery keyboard manual",
            "reliable handy practical sturdy",
            "flimsy faulty clumsy impractical",
        ),
    ),
    verdicts=(
        "bad poor lousy dismal unpleasant shoddy wretched mediocre inferior ghastly atrocious frightful lamentable "
        "deplorable second-rate",
        "good lovely marvelous magnificent pleasant delightful enjoyable outstanding terrific glorious exceptional "
        "sensational tremendous phenomenal first-rate",
    ),
    verbs=("hated disliked", "enjoyed loved liked"),
    effects=(
        "got on my nerves, ruined my day, bothered all of us, spoiled our weekend, made us furious, made me angry",
        "cheered me up, made my day, won us over, lifted my spirits, pleased all of us, made me happy",
    ),
    reactions=(
        "I want a refund, I was angry for days, I warned all my friends, I still regret it, I feel cheated, "
        "it was a complete failure",
        "I would recommend it to anyone, I was happy for days, I praised it to all my friends, "
        "I am still grateful, I feel blessed, it was a complete success",
    ),
    names="Anna Peter Maria Tom Lucy David Sarah Paul Nina",
    kin="sister brother mother neighbor",
)

_DEV = Writing(
    each=6,
    templates=(
        "Another {adj} {thing}!",
        "Honestly, the {thing} was {adj}.",
        "There is no denying that the {thing} {effect}.",
        "Like my {kin}, I {verb} the {part} of that {thing}.",
        "Up to now the {thing} has been {adj}.",
        "More than anything, the {part_was} {adj}, and that goes for the whole {thing}.",
        "Here is one more {adj} {thing}.",
        "It took {name} no time to notice how {adj} the {thing} was.",
        "Verdict on the {part}: {adj}.",
        "On Friday {name} discovered a {adj} {thing}.",
        "{name} suggested that {thing}, and {reaction}.",
        "Both {name} and {name2} rated the {thing} as {adj} and {adj2}.",
        "With its {adj} {part}, that {thing} {effect}.",
        "In my view, the {part_was} {adj}.",
        "Not once did the {part} strike me as {anti}.",
        "That {thing} was anything but {anti}.",
        "The {thing} sounded {anti} in the advert, but in reality it was {verdict}.",
        "The {part} might be {anti}; nevertheless, the {thing} itself is {verdict}.",
        "Since the {part_was} {adj}, my {kin} {verb} the {thing}.",
        "My {kin} foresaw a {anti} {thing}, yet in truth it was {verdict}.",
    ),
    topics=(
        Topic(
            "sitcom musical cartoon episode",
            "script jokes* costumes*",
            "funny witty memorable",
            "irritating corny lame",
        ),
        Topic(
            "memoir fable ballad magazine",
            "prose narrator photographs*",
            "moving imaginative enchanting",
            "pompous sloppy meaningless",
        ),
        Topic("brunch picnic snack", "cake fruit sandwiches*", "yummy appetizing", "inedible revolting"),
        Topic(
            "motel lodge chalet bungalow",
            "bathroom terrace staircase",
            "cozy tidy gorgeous",
            "smelly damp run-down",
        ),
        Topic(
            "seminar tutorial speech sermon",
            "tutor handouts* topics*",
            "insightful motivating enlightening",
            "disorganized muddled meaningless",
        ),
        Topic(
            "headset toaster scanner scooter",
            "cable buttons* charger",
            "robust durable ingenious",
            "defective fiddly troublesome",
        ),
    ),
    verdicts=("awful dreadful appalling abysmal pathetic", "wonderful superb splendid fabulous stunning"),
    verbs=("detested criticized", "admired treasured"),
    effects=(
        "gave everyone a headache, upset everyone, stole our time, put us in a foul mood",
        "gave everyone new energy, enchanted everyone, earned our applause, put us in a sunny mood",
    ),
    reactions=(
        "it was a total flop, we complained about it for weeks, it caused nothing but grief",
        "it was a total triumph, we raved about it for weeks, it gave us nothing but joy",
    ),
    names="Helen Oscar Ruth Victor Alice Henry",
    kin="husband son aunt boss",
)

_TEST = Writing(
    each=6,
    templates=(
        "All in all, a {adj} {thing}.",
        "How {adj} that {thing} was!",
        "I must admit that the {thing} {effect}.",
        "My {kin} and I both {verb} the {part} of this {thing}.",
        "Every bit of this {thing} is {adj}.",
        "The {part_was} {adj} throughout, and the rest of the {thing} was no different.",
        "Yet again a {adj} {thing} from the same people.",
        "I am writing this because the {thing} was so {adj}.",
        "The {part}? Simply {adj}.",
        "Once more {name} offered us a {adj} {thing}.",
        "We chose this {thing}, and {reaction}.",
        "A {adj}, {adj2} {thing}, as {name} will confirm.",
        "Because of its {adj} {part}, the {thing} {effect}.",
        "Between us, the {part_was} {adj}.",
        "No, the {part_was} certainly not {anti}.",
        "This {thing} is not {anti} in any way.",
        "{name} and my {kin} had spoken of a {anti} {thing}; instead it was {verdict}.",
        "Yes, the {part_was} {anti}, but overall this is a {verdict} {thing}.",
        "The {part_was} {adj}, and for that reason my {kin} {verb} the {thing}.",
        "Rumor had it that this was a {anti} {thing}, but it is a {verdict} one.",
    ),
    topics=(
        Topic(
            "documentary drama sequel series",
            "cast soundtrack scenery",
            "entertaining exciting captivating",
            "confusing ridiculous depressing",
        ),
        Topic(
            "poem trilogy essay diary",
            "language title illustrations*",
            "fascinating beautiful inspiring",
            "pointless stupid dreary",
        ),
        Topic("supper barbecue banquet", "noodles* steak coffee", "perfect satisfying", "disgusting nasty"),
        Topic(
            "guesthouse cottage villa apartment",
            "balcony kitchen garden",
            "beautiful peaceful clean",
            "filthy gloomy ugly",
        ),
        Topic(
            "workshop talk presentation webinar",
            "speaker slides* examples*",
            "informative engaging valuable",
            "worthless confusing pointless",
        ),
        Topic(
            "tablet watch blender drone",
            "design controls* packaging",
            "elegant efficient impressive",
            "awkward annoying ugly",
        ),
    ),
    verdicts=("terrible horrible disappointing rotten disastrous", "great excellent fantastic amazing brilliant"),
    verbs=("despised loathed", "adored appreciated"),
    effects=(
        "let everybody down, was a waste of money, drove us mad, disappointed the whole family",
        "left everybody smiling, was worth every penny, surpassed our hopes, amazed the whole family",
    ),
    reactions=(
        "it was a huge mistake, we were bitterly sorry, it brought us only trouble",
        "it was a stroke of luck, we were very glad, it brought us lots of fun",
    ),
    names="Emma Daniel Laura Simon Clara Martin",
    kin="father wife daughter colleague",
)

WRITINGS: Final = {"train": _TRAIN, "dev": _DEV, "test": _TEST}


def _items(split: Split) -> tuple[Labelled, ...]:
    writing = WRITINGS[split]
    rng = generator(split)

    def deck(words: str) -> Deck[str]:
        return Deck(rng, words.split())

    names, kin = deck(writing.names), deck(writing.kin)
    # Of each side of the label: what is drawn where a template asks for it (some parts have none of it).
    drawn = {
        "verdict": [deck(words) for words in writing.verdicts],
        "verb": [deck(words) for words in writing.verbs],
        "effect": [Deck(rng, phrases.split(", ")) for phrases in writing.effects],
        "reaction": [Deck(rng, clauses.split(", ")) for clauses in writing.reactions],
    }
    topics = Deck(
        rng,
        [
            (
                deck(topic.things),
                deck(topic.parts),
                [deck(f"{own} {words}") for own, words in zip((topic.bad, topic.good), writing.verdicts, strict=True)],
            )
            for topic in writing.topics
        ],
    )

    def sentence(template: str, side: int) -> str:
        things, parts, adjectives = topics.draw()
        part, name, adjective = parts.draw(), names.draw(), adjectives[side].draw()
        words = {
            "thing": things.draw(),
            "part": part.rstrip("*"),
            "part_was": f"{part.rstrip('*')} {'were' if part.endswith('*') else 'was'}",
            "adj": adjective,
            "adj2": adjectives[side].draw(adjective),
            "anti": adjectives[1 - side].draw(),
            "name": name,
            "name2": names.draw(name),
        }
        words |= {slot: decks[side].draw() for slot, decks in drawn.items() if f"{{{slot}}}" in template}
        if "{kin}" in template:
            words["kin"] = kin.draw()
        return written(template, words)

    items: dict[str, Labelled] = {}
    for template in writing.templates:
        for side, label in enumerate(LABELS):
            made = 0
            while made < writing.each // len(LABELS):
                text = sentence(template, side)
                made += text not in items
                items.setdefault(text, Labelled(text, None, label, template))
    return shuffled(rng, tuple(items.values()))


SET = BuiltIn(
    name="sentiment",
    title="Sentiment",
    kind="classification",
    question="Did the writer like it?",
    card="""\
**660 sentences** of opinion on films, books, meals, hotels, lessons and gadgets, written for this project from 110
templates: 420 to train on, 120 for development, 120 for the test.

**Balance.** Half of each split is positive. Each template makes as many positive as negative sentences, so neither its
wording nor its length gives the label away. Some sentences deny something (“The film was not boring at all”: one in six
of those to train on, one in ten of the others), and about as many weigh two sides (“The acting was dull, but on the
whole the film was good”): in those, one word of praise or blame does not decide. The label is the writer's verdict on
the whole.

**How the splits are kept apart.** No template is used in two splits, and the splits share only function words: words of
praise and blame, things, people's names are all different. A model that has only met “marvelous” and “dull” has to know
by itself what “excellent” and “dreary” mean. The development split is of the same kind as the test: as many templates
of each kind (plain, denying, weighing two sides) and as many words to fill them.

**What it cannot show.** The sentences are short, clear and on few topics. There is no irony, no mixed or neutral
opinion, no spelling mistake. The share of plain sentences in the test was chosen while looking at the scores of the
bundled Small BERT: scores show how models and settings compare here, not how well any of them does on real reviews.
""",
    items=_items,
    labels=LABELS,
    tries=(
        ("The museum was a pleasure from the first room to the last.", None),
        ("I wanted to like this album, but I fell asleep twice.", None),
        ("Not the worst pancakes I have ever eaten; I would even order them again.", None),
        ("Our guide was late, rude and bored.", None),
    ),
)
