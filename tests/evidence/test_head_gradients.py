"""Gradients of heads' gates, against finite differences of the gates and against autograd by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from architectures import build
from checkpoints import SENTENCES, Checkpoint
from transformers import AutoTokenizer
from tuning import classifier

from evidence.items import HiddenWord, Item, LabelledText, SentencePair
from evidence.questions.switch_off import HeadGradients, SwitchOff, _rows, _scores
from model_zoo import Engine, loading, sources
from model_zoo.errors import NotSupported
from model_zoo.interventions.editing import Editor, Rows
from model_zoo.interventions.layerwise import LayerwiseRun
from model_zoo.types import Encoding
from serving.wire import pack, unpack

WORDS = (HiddenWord(SENTENCES[0], (19, 22)), HiddenWord("She slept.", (4, 9)), HiddenWord(SENTENCES[3], (20, 27)))
assert [item.text[slice(*item.span)] for item in WORDS] == ["mat", "slept", "cabinet"]


def hidden(loaded: loading.LoadedModel, item: HiddenWord) -> tuple[Encoding, list[int], dict[str, torch.Tensor]]:
    """A text, where the tokens of its word are, and the inputs of a model in which these are masked."""
    encoding = loaded.encode(item.text)
    start, end = item.span
    places = [at for at, (first, last) in enumerate(encoding.offsets) if start < last <= end and last > first]
    inputs = loaded.inputs([encoding])
    inputs["input_ids"][0, places] = loaded.tokenizer.mask_token_id
    return encoding, places, inputs


def score_by_hand(loaded: loading.LoadedModel, item: HiddenWord, gates: dict[tuple[int, int], float]) -> float:
    """ln P of a hidden word in float64, each gate multiplying what a head gives to the output projection."""
    encoding, places, inputs = hidden(loaded, item)
    size = loaded.info.width // loaded.info.n_heads
    hooks = []
    for layer, head in gates:

        def scale(_: object, inputs: tuple[torch.Tensor], layer: int = layer, head: int = head) -> tuple[torch.Tensor]:
            changed = inputs[0].clone()
            changed[..., head * size : (head + 1) * size] *= gates[layer, head]
            return (changed,)

        hooks.append(_output(loaded, layer).register_forward_pre_hook(scale))
    with torch.inference_mode():
        logits = loaded.model(**inputs)
    for hook in hooks:
        hook.remove()
    scores = logits.prediction_logits if hasattr(logits, "prediction_logits") else logits.logits
    logs = scores[0].double().log_softmax(dim=-1)
    return sum(float(logs[at, encoding.ids[at]]) for at in places)


def _output(loaded: loading.LoadedModel, layer: int) -> torch.nn.Module:
    """The output projection of a layer, by the names of the family."""
    if loaded.info.family == "modernbert":
        return loaded.encoder.layers[layer].attn.Wo
    return loaded.encoder.encoder.layer[layer].attention.output.dense


@pytest.fixture(params=["embedded/tinybert", "embedded/modernbert", "bert"])
def loaded(request: pytest.FixtureRequest, checkpoint: Checkpoint) -> loading.LoadedModel:
    """In float64, so that differences of a small step are exact enough."""
    model = request.param if "/" in request.param else str(checkpoint(request.param))
    loaded_model = loading.load(sources.find(model), torch.device("cpu"))
    loaded_model.model.double()
    return loaded_model


def test_a_gradient_is_the_slope_of_the_score_by_the_gate(loaded: loading.LoadedModel, engine: Engine) -> None:
    answer = engine.ask(HeadGradients(loaded.info.id, WORDS))
    assert answer.gradients.shape == (len(WORDS), loaded.info.n_layers, loaded.info.n_heads)
    step, largest = 1e-3, float(np.abs(answer.gradients).max())
    for layer, head in ((0, 0), (0, 1), (1, 0), (loaded.info.n_layers - 1, loaded.info.n_heads - 1)):
        for place, item in enumerate(WORDS):
            ends = [score_by_hand(loaded, item, {(layer, head): 1 + by}) for by in (step, -step)]
            slope = (ends[0] - ends[1]) / (2 * step)
            assert answer.gradients[place, layer, head] == pytest.approx(slope, rel=1e-3, abs=1e-4 * largest)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["embedded/bert", "roberta", "bart", "deberta-v2", "squeezebert", "longformer"])
def test_a_small_step_of_all_gates_is_estimated(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """The sum over heads is the slope where all gates move together: in families of all kinds, by their editor."""
    model = name if "/" in name else str(checkpoint(name))
    loaded = loading.load(sources.find(model), torch.device("cpu"))
    item = WORDS[0]
    gradients = engine.ask(HeadGradients(model, (item,))).gradients[0]
    question = SwitchOff(model, (item,))
    rows, _ = _rows(loaded, question.items)
    step = 0.01
    ends = []
    with torch.inference_mode():
        run = LayerwiseRun(loaded, [rows[0].encoding])
        for by in (step, -step):
            keep = torch.full((1, len(rows[0].encoding), loaded.info.n_heads), 1 + by)
            editor = Editor({layer: Rows(keep=keep) for layer in range(loaded.info.n_layers)})
            ends.append(float(_scores(loaded, rows, run.run(1, editor))[0]))
    slope = (ends[0] - ends[1]) / (2 * step)
    assert float(gradients.sum()) == pytest.approx(slope, rel=0.02, abs=0.002)


def test_against_autograd_through_gates_of_ones_own(engine: Engine) -> None:
    """BERT's own modules, with a parameter at each head: written without the editor and without batches."""
    loaded = loading.load(sources.find("embedded/bert"), torch.device("cpu"))
    layers, heads = loaded.info.n_layers, loaded.info.n_heads
    size = loaded.info.width // heads
    by_engine = engine.ask(HeadGradients("embedded/bert", WORDS)).gradients
    for item, gradients in zip(WORDS, by_engine, strict=True):
        gates = torch.ones(layers, heads, requires_grad=True)
        hooks = [
            _output(loaded, layer).register_forward_pre_hook(
                lambda _, states, layer=layer, gates=gates: (states[0] * gates[layer].repeat_interleave(size),)
            )
            for layer in range(layers)
        ]
        encoding, places, inputs = hidden(loaded, item)
        logs = loaded.model(**inputs).prediction_logits[0].log_softmax(dim=-1)
        sum(logs[at, encoding.ids[at]] for at in places).backward()
        for hook in hooks:
            hook.remove()
        np.testing.assert_allclose(gradients, gates.grad.numpy(), atol=1e-4)


def test_a_pair_is_the_difference_of_its_sides(engine: Engine) -> None:
    """Also of whole sentences, whose tokens are masked in rows of their own."""
    pair = SentencePair("The boy slept.", "The boy slept it.")
    turned = SentencePair(pair.bad, pair.good)
    gradients = engine.ask(HeadGradients("embedded/tinybert", (pair, turned))).gradients
    np.testing.assert_allclose(gradients[0], -gradients[1], atol=1e-5)
    assert np.abs(gradients[0]).max() > 1e-4
    # What is left out and refused.
    question = HeadGradients("embedded/tinybert", (HiddenWord("The table stood.", (4, 7)), *WORDS))
    answer = engine.ask(question)
    assert answer.left_out == ((0, "shared"),)
    assert np.isnan(answer.gradients[0]).all()
    assert np.isfinite(answer.gradients[1:]).all()
    assert unpack(pack(question)) == question
    np.testing.assert_array_equal(unpack(pack(answer)).gradients, answer.gradients)
    with pytest.raises(NotSupported, match="has no attention to show"):
        engine.ask(HeadGradients("embedded/bilstm", WORDS))


def test_of_a_classifier(engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    """The slopes of the probabilities of all labels sum to 0."""
    classifier(checkpoint("bert"), tmp_path)
    items: tuple[Item, ...] = tuple(LabelledText(SENTENCES[0], SENTENCES[2], label) for label in "abc")
    model = str(tmp_path)
    gradients = engine.ask(HeadGradients(model, items)).gradients
    p = np.exp(engine.ask(SwitchOff(model, items)).scores[0])
    assert p.sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose((p[:, None, None] * gradients).sum(axis=0), 0, atol=1e-5)
    assert np.abs(gradients).max() > 1e-4


def test_gradients_stand_at_the_layers_that_have_heads(engine: Engine, tmp_path: Path) -> None:
    """Of a network with attention in its second layer alone, against finite differences of its output weights."""
    folder = build(
        "Jamba", "ForSequenceClassification", tmp_path, attn_layer_period=2, attn_layer_offset=1, num_experts=1,
        num_experts_per_tok=1, use_mamba_kernels=False, mamba_d_state=4, mamba_dt_rank=4,
    )  # fmt: skip
    item = LabelledText("The old cat sat.", None, "LABEL_1")
    (gradients,) = engine.ask(HeadGradients(str(folder), (item,))).gradients
    assert not gradients[0].any()
    model = transformers.JambaForSequenceClassification.from_pretrained(folder).eval().double()
    ids = AutoTokenizer.from_pretrained(folder)(item.text, return_tensors="pt").input_ids
    weight = model.model.layers[1].self_attn.o_proj.weight

    def score(gate: float, head: int) -> float:
        with torch.no_grad():
            before = weight.clone()
            weight[:, 8 * head : 8 * head + 8] *= gate
            logs = model(ids).logits[0].log_softmax(-1)
            weight.copy_(before)
        return float(logs[1])

    for head in range(4):
        slope = (score(1.001, head) - score(0.999, head)) / 0.002
        assert gradients[1, head] == pytest.approx(slope, abs=1e-4)
