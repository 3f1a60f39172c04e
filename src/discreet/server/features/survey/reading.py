"""The body of a request to the collector, read up to a limit that bites before memory does."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request

from discreet.errors import InvalidInput, TooLarge
from discreet.server.plain_json import require_whole_letters
from discreet.survey.collect.batch import MOST, count_said

CBOR, JSON = "application/cbor", "application/json"
LARGEST_REPORT = 64 << 10
"""Bytes of a single report, whatever the survey; a sketch of 16,384 buckets has about 2,100."""
LARGEST_BATCH = 16 << 20
"""Bytes of a batch."""
DEEPEST = 3
"""A list of reports, each an object with a list."""
PIECE = 4 << 10
"""Bytes that cost an address as much as one report, whatever is in them."""
LONGEST_NUMBER = 500
"""Digits in a row: those of a report are at most 20, and to read 4,000 takes 4,000 times as long as to read 60, not 70 times."""
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(sign for sign in range(256) if sign not in b"[]{}")


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
    if b"0" * (LONGEST_NUMBER + 1) in body.translate(_DIGITS):
        raise InvalidInput("A number of the body is too long for a report.")
    try:
        # No report holds a fraction. A truth value stands for one, which is refused as well and costs less to make.
        found = json.loads(body.decode("utf-8-sig"), parse_float=bool)
    except (ValueError, RecursionError):
        raise InvalidInput("The body is not JSON.") from None
    require_whole_letters(found)
    return found


def batch_of(body: bytes, *, answers: int) -> Any:
    """Return what a batch says in JSON: refused by its commas and brackets before it is parsed.

    Guarantee: what is parsed has no more values than `MOST` donations to a survey of so many `answers`,
        inside of each other as theirs are, so that memory follows the survey and not the sender. Nothing
        here takes a step of Python for each byte or bracket.
    """
    commas, objects, lists = (body.count(sign) for sign in (b",", b"{", b"["))
    if objects > MOST or lists > MOST + 1 or commas > MOST * (answers + 4):
        raise InvalidInput(f"A batch is a list of at most {MOST:,} reports.")
    if body.count(b"}") + body.count(b"]") != objects + lists or not _is_flat(body):
        raise InvalidInput("A batch is a list of reports, which hold a list each.")
    return json_of(body)


def cost_of_bytes(body: bytes) -> int:
    """Return how many reports a body counts as for the rate of its address, whatever is in it."""
    return max(1, len(body) // PIECE)


def cost_of_one(_kind: str, body: bytes) -> int:
    """Return how many reports a single one counts as."""
    return cost_of_bytes(body)


def cost_of_many(kind: str, body: bytes) -> int:
    """Return how many reports a batch counts as: what it says of itself, and one for each `PIECE` of its bytes."""
    said = count_said(body) if kind == CBOR else body.count(b"{")
    return max(said, cost_of_bytes(body))


def _is_flat(body: bytes) -> bool:
    """Return whether brackets close in turn, at most `DEEPEST` inside of each other.

    Each replacement takes away whatever brackets hold no others.
    """
    brackets = body.translate(_ONE_KIND, _OTHERS)
    for _ in range(DEEPEST):
        brackets = brackets.replace(b"[]", b"")
    return not brackets


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 20} MB" if most >= 1 << 20 else f"{most >> 10} KB"
    return TooLarge(
        f"More than {size} at once are not taken.", hint="Send fewer reports at a time."
    )
