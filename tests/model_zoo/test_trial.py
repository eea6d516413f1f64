"""What is found out of a network when it is loaded: on tiny checkpoints of architectures that no file here names."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from architectures import FUNNEL, HYBRID, LED, build
from checkpoints.tokenizing import tokenizer_of
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from model_zoo import Engine
from model_zoo.check import STATES_TOLERANCE, states_difference
from model_zoo.errors import BadCheckpoint, InvalidInput, NotSupported
from model_zoo.types import Change, TargetAnswer
from training.finetuning.predict import SoftScores

SHORT, LONG = "The cat sat.", "The old cat sat on the mat because it was tired."
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """``make("Llama", "ForCausalLM", ...)`` is the folder of a tiny checkpoint of that class."""
    return lambda name, head, **settings: build(name, head, tmp_path / name, **settings)


def _plain(folder: Path, network: str, text: str, **options: Any) -> Any:
    """What transformers alone makes of a text, with eager attention."""
    model: Any = getattr(transformers, network).from_pretrained(folder, attn_implementation="eager").eval()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        return model(**inputs, output_attentions=True, output_hidden_states=True, **options)


def _rewrite(folder: Path, change: Callable[[dict[str, torch.Tensor]], Mapping[str, torch.Tensor]]) -> None:
    file = folder / "model.safetensors"
    save_file(dict(change(load_file(file))), file, {"format": "pt"})


@pytest.mark.parametrize(
    ("name", "head", "settings"),
    [
        ("Funnel", "ForMaskedLM", FUNNEL),
        ("Yoso", "ForMaskedLM", {}),
        ("LED", "ForConditionalGeneration", LED),
        ("Rwkv", "ForCausalLM", {"attention_hidden_size": 32}),
        ("Mamba", "ForCausalLM", {"state_size": 4}),
        ("DiffLlama", "ForCausalLM", {}),
    ],
)  # fmt: skip
def test_what_is_no_map_of_tokens_is_refused_and_the_rest_stays(
    name: str, head: str, settings: dict[str, Any], make: Make, engine: Engine
) -> None:
    folder = str(make(name, head, **settings))
    info = engine.info(folder)
    assert info.n_heads == 0
    assert info.why_no_attention
    for texts in (SHORT, [SHORT, LONG]):
        with pytest.raises(NotSupported, match=info.why_no_attention):
            engine.attend(folder, texts)
    if info.mlm:
        (answer,) = engine.fill_mask(folder, "The [MASK] sat.")
        logits = _plain(Path(folder), f"{name}{head}", "The [MASK] sat.").logits[0, 2] if name != "Funnel" else None
        if logits is not None:
            assert answer.best[0].probability == pytest.approx(float(logits.softmax(-1).max()), abs=1e-5)
    if info.lm:
        answer = engine.next_tokens(folder, SHORT)
        logits = _plain(Path(folder), f"{name}{head}", SHORT).logits[0, -2]  # [SEP] stands behind the text
        assert answer.best[0].probability == pytest.approx(float(logits.softmax(-1).max()), abs=1e-5)


def test_the_number_of_heads_is_that_of_the_maps(make: Make, engine: Engine) -> None:
    folder = make("ConvBert", "ForMaskedLM", head_ratio=2, embedding_size=32)
    assert engine.info(str(folder)).n_heads == 2
    run = engine.attend(str(folder), SHORT)
    for layer, maps in enumerate(_plain(folder, "ConvBertModel", SHORT).attentions):
        np.testing.assert_allclose(run.layer(layer), maps[0].numpy(), atol=1e-6)


@pytest.mark.parametrize("name", ["ConvBert", "FNet", "Yoso"])
def test_a_text_has_the_numbers_in_a_list_that_it_has_alone(name: str, make: Make, engine: Engine) -> None:
    folder = make(name, "ForMaskedLM", **({"embedding_size": 32} if name == "ConvBert" else {}))
    texts = [LONG, SHORT, "cat", SHORT]
    for text, states in zip(texts, engine.hidden_states(str(folder), texts), strict=True):
        alone = _plain(folder, f"{name}Model", text).hidden_states
        np.testing.assert_allclose(states, torch.stack(alone, 1)[0].numpy(), atol=1e-5)
    masked = ["The [MASK] sat.", "The old [MASK] sat on the mat because it was tired."]
    together = engine.fill_mask(str(folder), masked)
    for text, (answer,) in zip(masked, together, strict=True):
        (single,) = Engine("cpu").fill_mask(str(folder), text)
        assert answer.best[0].probability == pytest.approx(single.best[0].probability, abs=1e-6)


def test_layers_bear_their_own_numbers(make: Make, engine: Engine) -> None:
    folder = make("Lfm2", "ForCausalLM", **HYBRID)
    expected = _plain(folder, "Lfm2Model", SHORT).attentions
    run, (of_list, _) = engine.attend(str(folder), SHORT), engine.attend(str(folder), [SHORT, LONG])
    assert run.n_layers == of_list.n_layers == engine.info(str(folder)).n_layers == 4
    assert [layer.n_heads for layer in run.layers] == [0, 4, 0, 4]
    for number, maps in zip((1, 3), [maps for maps in expected if maps is not None], strict=True):
        np.testing.assert_allclose(run.layer(number), maps[0].numpy(), atol=1e-6)
        np.testing.assert_allclose(of_list.layer(number), maps[0].numpy(), atol=1e-6)
        assert run.value_norms(number).shape == (4, run.n_tokens)
    assert run.layer(0).shape == (0, run.n_tokens, run.n_tokens)
    with pytest.raises(InvalidInput, match="Those that have: 1, 3"):
        run.head(0, 0)
    aim = TargetAnswer("next token")
    scores = engine.attribute(str(folder), SHORT, method="attention", aim=aim).scores
    mean = np.mean([run.layer(number)[:, -2].mean(axis=0) for number in (1, 3)], axis=0)
    np.testing.assert_allclose(scores[1:], mean[1 : len(scores)], atol=1e-6)  # [CLS] is none of the words
    with pytest.raises(NotSupported):
        engine.attribute(str(folder), SHORT, method="rollout", aim=aim)
    with pytest.raises(InvalidInput, match="Those that have: 1, 3"):
        engine.dissect(str(folder), SHORT, layer=2, head=0)


def test_the_head_that_is_switched_off_is_that_of_its_layer(make: Make, engine: Engine) -> None:
    folder = make("Lfm2", "ForCausalLM", **HYBRID)
    (answer,) = engine.intervene(str(folder), SHORT, [Change(heads=((3, 1),))], aim=TargetAnswer("next token")).readings
    model = transformers.Lfm2ForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        model.model.layers[3].self_attn.out_proj.weight[:, 8:16] = 0
        ids = AutoTokenizer.from_pretrained(folder)(SHORT, return_tensors="pt").input_ids[:, :-1]
        expected = float(model(ids).logits[0, -1].softmax(-1).max())
    assert answer.best[0].probability == pytest.approx(expected, abs=1e-5)


CAUSAL = ["Llama", "Qwen2", "GPTNeoX", "OPT", "Gemma", "Gemma2", "Falcon", "ModernBertDecoder", "Olmo2", "GPTNeo"]


@pytest.mark.parametrize("name", CAUSAL)
def test_any_causal_model_says_what_comes_next(name: str, make: Make, engine: Engine) -> None:
    sizes = {
        "OPT": {"word_embed_proj_dim": 32, "ffn_dim": 64},
        "Gemma": {"head_dim": 8},
        "Gemma2": {"head_dim": 8, "final_logit_softcapping": 2.0, "attn_logit_softcapping": 1.0},
        "GPTNeo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
        "ModernBertDecoder": {"cls_token_id": 2, "sep_token_id": 3},
    }.get(name, {})
    folder = make(name, "ForCausalLM", **sizes)
    info = engine.info(str(folder))
    assert info.lm
    assert not info.mlm
    logs = _plain(folder, f"{name}ForCausalLM", LONG).logits[0].log_softmax(-1)
    answer = engine.next_tokens(str(folder), LONG, top_k=5)
    np.testing.assert_allclose(
        [guess.probability for guess in answer.best], logs[-2].exp().topk(5).values.numpy(), atol=1e-5
    )
    scores = engine.token_scores(str(folder), LONG)
    for place in range(1, len(scores.encoding) - 1):
        assert scores.log_probabilities[place] == pytest.approx(
            float(logs[place - 1, scores.encoding.ids[place]]), abs=1e-4
        )
    (lens,) = engine.next_lens(str(folder), LONG)
    assert lens.layers[-1][0].probability == pytest.approx(answer.best[0].probability, abs=1e-6)
    run, expected = engine.attend(str(folder), LONG), _plain(folder, f"{name}Model", LONG).attentions
    for layer, maps in enumerate(expected):
        np.testing.assert_allclose(run.layer(layer), maps[0].numpy(), atol=1e-5)


def test_a_head_of_a_network_that_sees_what_comes_later_predicts_nothing(make: Make, engine: Engine) -> None:
    """A class for next tokens alone does not make a network one that was trained to predict them."""
    info = engine.info(str(make("Bert", "LMHeadModel")))
    assert info.mlm  # the same matrices
    assert not info.lm
    assert engine.info(str(make("Roberta", "ForCausalLM", is_decoder=True, pad_token_id=1))).lm
    info = Engine("cpu").info(str(make("Bert", "LMHeadModel", is_decoder=True)))  # in the same folder
    assert (info.lm, info.nsp) == (True, None)


@pytest.mark.parametrize("pads", [{"pad_token_id": 3}, {"pad_token_id": None}])
@pytest.mark.parametrize("name", ["GPT2", "Qwen2"])
def test_classes_of_many_texts_are_those_of_each_alone(
    name: str, pads: dict[str, Any], make: Make, engine: Engine
) -> None:
    """Whatever the config says of padding, and the tokenizer otherwise."""
    folder = make(name, "ForSequenceClassification", **pads)
    texts = [LONG, SHORT, "cat"]
    scores = engine.ask(SoftScores(str(folder), tuple((text, None) for text in texts)))
    for text, logits in zip(texts, scores, strict=True):
        np.testing.assert_allclose(
            logits, _plain(folder, f"{name}ForSequenceClassification", text).logits[0], atol=1e-5
        )


def test_weights_of_other_heads_and_constants_are_left_out_without_a_word(make: Make, engine: Engine) -> None:
    folder = make("Bert", "ForMaskedLM")
    others = {
        "cls.seq_relationship.weight": torch.zeros(2, 32),
        "bert.pooler.dense.bias": torch.zeros(32),
        "bert.embeddings.position_ids": torch.arange(64)[None],
        "bert.embeddings.word_embeddings._weight": torch.zeros(4, 32),  # as microsoft/mdeberta-v3-base
        "bert.encoder.layer.0.attention.causal_mask": torch.ones(1, 1, 4, 4, dtype=torch.bool),  # as CodeGen
    }
    _rewrite(folder, lambda weights: weights | others)
    assert engine.info(str(folder)).mlm


def _with_number(number: float) -> Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    def spoil(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        weights["bert.embeddings.word_embeddings.weight"][-1, 3] = number
        return weights

    return spoil


DISTANCES = {"bert.encoder.layer.0.attention.self.distance_embedding.weight": torch.zeros(127, 8)}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (_with_number(float("nan")), "word_embeddings"),
        (_with_number(float("inf")), "word_embeddings"),
        (lambda weights: weights | DISTANCES, "distance_embedding"),
    ],
    ids=["nan", "inf", "no place for it"],
)
def test_weights_that_a_network_cannot_have_are_told(change: Any, name: str, make: Make, engine: Engine) -> None:
    folder = make("Bert", "ForMaskedLM")
    _rewrite(folder, change)
    with pytest.raises(BadCheckpoint, match=name):
        engine.info(str(folder))


def test_rows_of_the_vocabulary_beyond_the_tokenizer_have_a_name(make: Make, engine: Engine) -> None:
    n = len(tokenizer_of("BertTokenizer"))
    folder = make("SqueezeBert", "ForMaskedLM", vocab_size=n + 8, embedding_size=32)

    def prefer(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        weights["cls.predictions.bias"][n + 5] = 100.0
        return weights

    _rewrite(folder, prefer)
    (answer,) = engine.fill_mask(str(folder), "The [MASK] sat.", targets=[n + 5])
    assert answer.best[0].token == answer.targets[0].token == f"(unused {n + 5})"
    effects = engine.intervene(str(folder), "The [MASK] sat.", aim=TargetAnswer(answer=n + 5))
    assert effects.answer.token == f"(unused {n + 5})"
    assert engine.token_scores(str(folder), SHORT).guesses[1].token == f"(unused {n + 5})"
    vocabulary = engine.vocabulary(str(folder))
    assert (len(vocabulary.tokens), vocabulary.size) == (n, n + 8)
    with pytest.raises(InvalidInput):
        engine.put(str(folder), "The [MASK] sat.", {2: n + 5})


def test_types_of_tokens_that_the_config_does_not_count_are_given(make: Make, engine: Engine) -> None:
    folder = make("Funnel", "ForMaskedLM", **FUNNEL)
    ours = engine.fill_mask(str(folder), "The [MASK] sat.")[0].best[0].probability
    model = transformers.FunnelForMaskedLM.from_pretrained(folder).eval()
    inputs = AutoTokenizer.from_pretrained(folder)("The [MASK] sat.", return_tensors="pt")
    assert "token_type_ids" in inputs
    with torch.no_grad():
        assert ours == pytest.approx(float(model(**inputs).logits[0, 2].softmax(-1).max()), abs=1e-5)


def test_a_segment_longer_than_its_landmarks_is_filled_up(make: Make, engine: Engine) -> None:
    """transformers makes no mask for it, so the reference is given one: a row for all landmarks."""
    folder = make("Nystromformer", "ForMaskedLM", num_landmarks=8, segment_means_seq_len=32, conv_kernel_size=5)
    text = "The [MASK] sat."
    model = transformers.NystromformerForMaskedLM.from_pretrained(folder).eval()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", padding="max_length", max_length=32)
    mask = (1.0 - inputs.pop("attention_mask").float())[:, None, None] * torch.finfo(torch.float32).min
    with torch.no_grad():
        expected = model(**inputs, attention_mask=mask, output_hidden_states=True)
    (answer,) = engine.fill_mask(str(folder), text)
    assert answer.best[0].probability == pytest.approx(float(expected.logits[0, 2].softmax(-1).max()), abs=1e-5)
    states = engine.hidden_states(str(folder), [text])[0]
    np.testing.assert_allclose(
        states, torch.stack(expected.hidden_states, 1)[0, :, : states.shape[1]].numpy(), atol=1e-5
    )
    with pytest.raises(NotSupported):
        engine.attend(str(folder), text)


def test_what_a_network_fails_with_becomes_a_sentence(make: Make, engine: Engine) -> None:
    """Reformer's layers cannot be gone through backwards outside of training."""
    folder = make(
        "Reformer", "ForMaskedLM", attn_layers=["local", "lsh"], axial_pos_shape=[8, 8], axial_pos_embds_dim=[16, 16],
        is_decoder=False, attention_head_size=8, feed_forward_size=64, num_buckets=2,
    )  # fmt: skip
    with pytest.raises(NotSupported):
        engine.attribute(str(folder), "The [MASK] sat.", method="gradient x input")
    with pytest.raises(NotSupported):
        engine.take_step(str(folder), SHORT, 2)


@pytest.mark.parametrize("name", ["IBert", "MobileBert"])
def test_networks_with_parts_of_their_own_kind(name: str, make: Make, engine: Engine) -> None:
    sizes = {"embedding_size": 16, "intra_bottleneck_size": 32, "true_hidden_size": 32} if name == "MobileBert" else {}
    folder = make(name, "ForMaskedLM", **sizes)
    expected = _plain(folder, f"{name}Model", SHORT)
    theirs = torch.stack(expected.hidden_states, 1)[0].numpy()
    assert states_difference(engine.hidden_states(str(folder), [SHORT])[0], theirs) < STATES_TOLERANCE
    for layer, maps in enumerate(expected.attentions):
        np.testing.assert_allclose(engine.attend(str(folder), SHORT).layer(layer), maps[0].numpy(), atol=1e-5)
