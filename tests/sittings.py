"""Long counts over as many sittings as they need: run one again and it goes on where it was stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

FULL = os.environ.get("DISCREET_FULL") == "1"
"""Whether counts are the full ones, which take hours: `make test-full`."""


def examples(full: int) -> int:
    """Return how many examples Hypothesis tries: each run draws others, so a third finds as much in three."""
    return full if FULL else max(10, full // 3)


def progress_file(name: str) -> Path:
    """Return where a count keeps what was done: in $DISCREET_PROGRESS if that is set."""
    return Path(os.environ.get("DISCREET_PROGRESS", tempfile.gettempdir())) / f"discreet-{name}"


def sittings(name: str, full: int) -> Iterator[int]:
    """Yield the numbers below `full` that no earlier sitting has finished; one that fails is not."""
    file = progress_file(name)
    done = int(file.read_text()) if file.exists() else 0
    for number in range(done, full):
        yield number
        temporary = file.with_name(f"{file.name}.new")
        temporary.write_text(str(number + 1))
        temporary.replace(file)
