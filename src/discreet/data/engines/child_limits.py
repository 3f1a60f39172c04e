"""Limits of child processes: memory, a folder for what it does not hold, and the settings that close a DuckDB."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import tempfile
from pathlib import Path

_UNTOLD = 4 << 30
"""What a process is taken to have where the system does not tell."""


def limit_memory(memory_mb: int) -> None:
    """Let this process grow by so much and no further, wherever the bytes are kept; leave no core behind.

    DuckDB's own limit counts its buffers; what an aggregate keeps of texts and lists is elsewhere.
    """
    limit_addresses(_pages(0) + (memory_mb << 20))


def limit_addresses(size: int) -> None:
    """Let this process have so many bytes of addresses in all; leave no core behind."""
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_data(memory_mb: int) -> None:
    """Let this process fill so much more memory and no further; 0: as far as the machine goes.

    What is limited is private memory that can be written (RLIMIT_DATA), not address space: libraries
    that draw charts or use a graphics card reserve more addresses than any machine has memory. The
    limit is the soft one: the engine's own processes have limits of their own, and set them.
    """
    if not memory_mb:
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = _pages(5) + (memory_mb << 20)
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def free_data() -> None:
    """Take back the limit of whoever started us, which is theirs."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def _pages(field: int) -> int:
    """Return one of the sizes of this process, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()
    except OSError:
        return _UNTOLD


_NAME = "discreet-spill-"


def own_folder(place: Path) -> Path:
    """Return a new folder inside `place`, for as long as this process lives, and remove those of others that are gone.

    Guarantee: nobody removes it while this process lives, on whatever machine the others run: it is locked
        before it has the name by which it would be taken for one that was left, and no name is used twice.
    """
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_left(place)
    made = Path(tempfile.mkdtemp(prefix=".", dir=place))
    lock = os.open(made, os.O_RDONLY)  # until the process ends
    fcntl.flock(lock, fcntl.LOCK_EX)
    return made.rename(place / f"{_NAME}{made.name[1:]}")


def remove_left(place: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in place.glob(f"{_NAME}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue  # somebody else was quicker
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # its process lives
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "disabled_optimizers": "statistics_propagation,late_materialization",
}
"""It fetches no extension and sees none of Python's variables.

Guarantee: the step that rewrites expressions by what statistics say of the rows (that no row has an x, or
    all the same) does not run. DuckDB 2.0.0 fails on `CASE WHEN x IS NOT NULL THEN COALESCE(x, '') END = 'a'`, hence on
    SPLIT_PART, where no row has an x: an error that depends on one person. (docs/notes/0077-planned-as-written.md)

Nor does the step that turns the first rows of a file into a join with the numbers of these rows and a sort: it
takes ten times as long as reading them, and longer than counting all rows by their values.
"""
