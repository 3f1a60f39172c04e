"""A model as a file: a zip of its text, its card, and the digests of both; nothing in it ever runs."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

from discreet.engine.formats.packed import BROKEN
from discreet.errors import InvalidInput
from discreet.learn.model_files.card import card_of
from discreet.learn.model_files.model_text import AnyModel, from_text, to_text, unusable
from discreet.report import to_html

MODEL, CARD, MANIFEST = "model.json", "card.html", "manifest.json"
FORMAT = "discreet model release"
VERSION = 1
LARGEST = 1 << 28
"""Bytes that a part of the file may have once unpacked."""
_WHEN = (1980, 1, 1, 0, 0, 0)


def write_model(model: AnyModel, path: Path) -> None:
    """Write the model and its card to `path`."""
    parts = {MODEL: to_text(model).encode(), CARD: to_html(card_of(model)).encode()}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()},
    }
    parts[MANIFEST] = json.dumps(manifest, indent=1).encode()
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in parts.items():
                archive.writestr(zipfile.ZipInfo(name, _WHEN), part, zipfile.ZIP_DEFLATED)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def read_model(path: Path) -> AnyModel:
    """Return the model in a file; one that was changed since it was written is refused."""
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(_part(archive, MANIFEST, path.name))
            model, card = (_part(archive, name, path.name) for name in (MODEL, CARD))
    except (*BROKEN, KeyError, ValueError, RuntimeError):
        raise unusable(path.name, "it is no such file, or is damaged") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise unusable(path.name, "it is another kind of file")
    if manifest.get("version") != VERSION:
        raise unusable(path.name, "it was written by another version of discreet")
    digests = manifest.get("sha256")
    found = {MODEL: model, CARD: card}
    if digests != {name: hashlib.sha256(part).hexdigest() for name, part in found.items()}:
        raise unusable(path.name, "it was changed after it was written")
    return from_text(model.decode("utf-8", errors="replace"), name=path.name)


def _part(archive: zipfile.ZipFile, name: str, shown: str) -> bytes:
    if archive.getinfo(name).file_size > LARGEST:
        raise unusable(shown, "it is too large")
    with archive.open(name) as file:
        part = file.read(LARGEST + 1)
    if len(part) > LARGEST:
        raise unusable(shown, "it is too large")
    return part
