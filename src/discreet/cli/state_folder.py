"""Where a command keeps what it makes when nobody has said where."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


def state_folder(name: str) -> tuple[Path, str]:
    """Return a folder that can be written, made if need be, and a sentence if it is not under home.

    The home folder comes first, then `.discreet` in the working folder. The last resort is a fresh
    temporary folder: one with a name that can be guessed might be somebody else's.
    """
    wanted = list(_kept(name))
    for folder in wanted:
        if _writable(folder):
            first = folder == wanted[0]
            return folder, "" if first else f"The home folder cannot be written: using {folder}."
    folder = Path(tempfile.mkdtemp(prefix=f"discreet-{name}-"))
    return (
        folder,
        f"Neither home nor this folder can be written: using {folder}, for this run only.",
    )


def _kept(name: str) -> Iterator[Path]:
    with contextlib.suppress(RuntimeError, OSError):  # nobody's home is known; no working folder
        yield Path.home() / ".local" / "share" / "discreet" / name
    with contextlib.suppress(OSError):
        yield Path.cwd() / ".discreet" / name


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
