"""What becomes of each column: coarsened, protected, published as it is, or left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.source import AnonymizeSource
from discreet.catalog.read.policy_file import HIDDEN_COLUMN
from discreet.errors import InvalidInput

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
