"""What the figures were measured with: the machine, how busy it was, and the versions of what took part."""

from __future__ import annotations

import datetime as dt
import os
import platform
from importlib import metadata
from pathlib import Path

PARTS = ("duckdb", "pyarrow", "numpy", "opendp", "dp-accounting", "psycopg", "pyspark", "jax")


def machine() -> dict[str, object]:
    """Return processor, cores, memory, system, load of the last minute, and the date."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python, of Discreet and of the parts that are installed."""
    import discreet

    found = {"python": platform.python_version(), "discreet": discreet.__version__}
    for name in PARTS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
