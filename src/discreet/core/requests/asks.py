"""`@asks(QueryFields)`: a method whose arguments are the fields of a request, which it gets as one value.

Names, defaults, places and help texts are the dataclass's: to callers, type checkers, `help()` and the reference.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from discreet.core.requests.request_fields import ordered

Fields = TypeVar("Fields")
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
