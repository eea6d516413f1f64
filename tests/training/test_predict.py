"""Predictions with dropout on, as after a forgotten eval(): drawn by a seed, and in this thread alone."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from training.finetuning.predict import _dropping


def loaded(*layers: torch.nn.Module) -> Any:
    return SimpleNamespace(model=torch.nn.Sequential(*layers).eval())


def passed(entry: Any) -> torch.Tensor:
    return cast("torch.Tensor", entry.model(torch.ones(100, 100)))


def test_numbers_are_dropped_or_scaled_up_so_that_their_mean_stays() -> None:
    network = loaded(torch.nn.Dropout(0.0))
    with _dropping(network, 0):
        output = passed(network)
    assert output.unique().tolist() == pytest.approx([0, 1 / 0.9])
    assert output.mean().item() == pytest.approx(1, abs=0.03)
    assert output.eq(0).float().mean().item() == pytest.approx(0.1, abs=0.015)
    torch.testing.assert_close(passed(network), torch.ones(100, 100))


def test_a_seed_draws_the_same_and_leaves_torchs_own_alone() -> None:
    network = loaded(torch.nn.Dropout(0.1), torch.nn.Linear(100, 2))
    before = torch.get_rng_state()
    draws = []
    for seed in (1, 1, 2):
        with _dropping(network, seed):
            draws.append(passed(network))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(before, torch.get_rng_state())


def test_neither_another_thread_nor_a_model_without_dropout_sees_any_of_it() -> None:
    network = loaded(torch.nn.Dropout(0.5))
    with _dropping(network, 0), ThreadPoolExecutor(1) as other:
        assert torch.equal(other.submit(passed, network).result(), torch.ones(100, 100))
    network = loaded(torch.nn.Identity())
    with _dropping(network, 0):
        assert torch.equal(passed(network), torch.ones(100, 100))
