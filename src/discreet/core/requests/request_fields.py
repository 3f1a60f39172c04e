"""A field of a request, as the outside world writes it: its kind, its help text and its limits.

Options of commands (`cli/command.py`), bodies of the HTTP API (`server/bodies.py`), settings of
the PostgreSQL endpoint and what the client sends are made of these; nothing else says them again. Where a field
takes the names of a registry in a room above this one, front ends fill in that registry's `choices()`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from enum import Enum
from typing import Any, TypeVar

from discreet.core.numbers import Delta, Epsilon
from discreet.errors import InvalidInput

Choice = TypeVar("Choice")


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
    for its value in help texts. `sent`: whether it goes over HTTP
    as it is. `last`: shown after all others. `reads` makes an amount of what was written, or refuses it.
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
    last: bool = False
    reads: Callable[[Any], Any] | None = None
    name: str = ""
    default: Any = ...
    """`...` where it must be given."""

    @property
    def required(self) -> bool:
        """Return whether it must be given."""
        return self.default is ...


def asked(
    kind: FieldKind, words: str, *, default: Any = MISSING, kw_only: Any = MISSING, **more: Any
) -> Any:
    """Return a dataclass field with its help text and limits; each request has its own empty mapping.

    `kw_only=False`: Python callers may give it by its place.
    """
    shown = {"asked": RequestField(words, kind, **more)}
    if default == {}:
        return field(default_factory=dict, kw_only=kw_only, metadata=shown)
    return field(default=default, kw_only=kw_only, metadata=shown)


def like(request: type, name: str, *, default: Any = MISSING) -> Any:
    """Return the field that another request has, with this default; required without one."""
    (found,) = (each for each in fields(request) if each.name == name)
    return field(default=default, metadata=found.metadata)


def beside(words: str, *, default: Any = MISSING, kw_only: Any = MISSING, init: bool = True) -> Any:
    """Return a field of a call that is no part of what is asked: never checked, sent or kept."""
    shown = {"beside": words}
    return field(
        default=default, kw_only=kw_only, init=init, compare=False, repr=False, metadata=shown
    )


def ordered(request: type) -> list[Field[Any]]:
    """Return the fields of a call as they are shown: required ones, others, who pays, what stands beside."""

    def place(each: Field[Any]) -> int:
        if "asked" not in each.metadata:
            return 3
        if each.default is MISSING and each.default_factory is MISSING:
            return 0
        return 2 if each.metadata["asked"].last else 1

    return sorted(fields(request), key=place)


def request_fields(request: type) -> dict[str, RequestField]:
    """Return the fields of a request as they are shown."""
    return {each.name: _named(each) for each in ordered(request) if "asked" in each.metadata}


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


def named(known: Mapping[str, Choice], written: str, field_name: str) -> Choice:
    """Return what a word of a field means, or refuse it with a sentence."""
    if written not in known:
        raise InvalidInput(
            f"--{field_name} cannot be '{written[:40]}'.", hint=f"There are: {', '.join(known)}."
        )
    return known[written]


def given(request: Any) -> dict[str, Any]:
    """Return the fields of a request by name, as they are, but for what stands beside what is asked."""
    return {
        each.name: getattr(request, each.name)
        for each in fields(request)
        if "beside" not in each.metadata
    }


def sent(request: Any) -> dict[str, Any]:
    """Return what a client sends: amounts as text, defaults left out.

    A request that is paid for has an id from here on, so that one which is sent again after a broken
    connection is charged once.
    """
    found = {}
    for name, each in request_fields(type(request)).items():
        value = getattr(request, name)
        if name == "request_id":
            value = value or uuid.uuid4().hex
        if value == each.default or not each.sent:
            continue
        if each.kind is FieldKind.AMOUNT:
            value = str(value.value if isinstance(value, Epsilon | Delta) else value)
        found[name] = list(value) if each.kind is FieldKind.TEXTS else value
    return found
