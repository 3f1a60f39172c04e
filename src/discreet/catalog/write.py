"""Put a proposal on disk: complete or not at all, readable by its owner only."""

from __future__ import annotations

from pathlib import Path

from discreet.core.machine.atomic_file import write_whole
from discreet.errors import InvalidInput


def write_over(path: Path, text: str) -> None:
    """Write `text` to `path`, replacing what was there."""
    # Readable by its owner only: the comments tell what the data holds.
    try:
        write_whole(path, text, durable=True)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def refuse_existing(path: Path) -> None:
    """Refuse a path that is taken, before any work is done for it."""
    if path.exists() or path.is_symlink():
        raise InvalidInput(
            f"'{path}' exists already.", hint="Name another with --out, or replace it with --force."
        )
