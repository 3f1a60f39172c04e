"""The expected noise of a plain count, as Ask explains it: the Budget page has no formula of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.api import Curator
from discreet.core.owner import OWNER
from discreet.engine.names import quoted
from discreet.errors import DiscreetError
from discreet.server.views import FINE, ROUGH, CountNoise


def count_noises(
    curator: Curator, datasets: Iterable[Mapping[str, Any]], analyst: str | None
) -> dict[str, CountNoise]:
    """Return what a count of each dataset's first private table would get; spends nothing."""
    seen = curator.seen_by(analyst)
    found = {}
    for dataset in datasets:
        table = next((each["name"] for each in dataset["tables"] if not each["public"]), None)
        if table is not None:
            widths = {epsilon: _width(seen, table, epsilon, analyst) for epsilon in (ROUGH, FINE)}
            found[dataset["name"]] = CountNoise(table, widths)
    return found


def _width(curator: Curator, table: str, epsilon: str, analyst: str | None) -> float | None:
    sql = f"SELECT COUNT(*) AS n FROM {quoted(table)}"
    try:
        said = curator.explain(sql, epsilon=epsilon, analyst=analyst or OWNER, fresh=True)
    except DiscreetError:  # a table that cannot be read now has no expected noise
        return None
    return said.expected_error.get("n")
