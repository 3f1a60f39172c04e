"""Whether the rows of a test file are public: the owner's word, asked for once and remembered."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from discreet.errors import InvalidInput

FOLDER, FILE = ".discreet", "public-tests.json"


def declared_public(test: Path | None, config: Path | None, *, said: bool) -> bool:
    """Return whether the owner declared these very rows public, now or before.

    `said` is --test-public. On a terminal it is asked once; elsewhere, what was not said is no. The
    word is for the bytes of the file: changed rows are asked about again.
    """
    if test is None:
        return False
    place = (Path() if config is None else config.parent) / FOLDER / FILE
    with test.open("rb") as file:
        known, digest = _remembered(place), hashlib.file_digest(file, "sha256").hexdigest()
    if said or digest in known:
        if said and not known.get(digest, {}).get("public"):
            _remember(place, known, digest, test, public=True)
        return said or bool(known[digest]["public"])
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    import typer

    public = typer.confirm(
        f"Are the rows of {test.name} public? Then the test is exact and free; otherwise it is "
        "charged to the people in them.",
        default=False,
        err=True,
    )
    _remember(place, known, digest, test, public=public)
    return public


def _remembered(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(place: Path, known: dict[str, Any], digest: str, test: Path, *, public: bool) -> None:
    from discreet.core.machine.atomic_file import write_whole

    word = {"file": test.name, "public": public, "said": dt.datetime.now(dt.UTC).isoformat()}
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(place, json.dumps({**known, digest: word}, indent=1))
    except OSError:
        raise InvalidInput(f"The owner's word cannot be kept in '{place}'.") from None
