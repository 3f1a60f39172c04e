"""`discreet.publish("SPEC.toml")`: many tables as one consistent, signed package."""

from __future__ import annotations

from pathlib import Path

from discreet.api import open as open_curator
from discreet.core.progress import Progress, silent
from discreet.publish.run import Publication


def publish(
    spec: str | Path,
    *,
    out: str | Path | None = None,
    config: str | Path | None = None,
    who: str = "owner",
    supersedes: str | None = None,
    progress: Progress = silent,
) -> Publication:
    """Return a release after writing its signed package, charged before any row is read.

    `config` is the discreet.toml that is meant, or the one in this folder. Drafts, approvals and
    withdrawals are methods of the curator. (docs/publish.md)

    >>> discreet.publish("SPEC.toml", out="RELEASE.zip").tables             # doctest: +SKIP
    {'sexes': 2}
    """
    with open_curator(config) as curator:
        return curator.publish(spec, out=out, who=who, supersedes=supersedes, progress=progress)
