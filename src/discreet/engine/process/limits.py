"""What a child process may take of the machine's memory, said by itself before it begins."""

from __future__ import annotations

import resource
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
