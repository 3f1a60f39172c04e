"""Outputs and conditions of a SELECT, rewritten to read the keys and aggregates of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from discreet.sql.aggregates import is_aggregate
from discreet.sql.post_processing.group_keys import GroupKeys
from discreet.sql.refuse import refusal


class OverResults:
    """Rewrites outputs and conditions so that they read keys and aggregates by their columns."""

    def __init__(
        self,
        keys: GroupKeys,
        scalars: Mapping[exp.Subquery, exp.Query],
        commonest: Callable[[exp.Expr, exp.Expr | None], exp.Expr],
        mark: str,
    ) -> None:
        self.keys = keys
        self.mark = mark
        self.scalars = scalars
        self.commonest = commonest
        self.folds: list[exp.Expr] = []

    def step(self, node: exp.Select, names: tuple[str, ...]) -> exp.Select:
        """Return the SELECT over columns k0, k1, ... and a0, a1, ..."""
        outputs = zip(node.expressions, names, strict=True)
        shown = [self._changed(each.unalias()).as_(name, quoted=True) for each, name in outputs]
        found = exp.Select(expressions=shown)
        having = node.args.get("having")
        if having is not None:
            found.set("where", exp.Where(this=self._changed(having.this, aliases=True)))
        for clause in ("qualify", "order"):
            if node.args.get(clause) is not None:
                found.set(clause, self._changed(node.args[clause], aliases=True))
        for clause in ("distinct", "limit", "offset"):
            if node.args.get(clause) is not None:
                found.set(clause, node.args[clause].copy())
        return found

    def _changed(self, node: exp.Expr, *, aliases: bool = False) -> exp.Expr:
        if isinstance(node, exp.Subquery):
            return exp.Subquery(this=self.scalars[node])
        if isinstance(node, exp.Grouping):
            places = [self.keys.place(part) for part in node.expressions]
            if len(places) != 1 or places[0] is None:
                raise refusal("clause", what="GROUPING of anything but one key")
            return exp.column(f"g{places[0]}{self.mark}", table="t")
        if not isinstance(node, exp.Order | exp.Ordered | exp.Qualify):
            place = self.keys.place(node)
            if place is not None:
                return exp.column(f"k{place}{self.mark}", table="t")
        if _listed(node) is not None:
            return _as_list([self._fold(each) for each in _listed(node) or ()])
        bare = node.this if isinstance(node, exp.Filter) else node
        if isinstance(bare, exp.Mode):
            return self.commonest(bare.this, None if bare is node else node.expression.this)
        if _is_fold(node):
            return self._fold(node)
        if isinstance(node, exp.Column):
            return self._named(node, aliases=aliases)
        return self._inside(node, aliases=aliases)

    def _named(self, node: exp.Column, *, aliases: bool) -> exp.Expr:
        if not node.table:
            for output in self.keys.select.expressions:
                if isinstance(output, exp.Alias) and output.alias.lower() == node.name.lower():
                    if aliases and not output.this.find(exp.Window):
                        return self._changed(output.this)
                    if aliases or output.this != node:
                        return exp.column(output.alias, quoted=True)
        raise refusal("raw rows", what=node.name)

    def _inside(self, node: exp.Expr, *, aliases: bool) -> exp.Expr:
        found = node.copy()
        for name, value in node.args.items():
            if isinstance(value, exp.Expr):
                found.set(name, self._part(node, name, value, aliases=aliases))
            elif isinstance(value, list):
                parts = [
                    self._changed(each, aliases=aliases) if isinstance(each, exp.Expr) else each
                    for each in value
                ]
                found.set(name, parts)
        return found

    def _part(self, node: exp.Expr, name: str, value: exp.Expr, *, aliases: bool) -> exp.Expr:
        if isinstance(node, exp.Window) and name == "this":
            # The window's own function runs over results; what it is given are aggregates and keys.
            return self._inside_function(value)
        if isinstance(value, exp.Identifier | exp.DataType | exp.Var | exp.WindowSpec):
            return value.copy()
        return self._changed(value, aliases=aliases)

    def _inside_function(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            found = node.copy()
            found.set("this", self._inside_function(node.this))
            if node.args.get("expression") is not None:
                found.set("expression", self._changed(node.expression))
            return found
        return self._inside(node, aliases=False)

    def _fold(self, node: exp.Expr) -> exp.Expr:
        for i, known in enumerate(self.folds):
            if known == node:
                return exp.column(f"a{i}{self.mark}", table="t")
        self.folds.append(node.copy())
        return exp.column(f"a{len(self.folds) - 1}{self.mark}", table="t")


_QUANTILES = (exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc)


def _listed(node: exp.Expr) -> list[exp.Expr] | None:
    """Return one aggregate for each share of a list of quantiles."""
    if isinstance(node, exp.Filter):
        return _each_filtered(node)
    if not isinstance(node, _QUANTILES):
        return None
    for name, value in node.args.items():
        if isinstance(value, exp.Array):
            found: list[exp.Expr] = []
            for share in value.expressions:
                each = node.copy()
                each.set(name, share.copy())
                found.append(each)
            return found
    return None


def _each_filtered(node: exp.Filter) -> list[exp.Expr] | None:
    inner = _listed(node.this)
    if inner is None:
        return None
    return [exp.Filter(this=each, expression=node.expression.copy()) for each in inner]


def _as_list(parts: list[exp.Expr]) -> exp.Expr:
    return exp.cast(exp.Array(expressions=parts), "text", dialect="duckdb")


def _is_fold(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate of the private question itself."""
    if isinstance(node, exp.Filter | exp.WithinGroup):
        return is_aggregate(node.this)
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower() in {"var", "std", "stdev"}
    return isinstance(node, exp.AggFunc)
