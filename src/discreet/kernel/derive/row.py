"""The record of a scalar function: how people write it, what it means, and what an engine is asked.

The kernel reads `applied` of a row and nothing else: what it derives from the final SQL follows from that
SQL and these rules, whatever a planner has made of the other fields. Those are for the packages above, which
take a function's kinds, its constants, its value in Python, its SQL and its line in docs/sql.md from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from discreet.kernel.derive.values import Value
from discreet.kernel.trees.nodes import Term

Rule: TypeAlias = Callable[[list[Value], Term], Value]
"""What is known of a term, from what is known of its operands; `Unfit` where it might fail."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What final SQL may ask an engine under one name: the rule, and how many operands there may be."""

    rule: Rule
    operands: Sequence[int] = range(1, 10_000)


class Whole(Enum):
    """Whether the numbers that a function gives are whole ones."""

    UNKNOWN = "unknown"
    ALWAYS = "always"
    AS_OPERAND = "as its operand"


@dataclass(frozen=True, slots=True)
class Constants:
    """What may stand beside the operand: texts, then so many places of a text (least, most)."""

    texts: bool = False
    places: tuple[int, int] = (0, 0)
    from_one: bool = False


Spelling: TypeAlias = Callable[[str, Sequence[str], Sequence[Any]], str]
"""SQL of a call from the SQL of its operand, the SQL of its constants, and the constants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarFunction:
    """A total function of one operand and constants; all that the product knows of it.

    `written`: calls as people write them, the operand a column, the constants constants. What the parser
    makes of them is what it accepts; none where other rules make the call. `compute` is its value in
    Python, NULL for NULL, and NULL where it raises. `steps`: DuckDB's own function of the name is total
    too, so it may stand in a step over results. Without `sql` it is tabulated over declared values, and
    never computed by an engine; a mapping has the SQL of some engines only. Over numbers the SQL gets whole
    steps and gives whole steps, as far as `reach` says of the operand's ends, or whole numbers `between`
    two bounds, by which they are clamped. `applied`: what the kernel lists for it.
    """

    written: tuple[str, ...] = ()
    takes: str
    gives: str
    compute: Callable[..., Any]
    constants: Constants = field(default_factory=Constants)
    whole: Whole = Whole.UNKNOWN
    steps: bool = False
    sql: Spelling | Mapping[str, Spelling] | None = None
    between: tuple[int, int] | None = None
    reach: Callable[[Any, Any], tuple[Any, Any]] | None = None
    applied: Mapping[str, Applied] = field(default_factory=dict)


def called(name: str) -> Spelling:
    """Return the usual spelling: a name, and in brackets the operand and the constants."""
    return lambda value, given, _constants: f"{name}({', '.join([value, *given])})"
