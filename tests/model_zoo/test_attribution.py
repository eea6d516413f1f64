"""Attributions and sums of parts, against models made by hand and arithmetic of the tests' own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, Checkpoint

from analysis.rollout import rollout
from analysis.views import Weights
from model_zoo import Engine, heldout, loading, sources
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.families import family_of
from model_zoo.interventions import attribute as attributing
from model_zoo.interventions.reading import Reader
from model_zoo.loading import LoadedModel
from model_zoo.questions.attribute import Attribute
from model_zoo.types import MEASURES, METHODS, Change, Measure, TargetAnswer

MODEL = "embedded/bert"
MODELS = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")
SENTENCE = "The cat sat on the [MASK] because it was tired."
WITH_PARTS = ["bert", "roberta", "albert", "distilbert", "modernbert", "electra_generator", "xlm-roberta", "gpt2"]


def sentences(n: int) -> list[str]:
    """Built-in ones, their longest word hidden."""
    masked_sentences = []
    for pair in heldout.spread_pairs(n):
        longest = max(pair.first.rstrip(".").split(), key=len)
        masked_sentences.append(pair.first.replace(longest, "[MASK]", 1))
    return masked_sentences


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_integrated_gradients_add_up_to_the_difference(model: str, engine: Engine) -> None:
    """Within 2% at the default steps; what the difference is by two runs of the engine's own."""
    for text in (SENTENCE, *sentences(4)):
        attribution = engine.attribute(model, text)
        hidden = engine.intervene(
            model, text, [Change(hidden=attribution.counted)], aim=TargetAnswer(answer=attribution.answer.id)
        )
        difference = hidden.untouched.log_probability - hidden.readings[0].log_probability
        assert attribution.difference == pytest.approx(difference, abs=1e-3)
        assert abs(attribution.error) <= 0.02 * max(abs(difference), 1.0)
        assert float(attribution.scores.sum()) - difference == pytest.approx(attribution.error, abs=1e-3)


@pytest.mark.parametrize("measure", ["logit difference", "log P"])
def test_a_linear_model_gets_its_own_weights(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A readout that is linear in the embeddings: integrated gradients are weight times (embedding less that of the
    mask), gradient times input is weight times embedding. Of ln P they add up to the difference, whatever the steps.
    """
    model = loading.load(sources.find("embedded/tinybert"), torch.device("cpu"))
    encoding = model.encode("The cat sat on the [MASK].")
    n, width = len(encoding), model.encoder.get_input_embeddings().weight.shape[1]
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(2, n, width, generator=generator)

    class Linear:
        """In the place of a walk: the embeddings themselves."""

        def __init__(self, loaded: LoadedModel, encodings: list, embedded: torch.Tensor | None = None) -> None:
            ids = torch.tensor([tokens.ids for tokens in encodings])
            self.final = loaded.encoder.get_input_embeddings()(ids) if embedded is None else embedded

    def logits(_: Reader, states: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bnw,anw->ba", states, weights)

    monkeypatch.setattr(attributing, "LayerwiseRun", Linear)
    monkeypatch.setattr(Reader, "logits", logits)
    question = (model.info.id, encoding.text, None, (), TargetAnswer(answer=0, foil=1))
    attribution = Attribute(*question, "integrated gradients", measure, 8).answer(model)
    assert abs(attribution.error or 0) < (
        1e-4 if measure == "logit difference" else 0.01 * abs(attribution.difference or 1)
    )
    if measure == "log P":
        return
    table = model.encoder.get_input_embeddings().weight.detach()
    read, mask = table[list(encoding.ids)], table[model.tokenizer.mask_token_id]
    weight = weights[0] - weights[1]
    exact = (weight * (read - mask)).sum(dim=-1).numpy()
    assert attribution.scores[list(attribution.counted)] == pytest.approx(exact[list(attribution.counted)], abs=1e-4)
    times = Attribute(*question, "gradient x input", measure).answer(model)
    plain = (weight * read).sum(dim=-1).numpy()
    assert times.scores[list(times.counted)] == pytest.approx(plain[list(times.counted)], abs=1e-4)


def test_gradient_times_input_by_the_networks_own_embedding_layer(engine: Engine) -> None:
    """The gradient is caught at the embedding layer by a hook, in a run of the whole network with its own head."""
    model = loading.load(sources.find(MODEL), torch.device("cpu"))
    encoding = model.encode(SENTENCE)
    kept: list[torch.Tensor] = []

    def keep(_: torch.nn.Module, __: object, output: torch.Tensor) -> torch.Tensor:
        kept.append(output.detach().requires_grad_())
        return kept[0]

    with model.encoder.get_input_embeddings().register_forward_hook(keep):
        logs = model.model(**model.inputs([encoding])).prediction_logits[0, 6].log_softmax(dim=-1)
    (gradient,) = torch.autograd.grad(logs.max(), kept[0])
    expected = (gradient * kept[0]).sum(dim=-1)[0].detach().numpy()
    attribution = engine.attribute(MODEL, SENTENCE, method="gradient x input")
    assert attribution.scores[list(attribution.counted)] == pytest.approx(expected[list(attribution.counted)], abs=1e-5)


def followed(maps: np.ndarray) -> np.ndarray:
    """The product of a map a layer, each row of which is scaled to sum to 1; the last layer's rows."""
    return np.linalg.multi_dot(
        [weights / weights.sum(axis=1, keepdims=True) for weights in maps.astype(np.float64)[::-1]]
    )


def test_attention_s_own_answers_are_those_of_the_run(engine: Engine) -> None:
    run = engine.attend(MODEL, SENTENCE)
    heads = np.stack([run.layer(layer) for layer in range(run.n_layers)])
    norms = np.stack([run.value_norms(layer) for layer in range(run.n_layers)])
    expected = {
        "attention": heads.mean(axis=(0, 1))[6],
        "rollout": rollout(Weights(run))[6],
        "value-weighted attention": (heads * norms[:, :, None]).mean(axis=(0, 1))[6],
        "contributions": followed(engine.contributions(MODEL, SENTENCE).maps)[6],
        "value zeroing": followed(engine.contributions(MODEL, SENTENCE, measure="value zeroing").maps)[6],
    }
    for method, numbers in expected.items():
        attribution = engine.attribute(MODEL, SENTENCE, method=method)  # type: ignore[arg-type]
        assert attribution.scores[list(attribution.counted)] == pytest.approx(
            numbers[list(attribution.counted)], abs=1e-5
        )
        assert not attribution.scores[[0, 6, -1]].any()  # [CLS], the mask itself, [SEP]
        hidden = engine.attribute(MODEL, SENTENCE.replace("[MASK]", "mat"), masked=(6,), method=method)  # type: ignore[arg-type]
        assert hidden.scores == pytest.approx(attribution.scores, abs=1e-6)


def test_gradient_weighted_attention_by_hand(engine: Engine) -> None:
    """Chefer et al. 2021 once more, on transformers' own eager attention, whose maps keep their gradients."""
    from transformers import AutoModelForPreTraining

    model = loading.load(sources.find("embedded/tinybert"), torch.device("cpu"))
    encoding = model.encode(SENTENCE)
    folder = sources.find("embedded/tinybert").folder
    network = AutoModelForPreTraining.from_pretrained(folder, attn_implementation="eager").eval()
    output = network(**model.inputs([encoding]), output_attentions=True)
    for weights in output.attentions:
        weights.retain_grad()
    output.prediction_logits[0, 6].log_softmax(dim=-1).max().backward()
    relevance = torch.eye(len(encoding))
    for weights in output.attentions:
        relevance = relevance + (weights.grad * weights)[0].clamp(min=0).mean(dim=0) @ relevance
    attribution = engine.attribute("embedded/tinybert", SENTENCE, method="gradient-weighted attention")
    places = list(attribution.counted)
    assert attribution.scores[places] == pytest.approx(relevance[6].detach().numpy()[places], abs=1e-5)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.mlm or family.causal])
def test_families_answer_by_every_method_or_say_why_not(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    causal = FAMILIES[name].causal
    mask = "" if causal else engine.vocabulary(model).mask_token
    text = "The cat sat on" if causal else f"The cat {mask} on the mat."
    aim = TargetAnswer("next token") if causal else TargetAnswer()
    refusals: dict[str, str] = {}
    for method in METHODS:
        try:
            attribution = engine.attribute(model, text, method=method, aim=aim, steps=4)
        except NotSupported as error:
            refusals[method] = str(error)
            continue
        assert np.isfinite(attribution.scores).all()
        assert attribution.scores[list(attribution.counted)].any()
        assert not np.delete(attribution.scores, list(attribution.counted)).any()
    of_attention = {method for method in METHODS if method == "rollout" or "attention" in method}
    through_layers = {"DecompX", "contributions", "value zeroing"}
    assert set(refusals) <= of_attention | through_layers
    assert all(refusal.endswith(".") for refusal in refusals.values())
    unknown = family_of(FAMILIES[name].model_type).anatomy is None
    assert set(refusals) & through_layers == (through_layers if unknown else set())
    if FAMILIES[name].attention and not FAMILIES[name].cross_attention:
        assert set(refusals) - through_layers <= ({"gradient-weighted attention"} if name == "longformer" else set())


@pytest.mark.parametrize("measure", MEASURES)
def test_occlusion_hides_one_word_at_a_time(measure: Measure, engine: Engine) -> None:
    """By hand: the text is typed with masks in the place of a word's tokens, of which “caterpillar” has several."""
    text, aim = "The caterpillar sat on the [MASK].", TargetAnswer(answer="table", foil="floor")
    encoding = engine.encode(MODEL, text)
    word = next(word for word in encoding.words if len(word) > 1)
    attribution = engine.attribute(MODEL, text, method="occlusion", measure=measure, aim=aim)

    def measured(text: str, position: int) -> float:
        reading = engine.intervene(MODEL, text, [], aim=replace(aim, position=position)).untouched
        by_name = {"log P": reading.log_probability, "P": float(np.exp(reading.log_probability))}
        return by_name.get(measure, reading.logit - reading.foil_logit)

    last = encoding.tokens.index("[MASK]")
    lost = measured(text, last) - measured(text.replace("caterpillar", "[MASK] " * len(word)), last)
    assert attribution.scores[list(word)] == pytest.approx([lost / len(word)] * len(word), abs=1e-5)
    (sat,) = (place for place, token in enumerate(encoding.tokens) if token == "sat")
    assert attribution.scores[sat] == pytest.approx(
        measured(text, last) - measured(text.replace("sat", "[MASK]"), last), abs=1e-5
    )
    assert attribution.error is None


@pytest.mark.parametrize("name", [*WITH_PARTS, *MODELS])
def test_parts_add_up_to_the_logit(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = name if name in MODELS else str(checkpoint(name))
    causal = engine.info(model).lm
    mask = "" if causal else engine.vocabulary(model).mask_token
    text = "The cat sat on" if causal else f"The cat {mask} on the mat."
    aim = TargetAnswer("next token" if causal else "mask", foil=9)
    decomposition = engine.decompose(model, text, aim=aim)
    answer = engine.next_tokens(model, text, 1) if causal else engine.fill_mask(model, text, 1)[0]
    assert decomposition.answer.id == answer.best[0].id
    assert decomposition.logit == pytest.approx(np.log(answer.best[0].probability) + answer.log_total, abs=1e-3)
    assert sum(part.logit for part in decomposition.parts) == pytest.approx(decomposition.logit, abs=1e-3)
    assert sum(part.foil_logit for part in decomposition.parts) == pytest.approx(decomposition.foil_logit, abs=1e-3)
    assert abs(decomposition.error) < 1e-3
    info = engine.info(model)
    kinds = [part.kind for part in decomposition.parts]
    assert kinds.count("head") == info.n_layers * info.n_heads
    assert kinds.count("feed-forward") == info.n_layers
    assert kinds.count("bias") == 1


def test_a_part_is_what_is_lost_from_a_frozen_network(engine: Engine) -> None:
    """In a network with norms in front, a head of the last layer goes to the final norm and to its own layer's
    feed-forward only. With those held, its part is what the logit loses without it: by hand.
    """
    name = "embedded/modernbert"
    model = loading.load(sources.find(name), torch.device("cpu"))
    decomposition = engine.decompose(name, SENTENCE)
    encoding, last = model.encode(SENTENCE), model.info.n_layers - 1
    size = model.info.width // model.info.n_heads
    final_inputs: list[torch.Tensor] = []
    layer, norm = model.encoder.layers[last], model.final_norm

    def note(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        final_inputs.append(inputs[0][0, 6])

    with layer.attn.Wo.register_forward_pre_hook(note), norm.register_forward_pre_hook(note), torch.inference_mode():
        model.model(**model.inputs([encoding]))
    with torch.inference_mode():
        context, stream = final_inputs
        head = model.model.head
        normed = norm(stream)
        dense = head.dense(normed)
        gate = head.act(dense) / dense
        spread = torch.sqrt((dense * gate).var(unbiased=False) + head.norm.eps)
        for number in range(model.info.n_heads):
            of_head = slice(number * size, (number + 1) * size)
            written = layer.attn.Wo.weight[:, of_head] @ context[of_head]
            through = (written - written.mean()) / torch.sqrt(stream.var(unbiased=False) + norm.eps) * norm.weight
            through = (head.dense.weight @ through) * gate
            through = (through - through.mean()) / spread * head.norm.weight
            expected = float(model.model.decoder.weight[decomposition.answer.id] @ through)
            part = next(
                contribution
                for contribution in decomposition.parts
                if (contribution.kind, contribution.layer, contribution.head) == ("head", last, number)
            )
            assert part.logit == pytest.approx(expected, abs=1e-3)


def test_what_is_asked_wrongly_is_refused(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(InvalidInput, match="second one"):
        engine.attribute(MODEL, SENTENCE, measure="logit difference")
    with pytest.raises(InvalidInput, match="steps"):
        engine.attribute(MODEL, SENTENCE, steps=0)
    with pytest.raises(InvalidInput, match="method"):
        engine.attribute(MODEL, SENTENCE, method="tea leaves")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        engine.attribute(MODEL, SENTENCE, aim=TargetAnswer(answer="a very long answer"))
    with pytest.raises(NotSupported, match="part by part"):
        engine.decompose(str(checkpoint("mpnet")), "The <mask> sat.")
    with pytest.raises(InvalidInput, match="the logit of a token"):
        engine.decompose(MODEL, "A.", aim=TargetAnswer("next sentence"))
    with pytest.raises(InvalidInput, match="second one that may follow"):
        engine.attribute(MODEL, "A.", aim=TargetAnswer("next sentence"))
    with pytest.raises(NotSupported, match="not fine-tuned for classification"):
        engine.attribute(MODEL, "A.", aim=TargetAnswer("class"))


def test_every_method_finds_the_one_head_that_copies(copier: str, engine: Engine) -> None:
    text = "the cat sat [MASK] on the mat"
    encoding = engine.encode(copier, text)
    mask = encoding.tokens.index("[MASK]")
    (answer,) = engine.fill_mask(copier, text, 3)
    assert answer.best[0].id == encoding.ids[mask - 1]
    heads = [(layer, head) for layer in range(2) for head in range(2)]
    off = engine.intervene(copier, text, [Change(heads=(head,)) for head in heads])
    effects = {head: off.untouched.logit - reading.logit for head, reading in zip(heads, off.readings, strict=True)}
    assert max(effects, key=lambda head: effects[head]) == (0, 1)
    assert sum(abs(effect) > 1e-4 for effect in effects.values()) == 1
    for method in METHODS:
        scores = engine.attribute(copier, text, method=method).scores
        best = np.flatnonzero(np.isclose(scores, scores.max())).tolist()
        (word,) = (list(word) for word in encoding.words if mask - 1 in word)
        assert best == (word if method == "occlusion" else [mask - 1]), method  # which hides whole words
    full = engine.attribute(
        copier, text, aim=TargetAnswer(foil=encoding.ids[mask + 2]), method="DecompX", measure="logit difference"
    )
    # The mask has a vector of its own in the residual stream, which norms centre and an activation cuts in part.
    assert np.flatnonzero(full.scores).tolist() == [mask - 1]
    assert full.scores[mask - 1] == pytest.approx(full.difference, rel=2e-3)
    assert full.bias == 0
    parts = [part for part in engine.decompose(copier, text).parts if part.kind == "head"]
    assert max(parts, key=lambda part: part.logit)[1:3] == (0, 1)
    assert sum(abs(part.logit) > 1e-4 for part in parts) == 1
    other = text.replace("sat", "dog")
    patched = engine.patch(copier, text, other, aim=TargetAnswer(answer=encoding.ids[mask - 1]))
    n = len(encoding)
    moved = np.array([patched.untouched.log_probability - reading.log_probability for reading in patched.readings])
    # Before the head has copied, the answer stands where the token does; behind it, where the mask is.
    assert [int(row.argmax()) for row in moved.reshape(3, n)] == [mask - 1, mask, mask]
