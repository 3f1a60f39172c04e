"""Whether the rows of a test file are public: the owner's word, asked for once and remembered."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.core.system.atomic_file import write_whole
from discreet.errors import InvalidInput

FOLDER, FILE = ".discreet", "public-tests.json"


def declared_public(
    test: Path, base: Path, *, said: bool, ask: Callable[[], bool] | None = None
) -> bool:
    """Return whether the owner declared these very rows public, now or before.

    `said`: the owner says so with this command. Who can be asked is asked once, by `ask`; elsewhere, what
    was not said is no. The word is for the bytes of the file: changed rows are asked about again. It is
    kept in `base`, the folder of the discreet.toml.
    """
    place = base / FOLDER / FILE
    with test.open("rb") as file:
        known, digest = _remembered(place), hashlib.file_digest(file, "sha256").hexdigest()
    if said or digest in known:
        if said and not known.get(digest, {}).get("public"):
            _remember(place, known, digest, test, public=True)
        return said or bool(known[digest]["public"])
    if ask is None:
        return False
    public = ask()
    _remember(place, known, digest, test, public=public)
    return public


def _remembered(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(place: Path, known: dict[str, Any], digest: str, test: Path, *, public: bool) -> None:
    word = {"file": test.name, "public": public, "said": dt.datetime.now(dt.UTC).isoformat()}
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(place, json.dumps({**known, digest: word}, indent=1))
    except OSError:
        raise InvalidInput(f"The owner's word cannot be kept in '{place}'.") from None
