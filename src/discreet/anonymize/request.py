"""What the owner asks for, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TypeVar

from discreet.anonymize.criteria.models import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    RecursiveDiversity,
)
from discreet.anonymize.hierarchy.levels import Hierarchy
from discreet.anonymize.search.costs import GeneralisationCost
from discreet.anonymize.search.optimal import AnonymizeMethod, Missing
from discreet.errors import InvalidInput

Choice = TypeVar("Choice", bound=Enum)

DIVERSITIES = ("distinct", "entropy", "recursive")


@dataclass(frozen=True, slots=True)
class AnonymizeRequest:
    """One anonymization, as it was asked for. Make it with `AnonymizeRequest.of`."""

    k: int
    quasi: tuple[str, ...]
    sensitive: str | None = None
    models: tuple[PrivacyModel, ...] = ()
    hierarchies: Path | None = None
    suppress: float = 0.0
    cost: GeneralisationCost = GeneralisationCost.DISCERNIBILITY
    method: AnonymizeMethod = AnonymizeMethod.OPTIMAL
    redact: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    missing: Missing = Missing.VALUE
    seconds: float = 60.0
    population: int | None = None
    given: Mapping[str, Hierarchy] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        k: int | None,
        quasi: Sequence[str],
        sensitive: str | None = None,
        l: float | None = None,  # noqa: E741 the model's own name
        diversity: str = "distinct",
        c: float = 3.0,
        t: float | None = None,
        hierarchies: Path | None = None,
        suppress: float = 0.0,
        cost: str = "discernibility",
        method: str = "optimal",
        redact: Sequence[str] = (),
        weights: str | Mapping[str, float] = "",
        missing: str = "value",
        seconds: float = 60.0,
        population: int | None = None,
    ) -> AnonymizeRequest:
        """Return the wish, or say which word or number makes no sense."""
        if k is None:
            raise InvalidInput("Say how many rows must look alike, with --k.", hint="Usual: 5.")
        if not quasi:
            raise InvalidInput(
                "Say which columns others may know of a person, with --quasi.",
                hint="For example --quasi zip,birth_date,sex.",
            )
        if population is not None and population < 1:
            raise InvalidInput("The population must have at least one person.")
        KAnonymity(k)  # refuses what is no k
        if (l is not None or t is not None) and sensitive is None:
            raise InvalidInput(
                "--l and --t protect a sensitive column: say which, with --sensitive."
            )
        return cls(
            k=k,
            quasi=tuple(quasi),
            sensitive=sensitive,
            models=_models(l, diversity, c, t),
            hierarchies=hierarchies,
            suppress=suppress,
            cost=_choice(GeneralisationCost, cost, "cost"),
            method=_choice(AnonymizeMethod, method, "method"),
            redact=tuple(redact),
            weights=_weights(weights) if isinstance(weights, str) else dict(weights),
            missing=_choice(Missing, missing, "missing"),
            seconds=seconds,
            population=population,
        )


def _models(
    l: float | None,  # noqa: E741 the model's own name
    diversity: str,
    c: float,
    t: float | None,
) -> tuple[PrivacyModel, ...]:
    if diversity not in DIVERSITIES:
        raise InvalidInput(f"--diversity is {' or '.join(DIVERSITIES)}, not '{diversity[:40]}'.")
    found: list[PrivacyModel] = []
    if l is not None:
        if diversity == "entropy":
            found.append(EntropyDiversity(l))
        else:
            if not math.isfinite(l) or l != int(l):
                raise InvalidInput("--l counts values, so it is a whole number.")
            whole = int(l)
            found.append(
                DistinctDiversity(whole)
                if diversity == "distinct"
                else RecursiveDiversity(c, whole)
            )
    if t is not None:
        found.append(Closeness(t))
    return tuple(found)


def _choice(kind: type[Choice], written: str, name: str) -> Choice:
    try:
        return kind(written)
    except ValueError:
        known = ", ".join(str(each.value) for each in kind)
        raise InvalidInput(
            f"--{name} cannot be '{written[:40]}'.", hint=f"There are: {known}."
        ) from None


def _weights(written: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for item in written.split(","):
        if not item.strip():
            continue
        name, equals, number = item.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(f"Write a weight as COLUMN=NUMBER, not '{item.strip()[:40]}'.")
    return found
