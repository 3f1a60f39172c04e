"""Which clauses and functions of a step show all that they are given, so that noise selects nothing in them.

A closed list: everything that is not on it counts as selecting by noisy values. MAX shows the cell with the most
noise, and so do ARG_MAX, LAG in a noisy order, or a division that is NULL in the other rows.
[docs/notes/0122-what-does-not-select.md, docs/notes/0125-places-among-rows-and-columns-that-share-an-error.md]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

Noisy = Callable[[Any], bool]
"""Whether a part of an expression reads anything that carries noise."""

_SHOWN_WHOLE = ("expressions", "from_", "order")
_PUT_TOGETHER = ("this", "expression", "order")
_WIDE = (exp.DType.DOUBLE, exp.DType.TEXT, exp.DType.VARCHAR)
_ROW_NUMBERS = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank),
    *(exp.PercentRank, exp.CumeDist, exp.Ntile),
)
_TOTALS = (exp.Sum, exp.Avg, exp.Count)
_BY_PEERS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
_OF_A_SET = (
    *(*_TOTALS, exp.CountIf, exp.Min, exp.Max, exp.Median, exp.Quantile),
    *(exp.PercentileCont, exp.PercentileDisc, exp.Variance, exp.VariancePop),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Corr, exp.CovarPop, exp.CovarSamp),
    *(exp.RegrSlope, exp.RegrIntercept, exp.RegrR2),
)
_AROUND = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)


def selects(node: exp.Expr) -> bool:
    """Return whether a query may show some rows of its sources, or combinations of them, and not others."""
    for part in node.find_all(exp.Select, exp.SetOperation):
        if not isinstance(part, exp.Select | exp.Union):
            return True
        kept = _SHOWN_WHOLE if isinstance(part, exp.Select) else _PUT_TOGETHER
        if any(value for clause, value in part.args.items() if clause not in kept):
            return True
    return False


def follows_rows(node: exp.Expr) -> bool:
    """Return whether a window or total may depend on which of several rows comes first in what it reads.

    Guarantee: everything else has one value whatever the order of those rows is, but for the rounding of doubles.
        A window's own ORDER BY leaves rows that are equal in it in the order in which they come.
    """
    if not isinstance(node, exp.Window):
        return isinstance(node, exp.AggFunc) and not isinstance(node, _OF_A_SET)
    function = node.this
    while isinstance(function, _AROUND):
        function = function.this
    if isinstance(function, _BY_PEERS):
        return False
    frame = node.args.get("spec")
    counted = frame is not None and str(frame.args.get("kind")).upper() not in {"RANGE", "GROUPS"}
    return counted or not isinstance(function, _OF_A_SET)


def tells_apart(node: exp.Expr) -> list[exp.Expr]:
    """Return the values by which a window or total takes rows apart or in order: those equal in all come as they are."""
    if isinstance(node, exp.ArgMax | exp.ArgMin):
        return [node.expression]
    order = node.args.get("order") if isinstance(node, exp.Window) else None
    ordered = [each.this for each in order.expressions] if order is not None else []
    return [*(node.args.get("partition_by") or ()), *ordered]


def passes(node: exp.Expr, noisy: Noisy) -> bool:
    """Return whether a function shows all of the noisy values that it is given, whatever they are.

    Guarantee: such a function has a value in each row in which its arguments have one, and that value does not
        show one of several cells because of what they are.
    """
    rule = PASSING.get(type(node))
    return rule is not None and rule[1](node, noisy)


def _always(_node: Any, _noisy: Noisy) -> bool:
    return True


def _one_noisy(node: Any, noisy: Noisy) -> bool:
    return not (noisy(node.this) and noisy(node.expression))


def _by_what_is_known(node: Any, noisy: Noisy) -> bool:
    return not noisy(node.expression)


def _if_known(node: Any, noisy: Noisy) -> bool:
    return not noisy(node.this)


def _rounded(node: Any, noisy: Noisy) -> bool:
    return not any(noisy(value) for name, value in node.args.items() if name != "this")


def _wide_type(node: Any, _noisy: Noisy) -> bool:
    return bool(node.to.this in _WIDE)


def _by_keys(node: Any, noisy: Noisy) -> bool:
    if isinstance(node.this, _ROW_NUMBERS):
        return True
    order = [node.args["order"]] if node.args.get("order") else []
    by = [*(node.args.get("partition_by") or ()), *order]
    framed = node.args.get("spec") is not None
    return isinstance(node.this, _TOTALS) and not framed and not any(noisy(each) for each in by)


PASSING: dict[type[exp.Expr], tuple[str, Callable[[Any, Noisy], bool]]] = {
    exp.Paren: ("changes nothing", _always),
    exp.Add: ("NULL where an argument is, else a number", _always),
    exp.Sub: ("NULL where an argument is, else a number", _always),
    exp.Neg: ("NULL where its argument is, else a number", _always),
    exp.Mul: ("by what is known; a product of two noisy values overflows", _one_noisy),
    exp.Div: ("by what is known; NULL where a noisy divisor is 0", _by_what_is_known),
    exp.Cast: ("to a type that holds every number and text", _wide_type),
    exp.Round: ("one value to one value", _rounded),
    exp.Floor: ("one value to one value", _rounded),
    exp.Ceil: ("one value to one value", _rounded),
    exp.Array: ("shows all that is in it", _always),
    exp.Sum: ("is made of all rows", _always),
    exp.Avg: ("is made of all rows", _always),
    exp.Count: ("is made of all rows", _always),
    exp.Filter: ("where the condition is on keys", _by_what_is_known),
    exp.Where: ("the condition of FILTER", _always),
    exp.Case: ("where the conditions are on keys", _if_known),
    exp.If: ("where the condition is on keys", _if_known),
    exp.RowNumber: ("a number for each row, and no cell of it", _always),
    exp.Rank: ("a number for each row, and no cell of it", _always),
    exp.DenseRank: ("a number for each row, and no cell of it", _always),
    exp.PercentRank: ("a number for each row, and no cell of it", _always),
    exp.CumeDist: ("a number for each row, and no cell of it", _always),
    exp.Ntile: ("a number for each row, and no cell of it", _always),
    exp.Window: ("numbers of rows; sums, means and counts by keys", _by_keys),
    exp.Order: ("the window that it orders has the rule", _always),
    exp.Ordered: ("the window that it orders has the rule", _always),
}
"""What shows all that it is given: why, and under which condition. Everything else counts as selecting."""
