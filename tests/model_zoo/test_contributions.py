"""Contributions by hand, against code written from the papers' formulas, and against values really set to zero."""

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, TEXT, Checkpoint
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

from model_zoo import Engine, contributions, loading, sources
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.families.rule import Parts
from model_zoo.types import CONTRIBUTION_MEASURES, DoubleArray, Encoding, rolled_out
from tests.builders import anonymous
from tests.model_zoo.test_attribution import WITH_PARTS

SHARES = ("ALTI", "norm", "GlobEnc")
SHORT = "The cat sat on the old mat."


@pytest.fixture(scope="module")
def averaging(tmp_path_factory: pytest.TempPathFactory, checkpoint: Checkpoint) -> loading.LoadedModel:
    """A BERT of one layer and width 4 in which both tokens look at both alike and take what stands there as it is, and
    whose feed-forward block adds nothing; the vectors of its first two tokens pass a norm unchanged.
    """
    tokenizer = AutoTokenizer.from_pretrained(checkpoint("bert"))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=8,
        type_vocab_size=1,
        layer_norm_eps=1e-12,
    )
    model = BertModel(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        model.embeddings.word_embeddings.weight[:2] = torch.tensor([[1.0, -1, 1, -1], [1, 1, -1, -1]])
        attention = model.encoder.layer[0].attention
        attention.self.value.weight.copy_(torch.eye(4))
        attention.output.dense.weight.copy_(torch.eye(4))
    folder = tmp_path_factory.mktemp("averaging")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return loading.load(sources.find(str(folder)), torch.device("cpu"))


def test_two_tokens_by_hand(averaging: loading.LoadedModel) -> None:
    """x₀ = (1, −1, 1, −1) becomes the norm of 1.5 x₀ + 0.5 x₁ = (2, −1, 1, −2), to which x₀ gives 1.5 x₀, x₁ 0.5 x₁."""
    two = anonymous(2)

    def of(measure: Any) -> list[list[float]]:
        contributed: list[list[float]] = contributions.contribute(averaging, two, measure).maps[0].tolist()
        return contributed

    # ‖1.5 x₀‖ : ‖0.5 x₁‖ = 3 : 1, and the norm divides both by the same.
    np.testing.assert_allclose(of("norm"), [[0.75, 0.25], [0.25, 0.75]], atol=1e-6)
    np.testing.assert_allclose(of("GlobEnc"), [[0.75, 0.25], [0.25, 0.75]], atol=1e-6)
    # |y| is 6, without 1.5 x₀ it is |0.5 x₁| = 2, without 0.5 x₁ it is |1.5 x₀| = 6: that brings y no nearer to zero.
    np.testing.assert_allclose(of("ALTI"), np.eye(2), atol=1e-6)
    # cos(y, x₀ + 0.5 x₁) = 7 / √50, cos(y, 1.5 x₀) = 3 / √10.
    residual, other = 1 - 7 / 50**0.5, 1 - 3 / 10**0.5
    np.testing.assert_allclose(of("value zeroing"), [[residual, other], [other, residual]], atol=1e-6)


def test_a_row_that_attends_to_nothing_is_the_residual_stream_alone(averaging: loading.LoadedModel) -> None:
    parts = averaging.family.anatomy
    vectors = torch.tensor([[1.0, -1, 1, -1], [1, 1, -1, -1]])
    layer = contributions._Layer(
        module=averaging.encoder.encoder.layer[0],
        parts=parts,
        weights=torch.tensor([[[0.0], [0.5]], [[0.0], [0.5]]]),  # keys, queries, heads: the first query looks nowhere
        value=vectors[None],
        output=torch.eye(4)[None],
        residual=vectors,
        after=torch.stack([vectors[0], vectors[1] + vectors.mean(dim=0)]),
    )
    with torch.inference_mode():
        for measure in SHARES:
            np.testing.assert_allclose(contributions._shares(layer, measure)[0], [1, 0], atol=1e-6)
        np.testing.assert_allclose(contributions._zeroed(layer)[0], [0, 0], atol=1e-12)


class Reference:
    """A checkpoint as transformers has it, in float64, and what its paths say; the formulas are written out below."""

    def __init__(self, folder: str, parts: Parts, encoding: Encoding) -> None:
        self.parts, self.ids = parts, torch.tensor([encoding.ids])
        loaded = AutoModel.from_pretrained(folder, attn_implementation="eager").eval().double()
        self.model = loaded
        self.layers = [self.at(loaded, parts.layer.format(number)) for number in range(loaded.config.num_hidden_layers)]
        self.options = {"attention_mask": torch.ones_like(self.ids)}

    @staticmethod
    def at(module: Any, path: str) -> Any:
        return attrgetter(path)(module)

    def run(self, copies: int = 1) -> Any:
        options = {name: value.expand(copies, -1) for name, value in self.options.items()}
        with torch.inference_mode():
            return self.model(input_ids=self.ids.expand(copies, -1), output_attentions=True, **options)

    @contextmanager
    def noted(self, *modules: Any, inputs: bool) -> Iterator[list[DoubleArray]]:
        """What modules are given or give in the first row, in order."""
        vectors: list[DoubleArray] = []

        def note(_: Any, args: Any, kwargs: Any, output: Any) -> None:
            value = (args[0] if args else kwargs["hidden_states"]) if inputs else output
            vectors.append((value[0] if isinstance(value, tuple) else value)[0].numpy().copy())

        hooks = [module.register_forward_hook(note, with_kwargs=True) for module in dict.fromkeys(modules)]
        yield vectors
        for hook in hooks:
            hook.remove()

    def contributions(self, measure: str) -> DoubleArray:
        """Kobayashi et al. 2021 (norm), Modarressi et al. 2022 (GlobEnc), Ferrando et al. 2022 (ALTI), pair by pair."""
        parts, maps = self.parts, []
        with self.noted(*self.layers, inputs=True) as entered:
            weights = self.run().attentions
        values_at = [self.at(layer, parts.query_key_value[-1]) for layer in self.layers]
        with self.noted(*values_at, inputs=False) as valued:
            self.run()
        sums = [self.at(layer, parts.feed_forward_norm) for layer in self.layers]
        with self.noted(*sums, inputs=True) as second:
            self.run()
        for number, layer in enumerate(self.layers):
            alpha, stream = weights[number][0].numpy(), entered[number]
            value = valued[number][:, -stream.shape[1] :]  # the last third where one matrix makes all three
            output = self.at(layer, parts.output)
            matrix = output.weight.detach().numpy()
            matrix = matrix.T if isinstance(output, torch.nn.Linear) else matrix
            bias = 0.0 if output.bias is None else output.bias.detach().numpy()
            n, heads = len(stream), len(alpha)
            size = stream.shape[1] // heads
            taken = np.zeros((n, n, stream.shape[1]))
            for i in range(n):
                for j in range(n):
                    for h in range(heads):
                        of_head = slice(h * size, (h + 1) * size)
                        taken[i, j] += alpha[h, i, j] * (value[j, of_head] @ matrix[of_head])
            after = stream + taken.sum(axis=1) + bias
            for i in range(n):
                taken[i, i] += stream[i]
            left = after
            if not parts.pre_norm:
                taken, left = self.through(self.at(layer, parts.attention_norm), taken, after)
                if measure == "GlobEnc":
                    taken, _ = self.through(self.at(layer, parts.feed_forward_norm), taken, second[number])
            if measure == "ALTI":
                shares = np.array(
                    [[np.abs(left[i]).sum() - np.abs(left[i] - taken[i, j]).sum() for j in range(n)] for i in range(n)]
                ).clip(min=0)
            else:
                shares = np.sqrt((taken**2).sum(axis=-1))
            maps.append(shares / shares.sum(axis=-1, keepdims=True))
        return np.stack(maps)

    @staticmethod
    def through(norm: Any, taken: DoubleArray, total: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
        """What a norm makes of the parts of a sum (n, n, width), and of the sum (n, width)."""
        spread = np.sqrt(total.var(axis=-1) + norm.eps)[:, None]
        scale, shift = norm.weight.detach().numpy(), norm.bias.detach().numpy()
        parts = (taken - taken.mean(axis=-1, keepdims=True)) * scale / spread[:, None]
        return parts, (total - total.mean(axis=-1, keepdims=True)) * scale / spread + shift

    def zeroed(self) -> DoubleArray:
        """Mohebbi et al. 2023: as many copies of the text as it has tokens, the value of another one zero in each."""
        n, maps = self.ids.shape[1], []
        for layer in range(len(self.layers)):
            shared = self.layers.count(self.layers[layer]) > 1
            module, calls = self.at(self.layers[layer], self.parts.query_key_value[-1]), [0]

            def zero(
                _: Any, __: Any, output: Any, layer: int = layer, shared: bool = shared, calls: list[int] = calls
            ) -> Any:
                calls[0] += 1
                if shared and calls[0] != layer + 1:
                    return output
                changed = output.clone()
                third = slice(
                    -(output.shape[-1] if len(self.parts.query_key_value) == 3 else output.shape[-1] // 3), None
                )
                for copy in range(n):
                    changed[copy, copy, third] = 0
                return changed

            plain = self.leaving(layer, 1)[0]
            calls[0] = 0
            with module.register_forward_hook(zero):
                changed = self.leaving(layer, n)
            cosines = (changed * plain).sum(-1) / np.linalg.norm(changed, axis=-1) / np.linalg.norm(plain, axis=-1)
            maps.append(1 - cosines.T)  # rows are the tokens that change
        return np.stack(maps)

    def leaving(self, layer: int, copies: int) -> DoubleArray:
        """What leaves a layer, before any final norm, (copies, n, width)."""
        leaving: list[DoubleArray] = []
        hook = self.layers[layer].register_forward_hook(
            lambda _, __, output: leaving.append((output[0] if isinstance(output, tuple) else output).numpy().copy())
        )
        self.run(copies)
        hook.remove()
        return leaving[layer if len(leaving) > 1 else 0]


def reference(name: str, engine: Engine, checkpoint: Checkpoint, text: str = SHORT) -> tuple[str, Reference]:
    folder = str(checkpoint(name))
    parts = loading.load(sources.find(folder), torch.device("cpu")).family.anatomy
    return folder, Reference(folder, parts, engine.encode(folder, text))


@pytest.mark.parametrize("name", WITH_PARTS)
def test_shares_equal_the_papers_formulas(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    folder, expected = reference(name, engine, checkpoint)
    for measure in SHARES:
        contributed = engine.contributions(folder, SHORT, measure=measure)
        np.testing.assert_allclose(contributed.maps, expected.contributions(measure), atol=1e-5)
        np.testing.assert_allclose(contributed.maps.sum(axis=-1), 1, atol=1e-5)
        if FAMILIES[name].causal:
            assert not np.triu(contributed.maps, 1).any()


@pytest.mark.parametrize("name", WITH_PARTS)
def test_value_zeroing_is_what_zero_values_do(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    folder, expected = reference(name, engine, checkpoint)
    np.testing.assert_allclose(
        engine.contributions(folder, SHORT, measure="value zeroing").maps, expected.zeroed(), atol=1e-5
    )


@pytest.mark.slow
def test_values_that_are_estimated_in_a_long_text_are_near(engine: Engine) -> None:
    """Of 85 tokens and more, nearly half of what is taken away is too short to be run."""
    model, text = (
        "embedded/tinybert",
        " ".join(["The old man who lived by the sea walked home because he was tired of the rain."] * 5),
    )
    contributed = engine.contributions(model, text, measure="value zeroing")
    source = sources.find(model)
    parts = loading.load(source, torch.device("cpu")).family.anatomy
    expected = Reference(str(source.folder), parts, contributed.encoding).zeroed()
    assert len(contributed.encoding) > 80
    np.testing.assert_allclose(contributed.maps, expected, atol=1e-5)
    np.testing.assert_allclose(contributed.maps.sum(axis=-1), expected.sum(axis=-1), rtol=0.03)


@pytest.mark.parametrize("model", ["embedded/tinybert", "embedded/modernbert"])
def test_half_precision_stays_near(model: str, engine: Engine) -> None:
    half = loading.load(sources.find(model), torch.device("cpu"), "float16")
    for measure in CONTRIBUTION_MEASURES:
        contributed = contributions.contribute(half, half.encode(SHORT, None), measure).maps
        np.testing.assert_allclose(contributed, engine.contributions(model, SHORT, measure=measure).maps, atol=2e-3)


def test_every_measure_finds_the_token_that_is_copied(engine: Engine, copier: str) -> None:
    encoding = engine.encode(copier, "the cat sat [MASK] on the mat")
    mask = encoding.tokens.index("[MASK]")
    for measure in CONTRIBUTION_MEASURES:
        row = np.delete(engine.contributions(copier, encoding.text, measure=measure).maps[0, mask], mask)
        assert row.argmax() == mask - 1, measure
        assert row.max() > 10 * np.sort(row)[-2], measure


def test_what_cannot_be_measured_is_refused(engine: Engine, checkpoint: Checkpoint) -> None:
    for name in ("mpnet", "bart", "deberta"):
        with pytest.raises(NotSupported, match=r"part by part.*Choose BERT"):
            engine.contributions(str(checkpoint(name)), TEXT)
    with pytest.raises(NotSupported, match="part by part"):
        engine.contributions("embedded/bilstm", TEXT)
    with pytest.raises(InvalidInput, match="measure of contributions"):
        engine.contributions("embedded/bert", TEXT, measure="tea leaves")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"302 tokens.*at most 256"):
        engine.contributions("embedded/tinybert", "cat " * 300, measure="value zeroing")


def test_contributions_are_rolled_out_as_they_are() -> None:
    """Their rows hold the residual stream; attention's get half of it mixed in."""
    maps = [np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([[1.0, 0.0], [0.4, 0.4]])]
    np.testing.assert_allclose(rolled_out(maps, residual=False), [[0.75, 0.25], [0.625, 0.375]])
    np.testing.assert_allclose(rolled_out(maps), [[0.875, 0.125], [0.40625, 0.59375]])
