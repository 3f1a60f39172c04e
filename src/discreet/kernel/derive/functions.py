"""Scalar functions that an engine computes itself, one row each, with the rules that the kernel has for them.

Guarantee: what `applied` lists is total on every engine inside its rule, and no larger than the rule says
    (docs/notes/0056). The other fields are no part of it: a wrong one is a wrong answer, or a refusal, since
    the kernel reads the SQL that was made of them like anybody else's. To add a function is to add a row
    here, or in `plan/functions/` where no engine needs to know it by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.kernel.derive import texts
from discreet.kernel.derive.row import Applied, Constants, ScalarFunction, Whole, called
from discreet.kernel.derive.values import LONGEST_TEXT, Value, integer
from discreet.kernel.trees.nodes import Term, Unfit

LONGEST_COUNTED = 1_000
"""Free text counts as no longer than this: a length has a range, as every number does."""


def _absolute_ends(low: Any, high: Any) -> tuple[Any, Any]:
    most = max(abs(low), abs(high))
    return (most * 0 if low <= 0 <= high else min(abs(low), abs(high))), most


def _absolute(found: list[Value], _term: Term) -> Value:
    least, most = _absolute_ends(*found[0].bounded)
    if found[0].narrow or (not found[0].wide and most >= 2**31):
        raise Unfit("the size of a narrow number, which may not fit")
    return integer(least, most, wide=found[0].wide)


def _substring(value: str, start: Any, length: Any = None) -> str:
    first = int(start) - 1
    end = None if length is None else max(first + int(length), 0)
    return str(value)[max(first, 0) : end]


def _exchanged(value: str, old: str, new: str) -> str:
    if not old:
        return value
    if value.count(old) * len(new) > LONGEST_TEXT:
        raise ValueError("longer than any text")
    return value.replace(old, new)


def _exchanged_sql(value: str, given: Sequence[str], constants: Sequence[Any]) -> str:
    return called("REPLACE")(value, given, constants) if constants[0] else value


def _split_part(value: str, by: str, place: Any) -> str:
    parts = value.split(by) if by else [value]
    at = int(place) - 1 if int(place) > 0 else len(parts) + int(place)
    return parts[at] if 0 <= at < len(parts) else ""


@lru_cache(maxsize=4096)
def _matches(value: str, pattern: str) -> bool:
    return bool(pc.match_substring_regex(pa.array([value]), pattern)[0].as_py())


@lru_cache(maxsize=4096)
def _replaced(value: str, pattern: str, other: str, *every: str) -> str:
    most = None if "g" in every else 1
    found = pc.replace_substring_regex(pa.array([value]), pattern, other, max_replacements=most)
    return str(found[0].as_py())


SEALED: dict[str, ScalarFunction] = {
    "abs": ScalarFunction(
        written=("ABS(x)",),
        takes="number",
        gives="number",
        compute=abs,
        whole=Whole.AS_OPERAND,
        steps=True,
        sql=called("ABS"),
        reach=_absolute_ends,
        applied={"abs": Applied(_absolute, (1,))},
    ),
    "upper": ScalarFunction(
        written=("UPPER(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value).upper(),
        steps=True,
        sql=called("UPPER"),
        applied={"upper": Applied(texts.recased, (1,))},
    ),
    "lower": ScalarFunction(
        written=("LOWER(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value).lower(),
        steps=True,
        sql=called("LOWER"),
        applied={"lower": Applied(texts.recased, (1,))},
    ),
    "length": ScalarFunction(
        written=("LENGTH(s)", "STRLEN(s)"),
        takes="category",
        gives="number",
        compute=len,
        whole=Whole.ALWAYS,
        steps=True,
        sql=called("LENGTH"),
        between=(0, LONGEST_COUNTED),
        applied={"length": Applied(texts.length, (1,))},
    ),
    "left": ScalarFunction(
        written=("LEFT(s, 2)",),
        takes="category",
        gives="category",
        compute=lambda value, count: str(value)[: int(count)],
        constants=Constants(places=(1, 1)),
        steps=True,
        sql=lambda value, given, constants: called("SUBSTR")(value, ["1", *given], constants),
    ),
    "substring": ScalarFunction(
        written=("SUBSTRING(s, 2, 3)",),
        takes="category",
        gives="category",
        compute=_substring,
        constants=Constants(places=(1, 2)),
        steps=True,
        sql=called("SUBSTR"),
        # The second name is that of the other reader, as below.
        applied=dict.fromkeys(("substr", "substring"), Applied(texts.cut, (2, 3))),
    ),
    "trim": ScalarFunction(
        written=("TRIM(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value).strip(" "),
        steps=True,
        sql=called("TRIM"),
        applied={"trim": Applied(texts.joined, (1,))},
    ),
    "replace": ScalarFunction(
        written=("REPLACE(s, 'a', 'b')",),
        takes="category",
        gives="category",
        compute=lambda value, old, new: _exchanged(str(value), old, new),
        constants=Constants(texts=True),
        steps=True,
        sql=_exchanged_sql,
        applied={"replace": Applied(texts.replaced, (3,))},
    ),
    "split_part": ScalarFunction(
        written=("SPLIT_PART(s, ' ', 1)",),
        takes="category",
        gives="category",
        compute=lambda value, by, place: _split_part(str(value), str(by), place),
        constants=Constants(texts=True, places=(1, 1), from_one=True),
        steps=True,
        sql=called("SPLIT_PART"),
        applied=dict.fromkeys(("split_part", "splitpart"), Applied(texts.split, (3,))),
    ),
    "starts_with": ScalarFunction(
        written=("STARTS_WITH(s, 'a')",),
        takes="category",
        gives="boolean",
        compute=lambda value, part: str(value).startswith(str(part)),
        constants=Constants(texts=True),
        steps=True,
        sql=lambda value, given, constants: (
            f"(SUBSTR({value}, 1, {len(str(constants[0]))}) = {given[0]})"
        ),
    ),
    "matches": ScalarFunction(
        written=("REGEXP_MATCHES(s, '^a')",),
        takes="category",
        gives="boolean",
        compute=lambda value, pattern: _matches(str(value), pattern),
        steps=True,
        # Other engines search by backtracking: how long that takes would follow from single rows.
        sql={"duckdb": called("regexp_matches")},
        applied={"regexp_matches": Applied(texts.searched, (2,))},
    ),
    "replace_pattern": ScalarFunction(
        written=("REGEXP_REPLACE(s, 'a', 'b')",),
        takes="category",
        gives="category",
        compute=lambda value, *given: _replaced(str(value), *map(str, given)),
        steps=True,
        sql={"duckdb": called("regexp_replace")},
        applied={"regexp_replace": Applied(texts.rewritten, (3, 4))},
    ),
}
"""By the name that a call has in a plan."""
