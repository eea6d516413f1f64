"""Links as the app wrote them when a field, a view or a page had another name, so that they still open.

Nothing else knows these names.
"""

from __future__ import annotations

from collections.abc import Mapping

OLD: Mapping[str, Mapping[str, str]] = {"sentence_vectors": {"shown": "view"}}
"""For a page the parameters that have another name today."""

_VIEWS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "train": {preset: {"view": "runs", "preset": preset} for preset in ("race", "scratch", "distillation")}
}
"""For a page the views that are a setting of another view today."""

_MOVED = {("train", "similarity"): "sentence_vectors"}
"""Views that are a page of their own today, by their page and name."""


def translate(page: str, address: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address of a page by today's names. If both are there, today's is meant."""
    old = OLD.get(page, {})
    renamed = {old[name]: text for name, text in address.items() if name in old}
    parameters = renamed | {name: text for name, text in address.items() if name not in old}
    return {**parameters, **_VIEWS.get(page, {}).get(parameters.get("view", ""), {})}


def new_page(page: str, address: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """The page, and its parameters, that an address opens today; None if it is still of the page that it names."""
    new = _MOVED.get((page, address.get("view", "")))
    return None if new is None else (new, {name: text for name, text in address.items() if name != "view"})
