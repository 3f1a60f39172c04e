"""A field of a request, as the outside world writes it: its kind, its help text and its limits.

Options of commands (`cli/request_options.py`), bodies of the HTTP API (`server/bodies/request_body.py`), settings of
the PostgreSQL endpoint and what the client sends are made of these; nothing else says them again. Where a field
takes the names of a registry in a room above this one, front ends fill in that registry's `choices()`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from typing import Any

from discreet.core.numbers import Delta, Epsilon


class FieldKind(Enum):
    """How a field is written."""

    TEXT = "text"
    AMOUNT = "amount"
    """An exact number: as text it arrives as it was written."""
    WHOLE = "whole"
    NUMBER = "number"
    FLAG = "flag"
    TEXTS = "texts"
    """Separated by commas in a command, unless its option may be repeated."""
    PATH = "path"
    """Of the machine that the command runs on: never sent."""
    SETTINGS = "settings"
    """NAME=VALUE in a command."""


@dataclass(frozen=True, slots=True)
class RequestField:
    """One field: help text, kind, and limits of what strangers may send.

    `least` and `most` bound a number, `above` too, but is not reached itself; `longest` bounds a text,
    `many` a list. `option`: the command's option, where it is not the field's name, `metavar` what stands
    for its value in help texts. `sent`: whether it
    goes over HTTP. `reads` makes an amount of what was written, or refuses it.
    """

    help: str
    kind: FieldKind
    least: float | None = None
    above: float | None = None
    most: float | None = None
    shortest: int | None = None
    longest: int | None = None
    many: int | None = None
    option: str = ""
    repeated: bool = False
    metavar: str = ""
    sent: bool = True
    reads: Callable[[Any], Any] | None = None
    name: str = ""
    default: Any = ...
    """`...` where it must be given."""

    @property
    def required(self) -> bool:
        """Return whether it must be given."""
        return self.default is ...


def asked(kind: FieldKind, words: str, default: Any = MISSING, **more: Any) -> Any:
    """Return a dataclass field with its help text and limits; each request has its own empty mapping."""
    shown = {"asked": RequestField(words, kind, **more)}
    if default == {}:
        return field(default_factory=dict, metadata=shown)
    return field(default=default, metadata=shown)


def request_fields(request: type, *, only: Collection[str] = ()) -> dict[str, RequestField]:
    """Return the fields of a request in their order, or `only` some."""
    return {
        each.name: _named(each)
        for each in fields(request)
        if "asked" in each.metadata and (not only or each.name in only)
    }


def _named(each: Any) -> RequestField:
    default = ... if each.default is MISSING else each.default
    if each.default_factory is not MISSING:
        default = each.default_factory()
    found: RequestField = replace(each.metadata["asked"], name=each.name, default=default)
    return found


def one_of(names: Collection[str]) -> str:
    """Return a help text that lists the names which a registry knows.

    >>> one_of(["auto", "tree", "random"])
    'auto, tree or random.'
    """
    *others, last = names
    return f"{', '.join(others)} or {last}." if others else f"{last}."


def given(request: Any) -> dict[str, Any]:
    """Return the fields of a request by name, as they are."""
    return {each.name: getattr(request, each.name) for each in fields(request)}


def sent(request: Any) -> dict[str, Any]:
    """Return what a client sends: amounts as text, defaults left out."""
    found = {}
    for name, each in request_fields(type(request)).items():
        value = getattr(request, name)
        if value == each.default or not each.sent:
            continue
        if each.kind is FieldKind.AMOUNT:
            value = str(value.value if isinstance(value, Epsilon | Delta) else value)
        found[name] = list(value) if each.kind is FieldKind.TEXTS else value
    return found
