"""The limits of a request's fields, checked once: amounts become exact, numbers stay within what may be asked."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from numbers import Integral
from typing import Any

from discreet.core.requests.request_fields import FieldKind, RequestField, given, request_fields
from discreet.errors import InvalidInput


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
