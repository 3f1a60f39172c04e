"""How each scalar function is called, read off the calls that its row shows.

`LEFT(s, 2)` is parsed once: the node that the parser makes of it, the argument where the column stood and
those where constants stood are the signature, for the grammar and for the rules alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from discreet.plan.kinds import SCALARS


@dataclass(frozen=True, slots=True)
class CallSignature:
    """A function's name in a plan and for people, and where its operand and its constants stand."""

    function: str
    spelled: str
    operand: str
    constants: tuple[str, ...]

    @property
    def read(self) -> frozenset[str]:
        """Return the arguments of the node that are read."""
        return frozenset((self.operand, *self.constants))


def _signature(function: str, call: str, node: exp.Expr) -> CallSignature | None:
    given = {name: value for name, value in node.args.items() if isinstance(value, exp.Expr)}
    operands = [name for name, value in given.items() if isinstance(value, exp.Column)]
    if len(operands) != 1:
        return None
    constants = tuple(name for name in given if name != operands[0])
    return CallSignature(function, call.partition("(")[0], operands[0], constants)


_PARSED = [
    (function, call, sqlglot.parse_one(call, read="duckdb"))
    for function, row in SCALARS.items()
    for call in row.written
]

CALLS: dict[type[exp.Expr], CallSignature] = {
    type(node): found
    for function, call, node in _PARSED
    if (found := _signature(function, call, node)) is not None
}
"""By the parser's node. A node that has a rule of its own is read by that rule."""

NAMED: dict[str, tuple[str, int]] = {
    str(node.name).lower(): (function, len(node.expressions))
    for function, _call, node in _PARSED
    if isinstance(node, exp.Anonymous)
}
"""Functions that the parser does not know, by their names: the operand first, then constants."""

IN_STEPS = frozenset(type(node) for function, _call, node in _PARSED if SCALARS[function].steps)
NAMED_IN_STEPS = frozenset(name for name, (function, _) in NAMED.items() if SCALARS[function].steps)
"""What may stand in a step over results, where DuckDB computes it itself."""
