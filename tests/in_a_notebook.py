"""A widget as a browser has it, without a browser."""

import json
from typing import Any

from viz.notebook.widget import Widget


def sent(widget: Widget) -> dict[str, Any]:
    """The payload that the browser has, its weights as bytes."""
    data = widget._data
    length = int.from_bytes(data[:4], "little")
    return {**json.loads(data[4 : 4 + length]), "weights": data[4 + length :]}


def looked_at(widget: Any) -> Any:
    """The widget in a browser."""
    widget.set_state({"_views": 1})
    return widget


def as_sent(payload: Any, widget: Widget, **others: Any) -> dict[str, Any]:
    """A payload as it arrives."""
    plain = json.loads(json.dumps({name: value for name, value in payload.items() if name != "weights"}))
    return {**plain, "weights": payload["weights"], "file": widget._id, "still": widget._id, **others}
