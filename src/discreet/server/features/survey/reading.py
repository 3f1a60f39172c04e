"""The body of a request to the collector, read up to a limit that bites before memory does."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import Request

from discreet.errors import InvalidInput, TooLarge
from discreet.server.plain_json import require_whole_letters
from discreet.survey.collect.batch import MOST

CBOR, JSON = "application/cbor", "application/json"
LARGEST_REPORT = 64 << 10
"""Bytes of a single report, whatever the survey; a sketch of 16,384 buckets has about 2,100."""
LARGEST_BATCH = 16 << 20
"""Bytes of a batch."""
DEEPEST = 3
"""A list of reports, each an object with a list."""
_BRACKET = re.compile(rb"[\[\]{}]")


async def body_of(request: Request, most: int) -> bytes:
    """Return the body, or stop reading at `most` bytes."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared[:20]) > most:
        raise _too_large(most)
    parts, seen = [], 0
    async for part in request.stream():
        seen += len(part)
        if seen > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def kind_of(request: Request) -> str:
    """Return CBOR or JSON; a form or plain text, which other sites could send, is neither."""
    named = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if named not in (CBOR, JSON):
        raise InvalidInput(f"Reports are sent as {CBOR} or as {JSON}.")
    return named


def json_of(body: bytes) -> Any:
    """Return what a body says in JSON, or refuse it with a sentence."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("The body is not JSON.") from None
    require_whole_letters(found)
    return found


def batch_of(body: bytes, *, answers: int) -> Any:
    """Return what a batch says in JSON: refused by its commas and brackets before it is parsed.

    Guarantee: what is parsed has no more values than `MOST` donations to a survey of so many `answers`,
        inside of each other as theirs are, so that memory follows the survey and not the sender.
    """
    commas, objects, lists = (body.count(sign) for sign in (b",", b"{", b"["))
    if objects > MOST or lists > MOST + 1 or commas > MOST * (answers + 4):
        raise InvalidInput(f"A batch is a list of at most {MOST:,} reports.")
    depth = 0
    for bracket in _BRACKET.finditer(body):
        depth += 1 if bracket.group() in b"[{" else -1
        if depth > DEEPEST:
            raise InvalidInput("A batch is a list of reports, which hold a list each.")
    return json_of(body)


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 20} MB" if most >= 1 << 20 else f"{most >> 10} KB"
    return TooLarge(
        f"More than {size} at once are not taken.", hint="Send fewer reports at a time."
    )
