"""Fields of requests: kind, help text and limits; `@schema` for the requests, `@asks` for methods that take them.

A field is as the outside world writes it. Options of commands (`cli/command.py`), bodies of the HTTP API
(`server/bodies.py`), settings of the PostgreSQL endpoint and what the client sends are made of these; nothing else
says them again. Where a field takes the names of a registry in a room above this one, front ends fill in that
registry's `choices()`.

Every paid request has a price, who pays, and the id under which it may be repeated. Each of these fields is written
with its default where it is used (`default=None`): type checkers read it there.

`checked` holds a request to the limits of its fields, once: amounts become exact, numbers stay within what may be
asked. `@schema` makes the frozen dataclass that a request is, with a constructor that type checkers know exactly.
`@asks(QueryFields)` makes a method whose arguments are the fields of a request, which it gets as one value. Names,
defaults, places and help texts are the dataclass's: to callers, type checkers, `help()` and the reference.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from enum import Enum
from functools import update_wrapper
from numbers import Integral
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, dataclass_transform

from discreet.base.display import Progress, silent
from discreet.base.numbers import Delta, Epsilon
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


LONGEST_NAME = 400
LONGEST_CONDITION = 10_000


def word(words: str, *, default: str, longest: int = 20) -> Any:
    """Return a field that takes one of a few words."""
    return asked(FieldKind.TEXT, words, default=default, longest=longest)


def column(words: str, **more: Any) -> Any:
    """Return a field that names a column, or a table; required unless a default is given."""
    return asked(FieldKind.TEXT, words, shortest=1, longest=LONGEST_NAME, **more)


def columns(words: str, *, default: tuple[()], many: int) -> Any:
    """Return a field that names columns."""
    return asked(
        FieldKind.TEXTS, words, default=default, shortest=1, longest=LONGEST_NAME, many=many
    )


def condition(words: str, *, default: None) -> Any:
    """Return a field that takes a condition on rows."""
    return asked(FieldKind.TEXT, words, default=default, longest=LONGEST_CONDITION)


def table(*, kw_only: bool) -> Any:
    """Return the table that is read."""
    return column("The table to read.", kw_only=kw_only)


def epsilon(**more: Any) -> Any:
    """Return the price; required unless a default is given."""
    return asked(FieldKind.AMOUNT, "How much budget to use.", reads=Epsilon.of, **more)


def delta(*, default: None) -> Any:
    """Return the delta of a price."""
    words = "The chance that the promise fails, such as 1e-9."
    return asked(FieldKind.AMOUNT, words, default=default, reads=Delta.of)


def analyst(*, default: None) -> Any:
    """Return who pays."""
    words = "The analyst who asks."
    return asked(FieldKind.TEXT, words, default=default, longest=200, option="--as", last=True)


def request_id(what: str, *, default: None) -> Any:
    """Return the id under which the same `what` is had again."""
    words = f"Ask again under the same id: same {what}, no charge."
    return asked(FieldKind.TEXT, words, default=default, shortest=1, longest=200, last=True)


def checked(request: Any, *, leave: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a request by name, checked but for those to `leave`.

    A request that is paid for has an id from here on: a new one, where none was given.
    """
    found = given(request)
    for name, each in request_fields(type(request)).items():
        if name not in leave:
            found[name] = checked_value(each, found[name])
    if "request_id" in found:
        found["request_id"] = found["request_id"] or uuid.uuid4().hex
    return found


def checked_value(each: RequestField, value: Any, *, name: str = "") -> Any:
    """Return what was given for a field as the rooms below take it, or refuse it; `name` is how it was written."""
    if value is None and not each.required:
        return None
    if each.reads is not None:
        return each.reads(value)
    if each.kind is FieldKind.WHOLE:
        return _whole(each, value, name or each.name)
    return value


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is, None if it is none or of more digits than any limit has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 20 else None


def _whole(each: RequestField, value: Any, name: str) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    least, most = each.least, each.most
    if whole and (least is None or value >= least) and (most is None or value <= most):
        return int(value)
    limits = "" if least is None else f" of at least {least:,}"
    if least is not None and most is not None:
        limits = f" from {least:,} to {most:,}"
    raise InvalidInput(f"{name} must be a whole number{limits}.")


Fields = TypeVar("Fields")


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(
        field,
        asked,
        beside,
        like,
        word,
        column,
        columns,
        condition,
        table,
        epsilon,
        delta,
        analyst,
        request_id,
    ),
)
def schema(fields: type[Fields]) -> type[Fields]:
    """Return the class as a frozen dataclass whose fields are given by name, unless one says otherwise."""
    return dataclass(frozen=True, kw_only=True)(fields)


@schema
class WithProgress:
    """A call that may take long; derive from it first, so that it stands last."""

    progress: Progress = beside("Told how far the work is: done, of, what.", default=silent)


Given = ParamSpec("Given")
Owner = TypeVar("Owner")
Result = TypeVar("Result")

Words: TypeAlias = Mapping[str, Mapping[str, Any]]
NO_WORDS: Words = MappingProxyType({})


def asks(
    schema: Callable[Given, Fields], words: Words = NO_WORDS
) -> Callable[[Callable[[Owner, Fields], Result]], Callable[Concatenate[Owner, Given], Result]]:
    """Return what makes a method of `self` and one request a method that takes its fields.

    `words` are the `choices()` of a registry: help texts of fields whose names that registry knows.
    """

    def around(
        method: Callable[[Owner, Fields], Result],
    ) -> Callable[Concatenate[Owner, Given], Result]:
        def call(self: Owner, /, *args: Given.args, **given: Given.kwargs) -> Result:
            return method(self, _filled(schema, args, given, of=method))

        _sign(call, method, schema, words, first=1)
        return call

    return around


def asks_function(
    schema: Callable[Given, Fields], words: Words = NO_WORDS
) -> Callable[[Callable[[Fields], Result]], Callable[Given, Result]]:
    """Return what makes a function of one request a function that takes its fields."""

    def around(function: Callable[[Fields], Result]) -> Callable[Given, Result]:
        def call(*args: Given.args, **given: Given.kwargs) -> Result:
            return function(_filled(schema, args, given, of=function))

        _sign(call, function, schema, words, first=0)
        return call

    return around


def _filled(
    schema: Callable[..., Fields],
    args: tuple[Any, ...],
    given: dict[str, Any],
    *,
    of: Callable[..., Any],
) -> Fields:
    """Return the request; who called with a wrong argument is told so of the method."""
    try:
        return schema(*args, **given)
    except TypeError:
        try:
            inspect.signature(schema).bind(*args, **given)
        except TypeError as wrong:
            raise TypeError(f"{of.__qualname__}() {wrong}") from None
        raise


def _sign(call: Any, method: Callable[..., Any], schema: Any, words: Words, *, first: int) -> None:
    """Give `call` the name of `method`, whose first parameters stand before the fields of the schema."""
    update_wrapper(call, method)
    own, given = inspect.signature(method), inspect.signature(schema).parameters
    by_place = [name for name, each in given.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    shown = [each for each in ordered(schema) if each.init]
    shown.sort(key=lambda each: [*by_place, each.name].index(each.name))
    before = [*own.parameters.values()][:first]
    parameters = [*before, *(given[each.name] for each in shown)]
    call.__signature__ = own.replace(parameters=parameters)
    call.__annotations__ = {
        each.name: each.annotation
        for each in parameters
        if each.annotation is not inspect.Parameter.empty
    } | {"return": own.return_annotation}
    if method.__doc__ is not None:
        said = "\n".join(
            f"- `{each.name}`: {words.get(each.name, {}).get('help') or _words(each.metadata)}"
            for each in shown
        )
        call.__doc__ = f"{inspect.cleandoc(method.__doc__)}\n\nArguments:\n\n{said}"


def _words(metadata: Mapping[str, Any]) -> str:
    """Return the help text of an argument; every one has one."""
    return str(metadata["asked"].help if "asked" in metadata else metadata["beside"])
