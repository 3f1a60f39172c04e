"""Strict JSON bodies of requests, made from the fields of base/requests; finite JSON answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr
from pydantic import create_model as new_model

from discreet.base.answer import Answer
from discreet.base.requests.fields import FieldKind, RequestField, request_fields
from discreet.errors import InvalidInput


class Body(BaseModel):
    """What a caller sends; a field that nobody knows is refused, not passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as the API sends it: `Answer.to_json()` without infinities."""
    return finite(answer.to_json())


def require_whole_letters(found: Any) -> None:
    """Refuse JSON with half a character (a lone surrogate) in a text or a name: none of our texts can hold it."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "A text of the body contains half a character (a lone surrogate)."
        ) from None


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; refuse a name that it has twice: readers differ in which one counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput("An object of the body has a name twice.", hint="Send each name once.")
    return found


def finite(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with null for what JSON cannot say: an interval without an end."""
    return {name: _finite(value) for name, value in said.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return finite(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value


Amount = StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=100)]

_TYPES: dict[FieldKind, Any] = {
    FieldKind.TEXT: StrictStr,
    FieldKind.AMOUNT: Amount,
    FieldKind.WHOLE: StrictInt,
    FieldKind.NUMBER: StrictFloat | StrictInt,
    FieldKind.FLAG: StrictBool,
}


class RequestBody(Body):
    """A body that knows which of its fields are those of the request."""

    def given(self, request: type) -> dict[str, Any]:
        """Return the fields of the request that came with the body."""
        fields = request_fields(request)
        found = {name: getattr(self, name) for name in fields if hasattr(self, name)}
        numbers = {
            name: float(value)
            for name, value in found.items()
            if fields[name].kind is FieldKind.NUMBER and value is not None
        }
        return found | numbers


def body_of(request: type, **changed: Any) -> Any:
    """Return a body with the fields of a request, those that are sent; `changed` are other facts of some.

    A change is a mapping of what differs here: another default, a lower limit.
    """
    shown = {}
    for name, each in request_fields(request).items():
        here = replace(each, **changed.get(name, {}))
        if here.sent:
            shown[name] = (_type(here), _field(here))
    return new_model(request.__name__, __base__=RequestBody, **shown)  # type: ignore[call-overload]  # by name


def _type(each: RequestField) -> Any:
    if each.kind is FieldKind.TEXTS:
        limits = Field(min_length=each.shortest, max_length=each.longest)
        found: Any = list[Annotated[StrictStr, limits]]
    else:
        found = _TYPES[each.kind]
    return found | None if each.default is None else found


def _field(each: RequestField) -> Any:
    said: dict[str, Any] = {"description": each.help}
    if each.kind is FieldKind.TEXTS:
        said |= {"max_length": each.many, "min_length": 1 if each.required else None}
    elif each.kind is FieldKind.TEXT:
        said |= {"min_length": each.shortest, "max_length": each.longest}
    elif each.kind in {FieldKind.WHOLE, FieldKind.NUMBER}:
        said |= {"ge": each.least, "gt": each.above, "le": each.most}
    if each.kind is FieldKind.TEXTS and each.default == ():
        return Field(default_factory=list, **said)
    return Field(each.default, **said)
