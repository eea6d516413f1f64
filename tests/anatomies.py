"""Small models taken apart by hand: numbers computed here, in numpy, from random weights."""

import numpy as np
from builders import encoding, info

from model_zoo.types import Anatomy, FloatArray, HeadWeights, Stage, softmax

WIDTH, INNER, HEADS, LAYERS = 8, 32, 2, 3
TYPED = ("un", "##believ", "##able", "it", "was", "so")


def bert(n: int = 6, *, width: int = WIDTH, inner: int = INNER, layers: int = LAYERS, heads: int = HEADS) -> Anatomy:
    """BERT's stages in the second layer and second head: norms behind the sums. ``n`` counts [CLS] and [SEP]."""
    made = _Made(n, width, layers, heads)
    token, position, segment = (made.add(name, made.normal(n, width)) for name in ("token", "position", "segment"))
    total = made.add("sum", token + position + segment, "token", "position", "segment")
    made.add("normed", norm(total), "sum")
    x = made.enter(1)
    added = x + made.attend(x, "input", 1)
    between = made.add(
        "normed after attention", norm(made.add("after attention", added, "input", "attention")), "after attention"
    )
    wide = made.add("inner", between @ made.normal(width, inner), "normed after attention")
    active = made.add("active", np.maximum(wide, 0), "inner")
    out = made.add("feed-forward", active @ made.normal(inner, width), "active")
    last = made.add("after feed-forward", between + out, "normed after attention", "feed-forward")
    made.add("output", norm(last), "after feed-forward")
    return made.anatomy(1, 1)


def pre_norm(n: int = 6) -> Anatomy:
    """A model with norms before what is added, queries and keys turned by their places, and a gate."""
    made = _Made(n, WIDTH, LAYERS, HEADS)
    made.add("normed", norm(made.add("token", made.normal(n, WIDTH))), "token")
    x = made.enter(0)
    before = made.add("normed before", norm(x), "input")
    after = made.add("after attention", x + made.attend(before, "normed before", 0, turned=True), "input", "attention")
    between = made.add("normed between", norm(after), "after attention")
    wide = made.add("inner", between @ made.normal(WIDTH, INNER), "normed between")
    gate = made.add("gate", between @ made.normal(WIDTH, INNER), "normed between")
    active = made.add("active", np.maximum(wide, 0) * gate, "inner", "gate")
    out = made.add("feed-forward", active @ made.normal(INNER, WIDTH), "active")
    made.add("output", after + out, "after attention", "feed-forward")
    return made.anatomy(0, 0)


def closed(n: int = 6) -> Anatomy:
    """A model of which only the ends of the layer are known."""
    made = _Made(n, WIDTH, LAYERS, HEADS)
    made.add("normed", made.normal(n, WIDTH))
    made.add("output", made.enter(1) + 1, "input")
    made.head = {"attention": np.full((n, n), 1 / n, np.float32)}
    return made.anatomy(1, 0, why_not="The parts of this model are not known. Choose a BERT to see them.")


def norm(x: FloatArray) -> FloatArray:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(centred.var(axis=-1, keepdims=True) + 1e-5)


class _Made:
    """Stages in the order in which they are made."""

    def __init__(self, n: int, width: int, layers: int, heads: int) -> None:
        self.rng = np.random.default_rng(n + width)
        self.n, self.width, self.n_layers, self.n_heads = n, width, layers, heads
        self.states = self.normal(layers + 1, n, width)
        self.embeddings: list[Stage] = []
        self.stages: list[Stage] = []
        self.head: dict[str, FloatArray] = {}
        self.weights: HeadWeights | None = None

    def normal(self, *shape: int) -> FloatArray:
        return self.rng.standard_normal(shape, dtype=np.float32)

    def add(self, name: str, values: FloatArray, *made_of: str) -> FloatArray:
        values = values.astype(np.float32)
        (self.stages or self.embeddings).append(Stage(name, values.copy(), made_of))
        return values

    def enter(self, layer: int) -> FloatArray:
        self.stages = [Stage("input", self.states[layer].copy())]
        return self.states[layer]

    def attend(self, x: FloatArray, source: str, head: int, *, turned: bool = False) -> FloatArray:
        """Attention of all heads; what its matrix gives."""
        width, d = self.width, self.width // self.n_heads
        part = slice(head * d, (head + 1) * d)
        matrices = {name: self.normal(width, width) for name in ("query", "key", "value")}
        biases = {"query": self.normal(width), "key": np.zeros(width, np.float32), "value": self.normal(width)}
        made = {name: self.add(name, x @ matrices[name] + biases[name], source) for name in matrices}
        compared = ("query", "key")
        if turned:
            for name in compared:
                made[name] = self.add(f"turned {name}", made[name][:, ::-1], name)
            compared = ("turned query", "turned key")
        split = {name: values.reshape(self.n, self.n_heads, d).transpose(1, 0, 2) for name, values in made.items()}
        scores = (split["query"] @ split["key"].transpose(0, 2, 1) / np.sqrt(d)).astype(np.float32)
        attention = softmax(scores)
        mixed = (attention @ split["value"]).transpose(1, 0, 2).reshape(self.n, width)
        context = self.add("context", mixed, *compared, "value")
        output = self.normal(width, width)
        self.head = {name: split[name][head].copy() for name in matrices} | {
            "scores": scores[head].copy(), "attention": attention[head].copy(), "context": context[:, part].copy(),
        }  # fmt: skip
        self.weights = HeadWeights(
            **{name: matrix[:, part].copy() for name, matrix in matrices.items()},
            **{f"{name}_bias": bias[part].copy() for name, bias in biases.items()},
            output=output[part].copy(),
            scaling=float(1 / np.sqrt(d)),
        )
        return self.add("attention", context @ output, "context")

    def anatomy(self, layer: int, head: int, why_not: str | None = None) -> Anatomy:
        self.states[layer + 1] = self.stages[-1].values
        return Anatomy(
            encoding=encoding([TYPED[at % len(TYPED)] for at in range(self.n - 2)]),
            model=info(n_layers=self.n_layers, n_heads=self.n_heads, width=self.width),
            embeddings=tuple(self.embeddings),
            stages=tuple(self.stages),
            states=self.states,
            layer=layer,
            head=head,
            weights=self.weights,
            why_not=why_not,
            **self.head,
        )
