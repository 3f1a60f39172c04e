"""A study of the user's own people: the published numbers are the shares of people with each value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.attack.attacks import AttackSettings
from discreet.attack.files import as_texts, people_of, read_rows
from discreet.attack.membership.scores import Genotypes
from discreet.core.arrays import Floats
from discreet.core.schema import BooleanDomain, CategoryDomain
from discreet.errors import InvalidInput

CUTS = 10
"""Numbers are published as the shares of people above each tenth of all."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """People in a study and others, as rows of 0, 1 or 2; and what the adversary compares with."""

    members: Genotypes
    others: Genotypes
    reference: Floats
    knew: str
    released: str
    facts: Mapping[str, Any]


def own_study(chosen: AttackSettings) -> Study:
    """Return the study of the people in `original`; half of `control` are outsiders, half a panel."""
    if not chosen.text("control"):
        raise InvalidInput(
            "Name people of the same kind who were not in the study: control is missing."
        )
    tables = [read_rows(chosen.text(name)) for name in ("original", "control")]
    columns = chosen.words("columns") or tuple(tables[0].column_names)
    rows = indicators(as_texts(tables, columns))
    members, rest = rows[: tables[0].num_rows], rows[tables[0].num_rows :]
    half = len(rest) // 2
    if not half:
        raise InvalidInput("The control needs at least two people: half of it are the panel.")
    return Study(
        members,
        rest[:half],
        rest[half:].mean(axis=0) / 2,
        f"All columns of one person, and the shares among {len(rest) - half:,} other people.",
        f"{rows.shape[1]:,} shares of the {len(members):,} people in {chosen.text('original')}: how many "
        "have each value, or lie above each tenth of a number.",
        {"reference_panel": len(rest) - half},
    )


def indicators(table: pa.Table) -> Genotypes:
    """Return for each person and each published share 2 where the person counts in it, else 0."""
    people = people_of(table)
    found = []
    for name, domain in people.domains.items():
        column = people.rows[name]
        if isinstance(domain, CategoryDomain | BooleanDomain):
            words = column.cast(pa.string()).to_numpy(zero_copy_only=False)
            found += [words == value for value in np.unique(words[words != None])]  # noqa: E711
        else:
            values = column.cast(pa.float64()).to_numpy()
            cuts = np.unique(np.nanquantile(values, np.linspace(0, 1, CUTS + 1)[1:-1]))
            found += [values > cut for cut in cuts]
    return (2 * np.stack(found, axis=1)).astype(np.int8)
