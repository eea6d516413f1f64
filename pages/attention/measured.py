"""All heads measured on the text on screen, once for all views that show them."""

from __future__ import annotations

from analysis.heads import HeadTable, head_table
from pages.attention.scene import Scene
from web.engine import engine


def all_heads(scene: Scene) -> HeadTable:
    """Raises InvalidInput where the text has no words to measure them on."""
    return engine().derived(("all heads measured", *scene.run_key), lambda: head_table([scene.run]))
