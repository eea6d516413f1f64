"""DecompX: its parts add up to the logit, and are those of the paper's formulas and those of networks made by hand."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, Checkpoint, varied
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, BertConfig, BertForMaskedLM
from tuning import classifier

from model_zoo import Engine
from model_zoo.errors import NotSupported
from model_zoo.types import Attribution, Measure, TargetAnswer

MODEL = "embedded/bert"
MODELS = (MODEL, "embedded/tinybert", "embedded/modernbert")
KNOWN = [name for name, family in FAMILIES.items() if family.model_type in (
    "bert", "roberta", "xlm-roberta", "camembert", "albert", "distilbert", "electra", "modernbert", "gpt2"
) and (family.mlm or family.causal)]  # fmt: skip
TEXT = "The cat sat on the [MASK] because it was tired."


def total(attribution: Attribution) -> float:
    return float(attribution.scores.sum()) + attribution.uncounted + attribution.bias


def question_for(engine: Engine, model: str, *, causal: bool) -> tuple[str, TargetAnswer]:
    if causal:
        return "The cat sat on", TargetAnswer("next token", answer=7, foil=9)
    mask = engine.vocabulary(model).mask_token
    return f"The cat {mask} on the mat.", TargetAnswer(answer=7, foil=9)


def logits(folder: str, ids: tuple[int, ...], row: int, *, causal: bool) -> torch.Tensor:
    """By transformers' own class, in float64."""
    kind = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    network = kind.from_pretrained(folder).double().eval()
    with torch.inference_mode():
        return network(input_ids=torch.tensor([ids])).logits[0, row]


@pytest.mark.parametrize("measure", ["log P", "logit difference"])
@pytest.mark.parametrize("name", KNOWN)
def test_the_parts_add_up_to_the_logit(name: str, measure: Measure, engine: Engine, checkpoint: Checkpoint) -> None:
    model, causal = str(checkpoint(name)), FAMILIES[name].causal
    text, aim = question_for(engine, model, causal=causal)
    attribution = engine.attribute(model, text, aim=aim, method="DecompX", measure=measure)
    row = len(attribution.encoding) - 1 if attribution.position is None else attribution.position
    output = logits(model, attribution.encoding.ids, row, causal=causal)
    expected = float(output[7] - (output[9] if measure == "logit difference" else output.mean()))
    assert total(attribution) == pytest.approx(expected, abs=1e-4)
    assert attribution.difference == pytest.approx(expected, abs=1e-4)
    assert attribution.error == pytest.approx(total(attribution) - attribution.difference, abs=1e-6)
    assert not attribution.scores[
        [place for place in range(len(attribution.encoding)) if place not in attribution.counted]
    ].any()


@pytest.mark.parametrize("model", MODELS)
def test_the_parts_of_the_embedded_models_add_up(model: str, engine: Engine) -> None:
    attribution = engine.attribute(model, TEXT, aim=TargetAnswer(answer="floor", foil="table"), method="DecompX")
    reading = engine.intervene(model, TEXT, [], aim=TargetAnswer(answer="floor", foil="table")).untouched
    between = engine.attribute(
        model, TEXT, aim=TargetAnswer(answer="floor", foil="table"), method="DecompX", measure="logit difference"
    )
    assert total(between) == pytest.approx(reading.logit - reading.foil_logit, abs=1e-4)
    assert abs(attribution.error or 0) < 1e-4
    if engine.info(model).nsp:
        pair = engine.attribute(model, "A cat.", "It sat.", aim=TargetAnswer("next sentence"), method="DecompX")
        score = engine.next_sentence(model, "A cat.", "It sat.")
        half = abs(score.logits[0] - score.logits[1]) / 2  # above the mean of two
        assert total(pair) == pytest.approx(half, abs=1e-4)


@pytest.mark.parametrize("name", ["bert", "roberta", "albert", "distilbert", "electra_generator", "modernbert", "gpt2"])
def test_the_parts_of_a_class_add_up(name: str, engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    """Poolers, tanh and activations of each family's own head are held as well."""
    network = classifier(checkpoint(name), tmp_path)
    attribution = engine.attribute(
        str(tmp_path), "The cat sat.", aim=TargetAnswer("class", answer="b", foil="c"), method="DecompX",
        measure="logit difference",
    )  # fmt: skip
    with torch.inference_mode():
        output = network(input_ids=torch.tensor([attribution.encoding.ids])).logits[0]
    assert total(attribution) == pytest.approx(float(output[1] - output[2]), abs=1e-4)
    assert attribution.scores.any()


@pytest.mark.parametrize("activation", ["relu", "silu", "gelu_new", "quick_gelu"])
def test_any_activation_is_frozen(activation: str, engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    model = str(varied("bert_mlm_only", checkpoint("bert_mlm_only"), tmp_path / "model", hidden_act=activation))
    text, aim = question_for(engine, model, causal=False)
    attribution = engine.attribute(model, text, aim=aim, method="DecompX")
    output = logits(model, attribution.encoding.ids, attribution.position, causal=False)
    assert total(attribution) == pytest.approx(float(output[7] - output.mean()), abs=1e-4)


class ByFormulas:
    """Every token's vector as n + 1 vectors (n, n + 1, width), the last for biases, in float64; Modarressi et al. 2023,
    section 2, with biases by themselves.
    """

    def __init__(self, vectors: np.ndarray) -> None:
        n, width = vectors.shape
        self.parts = np.zeros((n, n + 1, width))
        self.parts[range(n), range(n)] = vectors

    @property
    def total(self) -> np.ndarray:
        return self.parts.sum(axis=1)

    def linear(self, weight: torch.Tensor, bias: torch.Tensor | None, parts: np.ndarray) -> np.ndarray:
        made = parts @ weight.detach().numpy().T
        if bias is not None:
            made[:, -1] += bias.detach().numpy()
        return made

    def norm(self, module: Any, parts: np.ndarray) -> np.ndarray:
        spread = np.sqrt(parts.sum(axis=1).var(axis=-1) + module.eps)
        made = (parts - parts.mean(axis=-1, keepdims=True)) / spread[:, None, None] * module.weight.detach().numpy()
        if module.bias is not None:
            made[:, -1] += module.bias.detach().numpy()
        return made

    def activation(self, function: Any, parts: np.ndarray) -> np.ndarray:
        z = parts.sum(axis=1)
        return parts * (function(torch.from_numpy(z)).detach().numpy() / z)[:, None]

    def attention(self, maps: torch.Tensor, value: np.ndarray) -> np.ndarray:
        """``value`` (n, n + 1, width): each head mixes its own columns."""
        n, _, width = value.shape
        made = np.zeros_like(value)
        size = width // len(maps)
        for head, weights in enumerate(maps.detach().numpy()):
            columns = slice(head * size, (head + 1) * size)
            for query in range(n):
                for key in range(n):
                    made[query, :, columns] += weights[query, key] * value[key, :, columns]
        return made


def bert_by_formulas(network: Any, inputs: dict[str, torch.Tensor]) -> np.ndarray:
    """Of the logits at every place, (n, n + 1, vocabulary)."""
    output = network(**inputs, output_hidden_states=True, output_attentions=True)
    x = ByFormulas(output.hidden_states[0][0].detach().numpy())
    for number, layer in enumerate(network.bert.encoder.layer):
        attention = layer.attention
        value = x.linear(attention.self.value.weight, attention.self.value.bias, x.parts)
        mixed = x.attention(output.attentions[number][0], value)
        dense = attention.output.dense
        x.parts = x.norm(attention.output.LayerNorm, x.parts + x.linear(dense.weight, dense.bias, mixed))
        inner = x.linear(layer.intermediate.dense.weight, layer.intermediate.dense.bias, x.parts)
        active = x.activation(layer.intermediate.intermediate_act_fn, inner)
        outer = x.linear(layer.output.dense.weight, layer.output.dense.bias, active)
        x.parts = x.norm(layer.output.LayerNorm, x.parts + outer)
    head = network.cls.predictions
    made = x.linear(head.transform.dense.weight, head.transform.dense.bias, x.parts)
    made = x.norm(head.transform.LayerNorm, x.activation(head.transform.transform_act_fn, made))
    return x.linear(head.decoder.weight, head.decoder.bias, made)


def modernbert_by_formulas(network: Any, inputs: dict[str, torch.Tensor]) -> np.ndarray:
    output = network(**inputs, output_hidden_states=True, output_attentions=True)
    x = ByFormulas(output.hidden_states[0][0].detach().numpy())
    for number, layer in enumerate(network.model.layers):
        entered = x.parts if number == 0 else x.norm(layer.attn_norm, x.parts)
        width = entered.shape[-1]
        value = x.linear(layer.attn.Wqkv.weight[2 * width :], None, entered)
        mixed = x.attention(output.attentions[number][0], value)
        x.parts = x.parts + x.linear(layer.attn.Wo.weight, None, mixed)
        inner = x.linear(layer.mlp.Wi.weight, None, x.norm(layer.mlp_norm, x.parts))
        inner, gate = np.split(inner, 2, axis=-1)
        active = x.activation(layer.mlp.act, inner)
        product = (active * gate.sum(axis=1)[:, None] + gate * active.sum(axis=1)[:, None]) / 2
        x.parts = x.parts + x.linear(layer.mlp.Wo.weight, None, product)
    made = x.linear(network.head.dense.weight, network.head.dense.bias, x.norm(network.model.final_norm, x.parts))
    made = x.norm(network.head.norm, x.activation(network.head.act, made))
    return x.linear(network.decoder.weight, network.decoder.bias, made)


@pytest.mark.parametrize(
    ("name", "by_formulas"), [("bert_mlm_only", bert_by_formulas), ("modernbert", modernbert_by_formulas)]
)
def test_parts_by_formulas(
    name: str, by_formulas: Callable[..., np.ndarray], engine: Engine, checkpoint: Checkpoint
) -> None:
    model = str(checkpoint(name))
    text, aim = question_for(engine, model, causal=False)
    attribution = engine.attribute(model, text, aim=aim, method="DecompX", measure="logit difference")
    network = AutoModelForMaskedLM.from_pretrained(model, attn_implementation="eager").double().eval()
    with torch.no_grad():
        parts = by_formulas(network, {"input_ids": torch.tensor([attribution.encoding.ids])})[attribution.position]
    expected = parts[:, 7] - parts[:, 9]
    reach = float(np.abs(expected).max())
    places = list(attribution.counted)
    assert attribution.scores[places] == pytest.approx(expected[places], abs=1e-5 * reach)
    assert attribution.bias == pytest.approx(expected[-1], abs=1e-5 * reach)
    assert attribution.uncounted == pytest.approx(np.delete(expected[:-1], places).sum(), abs=1e-5 * reach)


@pytest.fixture
def linear(checkpoint: Checkpoint, tmp_path: Path) -> tuple[str, Any]:
    """A BERT that is linear: attention is everywhere the same, activations do nothing, and norms divide by 1, for their
    ε is large and their scale its root.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint("bert"))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=64, hidden_act="linear", layer_norm_eps=1e8, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    network = BertForMaskedLM(config).eval()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            weight.copy_(torch.randn_like(weight) * 0.3)
            if "LayerNorm.weight" in name:
                weight.fill_(1e4)
            if "self.query" in name or "self.key" in name:
                weight.zero_()
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return str(tmp_path), network


def test_of_a_linear_network_it_is_gradient_times_input(linear: tuple[str, Any], engine: Engine) -> None:
    model, network = linear
    attribution = engine.attribute(model, "the cat [MASK] on the mat", aim=TargetAnswer(answer=7), method="DecompX")
    inputs: list[torch.Tensor] = []

    def keep(_: Any, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        inputs.append(args[0].detach().requires_grad_())
        return (inputs[0], *args[1:])

    with network.bert.encoder.layer[0].register_forward_pre_hook(keep):
        output = network(input_ids=torch.tensor([attribution.encoding.ids])).logits[0, attribution.position]
    (gradient,) = torch.autograd.grad(output[7] - output.mean(), inputs[0])
    expected = (gradient * inputs[0]).sum(dim=-1)[0].detach().numpy()
    places = list(attribution.counted)
    assert attribution.scores[places] == pytest.approx(expected[places], abs=1e-4 * float(np.abs(expected).max()))


def test_it_pickles_and_says_whom_it_does_not_fit(engine: Engine, checkpoint: Checkpoint) -> None:
    attribution = engine.attribute(MODEL, TEXT, method="DecompX")
    again = pickle.loads(pickle.dumps(attribution))
    assert (again.bias, again.uncounted, again.error) == (attribution.bias, attribution.uncounted, attribution.error)
    assert (again.scores == attribution.scores).all()
    for name in ("mpnet", "deberta-v2", "fnet", "bart"):
        model = str(checkpoint(name))
        with pytest.raises(NotSupported, match=r"followed back through them\. Choose another method"):
            engine.attribute(model, question_for(engine, model, causal=False)[0], method="DecompX")
