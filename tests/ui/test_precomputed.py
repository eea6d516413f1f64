"""What comes with the app was measured on what the app is made of now, and is not shown where it was not."""

import copy
import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import Checkpoint

from analysis.probing import TASKS, Settings, TaskMap, TaskResult, run
from jobs.study import Key
from model_zoo import Engine, heldout, sources
from pages.layers import __main__ as command
from pages.layers import fields
from ui import precomputed
from ui.precomputed.command import run as run_command
from web import process

ANEW = "what comes with the app is out of date: run python -m pages.layers"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Files are read once a process; here they change."""
    process.clear_all()
    yield
    process.clear_all()


def stored(model: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(precomputed.file_of(model).read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("model", precomputed.EMBEDDED)
def test_weights_sentences_and_settings_are_those_of_now(model: str, engine: Engine) -> None:
    keys = {Key(model, name, command.settings()) for name in fields.TASKS.default}
    assert precomputed.probing(model).keys() == keys, ANEW
    info = engine.info(model)
    assert {finished.model for finished in precomputed.probing(model).values()} == {info}, ANEW
    trees = precomputed.trees(model)
    assert trees is not None, ANEW
    assert (trees.model, trees.result.settings, trees.result.rank) == (info, command.settings(), fields.RANK.default)
    assert len(trees.result.layers) == len(trees.result.sentences[0].recovered) == info.n_layers + 1
    quality = precomputed.quality(info)
    assert quality is not None, ANEW
    assert quality.n_done == quality.n_total


@pytest.mark.slow
@pytest.mark.parametrize("model", ["embedded/tinybert", "embedded/bilstm"])
def test_numbers_are_those_of_a_fresh_run(model: str) -> None:
    """The two quickest models; ``python -m pages.layers --check`` does all, with the same tolerances."""
    engine = Engine("cpu")
    measured = json.loads(command.measured(engine, model))
    engine.close()
    assert len(measured["probing"]) == 3
    assert list(command.differences(stored(model), measured)) == [], ANEW


def probed(engine: Engine, model: str, name: str, settings: Settings) -> tuple[TaskResult, TaskMap]:
    events = list(run(functools.partial(engine.iter_hidden_states, model), [TASKS[name]], settings))
    (result,) = (event for event in events if isinstance(event, TaskResult))
    (picture,) = (event for event in events if isinstance(event, TaskMap))
    return result, picture


def test_the_files_are_small() -> None:
    sizes = [path.stat().st_size for path in precomputed.FOLDER.glob("embedded-*.json")]
    assert len(sizes) == len(precomputed.EMBEDDED)
    assert sum(sizes) < 300_000


@pytest.mark.parametrize("name", ["bigram_shift", "part_of_speech"])
def test_a_result_is_read_as_it_was_written(name, engine, tmp_path, monkeypatch) -> None:
    """All but what is rounded is the same object again, of sentences and of words."""
    model, settings = "embedded/bilstm", Settings(sentences=60, seed=2, mdl=True)
    result, picture = probed(engine, model, name, settings)
    file = stored(model) | {"probing": [precomputed.pack_task(result, picture, TASKS[name].build(60, 2))]}
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    precomputed.file_of(model).write_text(json.dumps(file), encoding="utf-8")
    ((key, finished),) = precomputed.probing(model).items()
    assert key == Key(model, name, settings)
    assert finished.precomputed
    layers = tuple(
        replace(layer, wrong=tuple(replace(wrong, probability=round(wrong.probability, 4)) for wrong in layer.wrong))
        for layer in result.layers
    )
    assert any(layer.wrong for layer in layers)
    assert finished.result == replace(result, layers=layers)
    assert (finished.picture.texts, finished.picture.words) == (picture.texts, picture.words)
    assert (finished.picture.task, finished.picture.labels) == (name, picture.labels)
    for array in ("points", "explained", "cka"):
        restored = getattr(finished.picture, array)
        assert restored.dtype == np.float32
        np.testing.assert_allclose(restored, getattr(picture, array), atol=6e-5)


def other_sentence(task: Any) -> Any:
    """The task with one letter of one sentence changed."""

    def build(sentences: int, seed: int) -> Any:
        data = task.build(sentences, seed)
        return replace(data, texts=(data.texts[0] + "!", *data.texts[1:]))

    return replace(task, build=build)


def test_other_sentences_pairs_and_weights_have_no_results(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, tmp_path: Path
) -> None:
    info = engine.info("embedded/tinybert")
    with monkeypatch.context() as patch:
        patch.setitem(TASKS, "word_content", other_sentence(TASKS["word_content"]))
        assert {key.task for key in precomputed.probing("embedded/bert")} == {"sentence_length", "bigram_shift"}
    process.clear_all()
    assert precomputed.quality(info) is not None
    assert precomputed.quality(replace(info, revision="sha256:000000000000")) is None
    find, fewer = sources.find, heldout.written_pairs()[1:]
    with monkeypatch.context() as patch:
        patch.setattr(
            sources, "find", lambda *known, **limits: replace(find(*known, **limits), revision="sha256:000000000000")
        )
        assert precomputed.probing("embedded/bert") == {}
        process.clear_all()
        patch.setattr(sources, "find", find)
        patch.setattr(sources, "WEIGHTS", tmp_path)  # which cannot be read
        assert precomputed.probing("embedded/bert") == {}
    process.clear_all()
    monkeypatch.setattr(heldout, "written_pairs", lambda: fewer)
    assert precomputed.quality(info) is None


def test_no_file_or_one_of_another_version_has_no_results(engine, tmp_path, monkeypatch) -> None:
    model = "embedded/bilstm"
    file = stored(model)
    file["parts"]["LayerResult"].remove("low")
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    for content in (None, json.dumps(file)):
        process.clear_all()
        if content is not None:
            precomputed.file_of(model).write_text(content, encoding="utf-8")
        assert precomputed.probing(model) == {}
        assert precomputed.trees(model) is None
        assert precomputed.quality(engine.info(model)) is None


def test_only_the_embedded_models_have_results(engine: Engine, checkpoint: Checkpoint) -> None:
    for model in (str(checkpoint("bert")), "google-bert/bert-base-uncased", "../embedded-bert", ""):
        assert precomputed.probing(model) == {}
    assert precomputed.quality(engine.info(str(checkpoint("bert")))) is None


def changed(change: Callable[[dict[str, Any]], object]) -> list[str]:
    """The differences that the check finds where something is otherwise."""
    before = stored("embedded/bilstm")
    after = copy.deepcopy(before)
    change(after)
    return list(command.differences(before, after))


def layer(file: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = file["probing"][2]["result"]["layers"][1]
    return values


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "weights": (lambda file: file["model"].update(revision="x"), ".model.revision was 'sha256:"),
    "four items more": (
        lambda file: layer(file).update(accuracy=layer(file)["accuracy"] + 4 / 120),
        ".probing[2].result.layers[1].accuracy was ",
    ),
    "a probability": (
        lambda file: layer(file)["wrong"][3].update(probability=layer(file)["wrong"][3]["probability"] - 0.002),
        ".probability was ",
    ),
    "other examples": (
        lambda file: [example.update(text=-1 - i) for i, example in enumerate(layer(file)["wrong"][:3])],
        "layers[1].wrong has 6 examples that only one of the two has",
    ),
    "a point": (
        lambda file: file["probing"][0]["picture"]["points"][2][5].__setitem__(1, 99.0),
        ".probing[0].picture.points[2][5][1] was ",
    ),
    "a p that comes near to a level": (
        lambda file: file["trees"]["result"]["layers"][1].update(p_untrained=0.004),
        ".layers[1].p_untrained was 4.433e-31 and is 0.004",
    ),
    "a layer less": (lambda file: file["probing"][1]["result"]["layers"].pop(), ".layers was [{"),
    "five masked tokens more": (
        lambda file: file["quality"].update(mlm_accuracy=file["quality"]["mlm_accuracy"] + 0.012),
        ".quality.mlm_accuracy was ",
    ),
    "other held-out pairs": (lambda file: file.update(heldout="sha256:other"), ".heldout was "),
    "a figure that is gone": (lambda file: file["quality"].update(mlm_loss=None), ".quality.mlm_loss was "),
    "a setting": (
        lambda file: file["probing"][0]["result"]["settings"].update(wrong=11),
        ".settings.wrong was 10 and is 11",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_the_check_finds_what_changed(case: str) -> None:
    change, line = CHANGES[case]
    (difference,) = changed(change)
    assert line in difference


def test_the_check_allows_what_rounding_does() -> None:
    def rounding(file: dict[str, Any]) -> None:
        picture = file["probing"][0]["picture"]
        picture["points"] = [[[-x, y] for x, y in points] for points in picture["points"]]
        layer(file)["accuracy"] -= 2 / 120
        layer(file)["wrong"] = layer(file)["wrong"][::-1][1:]
        file["quality"]["mlm_loss"] += 0.0005
        assert file["trees"]["result"]["layers"][0]["p_untrained"] > 0.7  # a tie
        file["trees"]["result"]["layers"][0]["p_untrained"] = 0.5527

    assert changed(rounding) == []


def test_the_command_of_layers_writes_and_then_finds_nothing_to_tell(tmp_path, monkeypatch, capsys) -> None:
    contents = {model: stored(model) for model in precomputed.EMBEDDED}
    monkeypatch.setattr(command, "measured", lambda _, model: json.dumps(contents[model]))
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    assert command.main(["--check"]) == 1
    assert not list(tmp_path.iterdir())
    assert command.main([]) == 0
    capsys.readouterr()
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().out == "".join(f"{model}: as stored\n" for model in precomputed.EMBEDDED)


def test_a_task_that_cannot_be_probed_stops_the_command(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields.SENTENCES, "default", 3)
    with pytest.raises(ValueError, match="sentence_length cannot be probed on embedded/bilstm"):
        command.measured(engine, "embedded/bilstm")


def test_the_command_writes_checks_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file a model; a check writes nothing, and its exit status tells a difference."""

    def run(value: str, *arguments: str) -> int:
        return run_command(
            "pages.some",
            "What it does.",
            arguments,
            ("a", "b"),
            file_of=lambda model: tmp_path / model,
            make=lambda _, model: f"{model}{value}",
            content=lambda _, __, made: made.encode(),
            changed=lambda model, made: [f" was {old}"] if (old := (tmp_path / model).read_text()) != made else [],
            table=lambda: "| a table |",
        )

    assert run("1") == 0
    assert [(tmp_path / model).read_text() for model in "ab"] == ["a1", "b1"]
    assert run("1", "--check") == 0
    capsys.readouterr()
    assert run("2", "--check") == 1
    assert capsys.readouterr().out == "a was a1\nb was b1\n"
    assert (tmp_path / "a").read_text() == "a1"
    assert run("3", "--table") == 0
    assert capsys.readouterr().out == "| a table |\n"
