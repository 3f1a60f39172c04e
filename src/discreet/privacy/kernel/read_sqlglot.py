"""sqlglot's tree of a statement to the kernel's: for engines that do not show their own.

A node's arguments are all read, or the node is refused; flags that only say how something was
spelled are the sole exception, and they are listed here.
"""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp

from discreet.privacy.kernel.nodes import (
    Apply,
    Constant,
    Derived,
    Fold,
    Joined,
    Name,
    SelectNode,
    Source,
    StoredScan,
    Term,
    Unfit,
    Window,
    by_place,
)

_SPELLING = frozenset(
    {"big_int", "safe", "ignore_nulls", "quoted", "nested", "copy", "typed", "null_if_pos_overflow"}
)
_FOLDS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Min: "min",
    exp.Max: "max",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
}
_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.DPipe: "||",
}


def read_sqlglot(sql: str, dialect: str) -> SelectNode:
    """Return the kernel's tree of one statement in `dialect`.

    Engines end comments in ways of their own, and fold names that are not quoted: neither has a
    place in it.
    """
    try:
        tokens = sqlglot.tokenize(sql, read=dialect)
        if any(token.comments for token in tokens):
            raise Unfit("a comment in the final SQL")
        trees = sqlglot.Dialect.get_or_raise(dialect).parser().parse(tokens, sql)
    except sqlglot.errors.SqlglotError:
        raise Unfit("the final SQL is not SQL") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise Unfit("the final SQL is not one SELECT")
    for name in trees[0].find_all(exp.Identifier):
        if not name.args.get("quoted") and name.this != name.this.lower():
            raise Unfit("a name with capitals and without quotes")
    return _select(trees[0])


def _args(node: exp.Expr, *read: str) -> dict[str, Any]:
    """Return the arguments of a node, of which nothing but `read` may be filled."""
    for name, value in node.args.items():
        empty = value is None or value is False or value == []
        if name not in read and name not in _SPELLING and not empty:
            raise Unfit(f"unexpected '{name}' in the final SQL")
    return node.args


def _select(node: exp.Expr) -> SelectNode:
    if not isinstance(node, exp.Select):
        raise Unfit("only SELECT has a place in the final SQL")
    args = _args(node, "expressions", "from_", "joins", "where", "group")
    outputs = tuple(_output(each) for each in args["expressions"])
    if args.get("from_") is None:
        raise Unfit("a SELECT without FROM")
    source = _source(_args(args["from_"], "this")["this"])
    for join in args.get("joins") or ():
        source = _join(source, join)
    where, group = args.get("where"), args.get("group")
    grouped = _args(group, "expressions")["expressions"] if group is not None else ()
    return SelectNode(
        outputs=outputs,
        source=source,
        where=None if where is None else _term(_args(where, "this")["this"]),
        group=by_place(tuple(map(_term, grouped)), outputs),
    )


def _output(node: exp.Expr) -> tuple[str, Term]:
    if not isinstance(node, exp.Alias):
        raise Unfit("an output without a name")
    args = _args(node, "this", "alias")
    return str(args["alias"].this), _term(args["this"])


def _source(node: exp.Expr) -> Source:
    args = _args(node, "this", "db", "alias")
    alias = args.get("alias")
    if alias is None or not isinstance(node, exp.Table | exp.Subquery):
        raise Unfit("a relation without a name")
    name = str(_args(alias, "this")["this"].this)
    if isinstance(node, exp.Subquery):
        return Derived(_select(args["this"]), name)
    if not isinstance(args["this"], exp.Identifier):
        raise Unfit("a function in FROM")
    path = [part.this for part in (args.get("db"), args["this"]) if part is not None]
    return StoredScan(tuple(map(str, path)), name)


def _join(first: Source, node: exp.Join) -> Joined:
    args = _args(node, "this", "on", "side", "kind")
    side, kind = str(args.get("side") or "").upper(), str(args.get("kind") or "").upper()
    if side not in {"", "LEFT"} or kind not in {"", "INNER"} or args.get("on") is None:
        raise Unfit("a join of another kind")
    return Joined(first, _source(args["this"]), _term(args["on"]), side == "LEFT")


def _term(node: Any) -> Term:
    match node:
        case exp.Paren():
            return _term(_args(node, "this")["this"])
        case exp.Column():
            args = _args(node, "this", "table")
            if args.get("table") is None or not isinstance(args["this"], exp.Identifier):
                raise Unfit("a column without its relation")
            return Name(str(args["table"].this), str(args["this"].this))
        case exp.Literal() | exp.Null() | exp.Boolean() | exp.Neg():
            return _constant(node)
        case exp.Window():
            return _window(node)
        case exp.Cast() | exp.TryCast():
            return _cast(node)
        case exp.Case():
            return _case(node)
        case exp.Connector() | exp.Not() | exp.Is() | exp.In() | exp.Between() | exp.Coalesce():
            return _logic(node)
        case _:
            return _call(node)


def _constant(node: exp.Expr) -> Term:
    match node:
        case exp.Literal(is_string=True):
            return Constant(str(node.this))
        case exp.Literal():
            text = str(node.this)
            return Constant(int(text)) if text.isdigit() else Constant(text, "number")
        case exp.Null():
            return Constant(None)
        case exp.Boolean():
            return Constant(bool(node.this))
        case _:
            inner = _term(_args(node, "this")["this"])
            if isinstance(inner, Constant) and type(inner.value) is int:
                return Constant(-inner.value)
            return Apply("negate", (inner,))


def _window(node: exp.Window) -> Term:
    args = _args(node, "this", "partition_by", "order", "over")
    inner = args["this"]
    order = args.get("order")
    listed = _args(order, "expressions")["expressions"] if order is not None else ()
    # Where NULL stands in the order is the dialect's word for the same default.
    ordered = tuple(_term(_args(each, "this", "nulls_first")["this"]) for each in listed)
    partition = tuple(map(_term, args.get("partition_by") or ()))
    if isinstance(inner, exp.RowNumber):
        _args(inner)
        return Window("row_number", None, partition, ordered)
    if type(inner) not in _FOLDS:
        raise Unfit("a window of another kind")
    operand = _term(_args(inner, "this")["this"])
    return Window(_FOLDS[type(inner)], operand, partition, ordered)


def _cast(node: exp.Cast) -> Term:
    args = _args(node, "this", "to")
    kind = args["to"].sql(dialect="duckdb").lower()
    child = _term(args["this"])
    if kind == "date" and isinstance(child, Constant) and isinstance(child.value, str):
        return Constant(child.value, "date")
    # Spark's CAST is read as TRY_CAST: there the two are the same.
    return Apply(f"cast {kind}", (child,))


def _case(node: exp.Case) -> Term:
    args = _args(node, "ifs", "default")
    operands: list[Term] = []
    for each in args["ifs"]:
        branch = _args(each, "this", "true")
        operands += [_term(branch["this"]), _term(branch["true"])]
    other = args.get("default")
    return Apply("case", (*operands, Constant(None) if other is None else _term(other)))


def _logic(node: exp.Expr) -> Term:
    match node:
        case exp.And() | exp.Or():
            _args(node, "this", "expression")
            name = "and" if isinstance(node, exp.And) else "or"
            return Apply(name, tuple(_term(part) for part in node.flatten(unnest=False)))
        case exp.Not():
            inner = _term(_args(node, "this")["this"])
            negated = {"is null": "is not null", "in": "not in"}
            if isinstance(inner, Apply) and inner.name in negated:
                return Apply(negated[inner.name], inner.operands)
            return Apply("not", (inner,))
        case exp.Is():
            args = _args(node, "this", "expression", "negate")
            if not isinstance(args["expression"], exp.Null):
                raise Unfit("IS of another kind")
            name = "is not null" if args.get("negate") else "is null"
            return Apply(name, (_term(args["this"]),))
        case exp.In():
            args = _args(node, "this", "expressions")
            return Apply("in", (_term(args["this"]), *map(_term, args["expressions"])))
        case exp.Between():
            args = _args(node, "this", "low", "high")
            value = _term(args["this"])
            low = Apply(">=", (value, _term(args["low"])))
            return Apply("and", (low, Apply("<=", (value, _term(args["high"])))))
        case _:
            args = _args(node, "this", "expressions")
            return Apply("coalesce", (_term(args["this"]), *map(_term, args["expressions"])))


def _call(node: Any) -> Term:
    if not isinstance(node, exp.Func | exp.Binary | exp.Collate):
        raise Unfit(f"unexpected {type(node).__name__} in the final SQL")
    if type(node) in _FOLDS:
        return _fold(node)
    if isinstance(node, exp.AggFunc):
        raise Unfit(f"unexpected aggregate {type(node).__name__}")
    operands: list[Term] = []
    for name, value in node.args.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, exp.Identifier | exp.Var):
                operands.append(Constant(str(each.this)))
            elif isinstance(each, exp.Expr):
                operands.append(_term(each))
            elif name not in _SPELLING and each is not None and each is not False:
                if not (isinstance(each, str) and isinstance(node, exp.Anonymous)):
                    raise Unfit(f"unexpected '{name}' in the final SQL")
                operands.append(Constant(each.lower()))
    return _summed(Apply(_name(node), tuple(operands)))


_PART = 2**21 - 1


def _summed(term: Apply) -> Term:
    """Return a sum that was taken 21 bits at a time as the sum that it is, other terms as they are.

    Every x of 64 bits is (x >> 42) 2^42 + (x >> 21 & 2^21 - 1) 2^21 + (x & 2^21 - 1), each part has
    at most 22 bits, so that none leaves 64 bits over 2^42 rows, and one is NULL where all are.
    """
    match term:
        case Apply(
            "+", (_, Apply(_, (Fold("sum", Apply(_, (Apply("cast bigint", (x,)) as whole, _))),)))
        ):
            if term == _in_parts(whole):
                return Apply(
                    "cast decimal(38, 0)", (Fold("sum", Apply("cast decimal(19, 0)", (x,))),)
                )
    return term


def _in_parts(whole: Term) -> Term:
    high, middle = (Apply("bitwiserightshift", (whole, Constant(bits))) for bits in (42, 21))
    parts = (high, *(Apply("bitwiseand", (each, Constant(_PART))) for each in (middle, whole)))
    first, second, third = (Apply("cast decimal(38, 0)", (Fold("sum", each),)) for each in parts)
    large = Apply("*", (first, Constant(2**42)))
    return Apply("+", (Apply("+", (large, Apply("*", (second, Constant(2**21))))), third))


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Div) and not node.args.get("typed"):
        # Only some dialects stay whole where both operands are.
        return "real /"
    return _SIGNS.get(type(node), type(node).__name__.lower())


def _fold(node: exp.Expr) -> Term:
    inner = _args(node, "this")["this"]
    name = _FOLDS[type(node)]
    if isinstance(inner, exp.Star):
        _args(inner)
        if name != "count":
            raise Unfit("* in an aggregate")
        return Fold(name, None)
    if isinstance(inner, exp.Distinct):
        listed = _args(inner, "expressions")["expressions"]
        if len(listed) != 1:
            raise Unfit("DISTINCT of several columns")
        return Fold(name, _term(listed[0]), distinct=True)
    return Fold(name, _term(inner))
