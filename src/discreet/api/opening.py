"""From a discreet.toml to a curator, and what can be done before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from discreet.account.explain import one_sentence
from discreet.api.curator import Curator
from discreet.api.opened import policy_of
from discreet.catalog.catalog import Catalog
from discreet.catalog.policy_file import FILE_NAME, decoded, load, loads, meant_file
from discreet.catalog.writer import add_analysts as add_to_file
from discreet.core.answers.explanation import Explanation
from discreet.core.bill import Spent
from discreet.core.numbers import Epsilon, Number
from discreet.core.schema import Dataset
from discreet.errors import CatalogError
from discreet.ledger.head import KnownHead
from discreet.ledger.ledger import Ledger
from discreet.release.planning_limits import PlanningLimits
from discreet.sql.parse import ParsedQuestion, read


def open(config: str | Path | None = None) -> Curator:  # noqa: A001  # discreet.open is the contract
    """Return the curator of a catalog: the given discreet.toml, or the one in this folder."""
    return Curator(load(found_config(config)))


def found_config(config: str | Path | None) -> Path:
    """Return the discreet.toml that is meant, which must be there."""
    path = meant_file(config)
    if not path.is_file():
        raise CatalogError(
            f"There is no {FILE_NAME} here." if config is None else f"There is no file '{path}'.",
            hint="Make one with: discreet init YOUR_FILE.csv",
        )
    return path


def curator_of(config: Path, content: bytes | None) -> Curator:
    """Return the curator of a discreet.toml with this content; None, no file yet: one without datasets."""
    if content is None:
        return Curator(loads("", base=config.parent, name=config.name))
    catalog = loads(decoded(content, config), base=config.parent, name=config.name)
    return Curator(replace(catalog, path=config))


SeenLedger: TypeAlias = KnownHead
"""What a process has seen of its ledger, for the processes that it starts."""


def child_curator(catalog: Catalog, *, scratch: Path, known: SeenLedger | None = None) -> Curator:
    """Return a curator for a child process of whoever has put `catalog` in force.

    Guarantee: its ledger changes no limit, so a child that was started under an older catalog takes
        nothing back; and holds what its parent had seen of it, `known`. What its engine needs for a
        while lies in `scratch`.
    """
    limits = policy_of(catalog)
    url, base = catalog.ledger_url, catalog.base
    ledger = Ledger.open(url, limits, base=base, adopts=False, known=known)
    return Curator(catalog, ledger=ledger, scratch=scratch)


def add_analysts(
    config: Path, names: Sequence[str], *, epsilon: Number | Epsilon, datasets: Sequence[str] = ()
) -> Catalog:
    """Return the catalog after adding analysts with a share in `datasets` (all if none is named)."""
    wanted = datasets or tuple(load(config).datasets)
    return add_to_file(config, names, epsilon=Epsilon.of(epsilon), datasets=wanted)


ParsedStatement: TypeAlias = ParsedQuestion
"""A question that was parsed already."""


def parsed(sql: str) -> ParsedStatement:
    """Return a question parsed once; parameters may be filled into its tree, never into its text."""
    return ParsedQuestion(sql, read(sql))


Planner: TypeAlias = PlanningLimits
"""Tries texts of strangers before they are planned; for whoever answers many at once."""


def promise(cost: Spent, dataset: Dataset) -> str:
    """Return what a price promises to each person of a dataset, under its neighbours."""
    if cost.epsilon <= 0:
        return "No row is read for this, so nobody's odds change."
    return one_sentence(cost.epsilon, delta=cost.delta, neighbours=dataset.neighbours)


def with_promise(found: Explanation, catalog: Catalog) -> Explanation:
    """Return an explanation that says in `words` what its price promises."""
    if found.free:
        words = "This follows from answers that were paid for: it gives nothing more away."
    else:
        words = promise(found.cost, catalog.datasets[found.dataset])
    return replace(found, words=words)


def restore_ledger(config: str | Path | None, path: Path, *, reason: str) -> Ledger:
    """Return the ledger after replacing its history by the backup at `path`."""
    catalog = open(config).catalog
    return Ledger.restore(
        catalog.ledger_url, policy_of(catalog), path, base=catalog.base, reason=reason
    )
