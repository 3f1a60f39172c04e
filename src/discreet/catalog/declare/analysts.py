"""Add analysts to an existing discreet.toml: checked first, then written whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain, count
from pathlib import Path
from string import ascii_lowercase, digits

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_section
from discreet.catalog.declare.change_file import change_catalog
from discreet.catalog.declare.compose import analyst_lines, composed
from discreet.core.numbers import Epsilon
from discreet.errors import CatalogError, InvalidInput

MAX_NAME = 200


def add_analysts(
    config: Path, names: Sequence[str], *, epsilon: Epsilon, datasets: Sequence[str]
) -> Catalog:
    """Return the catalog after giving each of `names` a share of `epsilon` in each dataset."""

    def edit(text: str, old: Catalog) -> str:
        return with_analysts(text, old, names, epsilon=epsilon, datasets=datasets)

    return change_catalog(config, edit).after


def with_analysts(
    text: str, old: Catalog, names: Sequence[str], *, epsilon: Epsilon, datasets: Sequence[str]
) -> str:
    """Return the text of discreet.toml with new analysts, each with a share in each dataset.

    What stands in the file stays as it is, comments too: the new sections are added at its end.
    """
    for name in names:
        if not name or len(name) > MAX_NAME or not name.isprintable():
            raise InvalidInput("An analyst's name is 1 to 200 printable characters.")
        if name in old.analysts:
            raise CatalogError(
                f"There is an analyst '{name}' already.",
                hint="A name stays with its charges and answers, also after its class has ended: "
                f"take another, such as '{free_name(name.rstrip(digits), old.analysts)}'.",
            )
    for dataset in datasets:
        old.dataset(dataset)
    shares = {dataset: {"epsilon": epsilon.value} for dataset in datasets}
    return with_section(text, composed(*(analyst_lines(name, shares) for name in names)))


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name for a class, or an analyst, that nobody has or had: `wanted`, or it with a letter.

    A name is never given twice. Whoever got it again would get the charges and the stored answers
    of the person before.

    >>> free_name("student", []), free_name("student", ["student001"]), free_name("student-b", ["student-b001"])
    ('student', 'student-b', 'student')
    """
    used = {name.rstrip(digits) for name in taken}
    base = re.sub("-([b-z])\\1*$", "", wanted)
    more = (f"{base}-{letter * times}" for times in count(1) for letter in ascii_lowercase[1:])
    return next(name for name in chain([base], more) if name not in used)


def share_notes(catalog: Catalog) -> list[str]:
    """Return a sentence for each budget of which the analysts' shares are more than there is.

    They may be: the total limits them together as ever. The owner should know it when giving them.
    """
    notes = []
    for name, budget in catalog.budgets.items():
        shares = [
            caps[dataset].epsilon.value
            for caps in catalog.analysts.values()
            for dataset in caps
            if catalog.datasets[dataset].budget == name
        ]
        if sum(shares) > budget.epsilon.value:
            notes.append(
                f"All shares of '{name}' add up to {float(sum(shares)):g}; its total of "
                f"{float(budget.epsilon):g} still limits them together."
            )
    return notes
