"""What the owner asks for, checked once, and what becomes of each column: coarsened, protected, as it is, or left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.anonymize.costs.registry import COSTS, GeneralisationCost
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.privacy_models.model import PrivacyModel
from discreet.anonymize.privacy_models.registry import models_asked
from discreet.anonymize.search import AnonymizeMethod, Missing
from discreet.anonymize.source import AnonymizeSource
from discreet.catalog.policy_file import HIDDEN_COLUMN
from discreet.core.requests.fields import given as words_of
from discreet.core.requests.fields import named
from discreet.core.requests.unpaid import LocalAnonymizeFields
from discreet.errors import InvalidInput

Choice = TypeVar("Choice", bound=Enum)


@dataclass(frozen=True, kw_only=True)
class AnonymizeRequest(LocalAnonymizeFields):
    """One anonymization, checked. Make it with `AnonymizeRequest.of`."""

    models: tuple[PrivacyModel, ...] = ()
    given: Mapping[str, Hierarchy] = field(default_factory=dict)

    if TYPE_CHECKING:
        k: int
        quasi: tuple[str, ...]
        cost: GeneralisationCost  # type: ignore[assignment]  # a word until it is checked
        method: AnonymizeMethod  # type: ignore[assignment]  # as above
        missing: Missing  # type: ignore[assignment]  # as above
        keep: tuple[str, ...]
        redact: tuple[str, ...]
        weights: Mapping[str, float]

    @classmethod
    def of(cls, **words: Any) -> AnonymizeRequest:
        """Return the request from the fields of `LocalAnonymizeFields`, or say which of them makes no sense."""
        asked = LocalAnonymizeFields(**words)
        if asked.k is None:
            raise InvalidInput("Say how many rows must look alike, with --k.", hint="Usual: 5.")
        if not asked.quasi:
            raise InvalidInput(
                "Say which columns others may know of a person, with --quasi.",
                hint="For example --quasi zip,birth_date,sex.",
            )
        if asked.population is not None and asked.population < 1:
            raise InvalidInput("The population must have at least one person.")
        if (asked.l is not None or asked.t is not None) and asked.sensitive is None:
            raise InvalidInput(
                "--l and --t protect a sensitive column: say which, with --sensitive."
            )
        _, *models = models_asked(asked)
        weights = asked.weights
        checked = {
            "quasi": tuple(asked.quasi),
            "models": tuple(models),
            "cost": named(COSTS, asked.cost, "cost"),
            "method": _choice(AnonymizeMethod, asked.method, "method"),
            "keep": tuple(asked.keep),
            "redact": tuple(asked.redact),
            "weights": _weights(weights) if isinstance(weights, str) else dict(weights),
            "missing": _choice(Missing, asked.missing, "missing"),
        }
        return cls(**words_of(asked) | checked)


def _choice(kind: type[Choice], written: str, name: str) -> Choice:
    return named({each.value: each for each in kind}, written, name)


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


REDACTED, NOT_NAMED = "redacted", "not named"


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns of a table as a request uses them; `left_out` says why each of the others is."""

    quasi: tuple[str, ...]
    sensitive: str | None
    kept: tuple[str, ...]
    left_out: Mapping[str, str]


def roles_of(source: AnonymizeSource, request: AnonymizeRequest) -> ColumnRoles:
    """Return what becomes of each column of a table.

    Guarantee: a column is published only if the request names it, in one role, and no discreet.toml
        that the source knows hides it or makes it the person column. Such a column is refused in
        every role, not only left out: whoever hides it has said so in a place that outlasts a command.
    """
    quasi, kept = source.named(request.quasi), source.named(request.keep)
    redacted = source.named(request.redact)
    sensitive = None if request.sensitive is None else source.column(request.sensitive)
    _refuse_two_roles(
        {
            "a quasi-identifier": quasi,
            "sensitive": () if sensitive is None else (sensitive,),
            "kept": kept,
            "redacted": redacted,
        }
    )
    hidden = {name.lower(): why for name, why in source.hidden.items()}
    published = (*quasi, *(() if sensitive is None else (sensitive,)), *kept)
    for name in published:
        why = hidden.get(name.lower())
        if why is not None:
            raise InvalidInput(
                f"'{name}' is {why}, so no copy of '{source.label}' shows it.",
                hint="Leave it out, or first remove 'hidden = true' from it there."
                if why == HIDDEN_COLUMN
                else "Leave it out: with it, each row names its person.",
            )
    asked = dict.fromkeys(redacted, REDACTED)
    left_out = {
        name: hidden.get(name.lower()) or asked.get(name) or NOT_NAMED
        for name in source.columns
        if name not in published
    }
    return ColumnRoles(quasi, sensitive, kept, left_out)


def _refuse_two_roles(roles: Mapping[str, tuple[str, ...]]) -> None:
    found: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            first = found.setdefault(name, role)
            if first != role:
                raise InvalidInput(
                    f"'{name}' cannot be {first} and {role} at once.",
                    hint="Name each column once; what is not named is left out.",
                )
