"""The packages of the project, as they lie in its folder."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = tuple(sorted(path.parent.name for path in ROOT.glob("*/__init__.py")))
