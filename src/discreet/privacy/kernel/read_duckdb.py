"""DuckDB's own tree of a statement (`json_serialize_sql`) to the kernel's.

Every key of every node is either read or must have the value that means "not used": what a later
DuckDB adds is refused until somebody has looked at it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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

_FOLDS = frozenset({"count", "count_star", "sum", "min", "max", "bool_and", "bool_or"})
_FOLDS |= {"sum_no_overflow"}
_PLACES = ("query_location", "query_location_length", "qualified_name")
_COMPARED = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
}
_OPERATORS = {
    "OPERATOR_NOT": "not",
    "OPERATOR_IS_NULL": "is null",
    "OPERATOR_IS_NOT_NULL": "is not null",
    "OPERATOR_COALESCE": "coalesce",
    "COMPARE_IN": "in",
    "COMPARE_NOT_IN": "not in",
}
_NO_ORDER = {"type": "ORDER_MODIFIER", "orders": []}


def read_duckdb(serialised: str) -> SelectNode:
    """Return the kernel's tree of one statement that DuckDB has parsed."""
    found = json.loads(serialised)
    if found.get("error") or len(found.get("statements", ())) != 1:
        raise Unfit("DuckDB does not read the final SQL as one statement")
    statement = _only(found["statements"][0], read=("node",), unused={"named_param_map": []})
    return _select(statement["node"])


def _only(
    node: Mapping[str, Any], *, read: tuple[str, ...], unused: Mapping[str, Any]
) -> Mapping[str, Any]:
    for key, value in node.items():
        if key in read or key in _PLACES:
            continue
        if key not in unused or value != unused[key]:
            raise Unfit(f"unexpected '{key}' in the final SQL")
    return node


def _select(node: Mapping[str, Any]) -> SelectNode:
    if node.get("type") != "SELECT_NODE":
        raise Unfit("only SELECT has a place in the final SQL")
    _only(
        node,
        read=(
            "type",
            "select_list",
            "from_table",
            "where_clause",
            "group_expressions",
            "group_sets",
        ),
        unused={
            "modifiers": [],
            "cte_map": {"map": []},
            "aggregate_handling": "STANDARD_HANDLING",
            "having": None,
            "sample": None,
            "qualify": None,
        },
    )
    group = node["group_expressions"]
    if node["group_sets"] not in ([], [list(range(len(group)))]):
        raise Unfit("GROUPING SETS in the final SQL")
    outputs = tuple((term["alias"], _term(term)) for term in node["select_list"])
    where = node["where_clause"]
    return SelectNode(
        outputs=outputs,
        source=_source(node["from_table"]),
        where=None if where is None else _term(where),
        group=by_place(tuple(map(_term, group)), outputs),
    )


def _source(node: Mapping[str, Any]) -> Source:
    match node["type"]:
        case "BASE_TABLE":
            _only(
                node,
                read=("type", "alias", "schema_name", "table_name"),
                unused={
                    "sample": None,
                    "column_name_alias": [],
                    "catalog_name": "",
                    "at_clause": None,
                },
            )
            path = (node["schema_name"], node["table_name"])
            return StoredScan(tuple(part for part in path if part), node["alias"])
        case "SUBQUERY":
            unused: dict[str, Any] = {"sample": None, "column_name_alias": []}
            _only(node, read=("type", "alias", "subquery"), unused=unused)
            inner = _only(node["subquery"], read=("node",), unused={"named_param_map": []})
            return Derived(_select(inner["node"]), node["alias"])
        case "JOIN":
            return _join(node)
        case _:
            raise Unfit(f"unexpected {node['type']} in FROM")


def _join(node: Mapping[str, Any]) -> Joined:
    _only(
        node,
        read=("type", "left", "right", "condition", "join_type"),
        unused={
            "alias": "",
            "sample": None,
            "ref_type": "REGULAR",
            "using_columns": [],
            "delim_flipped": False,
            "duplicate_eliminated_columns": [],
            "is_implicit": False,
            "ranking_expression": None,
            "nearest_count": 1,
            "nearest_order_type": "ASCENDING",
            "nearest_approx": False,
        },
    )
    if node["join_type"] not in {"INNER", "LEFT"} or node["condition"] is None:
        raise Unfit("a join of another kind")
    left = node["join_type"] == "LEFT"
    return Joined(_source(node["left"]), _source(node["right"]), _term(node["condition"]), left)


def _term(node: Mapping[str, Any]) -> Term:
    rule = _TERMS.get(node["class"])
    if rule is None:
        raise Unfit(f"unexpected {node['class']} in the final SQL")
    return rule(node)


def _column(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "column_names"), unused={})
    if len(node["column_names"]) != 2:
        raise Unfit("a column without its relation")
    return Name(*node["column_names"])


def _constant(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "literal"), unused={})
    literal = _only(node["literal"], read=("kind", "text"), unused={})
    kind, text = literal["kind"], literal["text"]
    match kind:
        case "INTEGER":
            return Constant(int(text))
        case "STRING":
            return Constant(text)
        case "NULL_LITERAL":
            return Constant(None)
        case "BOOLEAN":
            return Constant(text.lower() == "true")
        case "DECIMAL" | "FLOAT" | "NUMERIC":
            return Constant(text, "number")
        case _:
            raise Unfit(f"unexpected constant of kind {kind}")


def _function(node: Mapping[str, Any]) -> Term:
    _only(
        node,
        read=("class", "type", "alias", "function_name", "distinct", "arguments", "is_operator"),
        unused={
            "schema": "",
            "catalog": "",
            "filter": None,
            "order_bys": _NO_ORDER,
            "export_state": False,
        },
    )
    name, operands = node["function_name"].lower(), _arguments(node["arguments"])
    if name in _FOLDS:
        if len(operands) != (name != "count_star"):
            raise Unfit(f"{name} of {len(operands)} operands")
        name = "count" if name == "count_star" else name
        return Fold(name, operands[0] if operands else None, bool(node["distinct"]))
    if node["distinct"]:
        raise Unfit("DISTINCT in a function")
    if name == "/":
        # DuckDB divides whole numbers into fractions, which would round up later.
        return Apply("real /", operands)
    if name == "-" and len(operands) == 1:
        inner = operands[0]
        if isinstance(inner, Constant) and type(inner.value) is int:
            return Constant(-inner.value)
        return Apply("negate", operands)
    return Apply(name, operands)


def _arguments(nodes: list[Mapping[str, Any]]) -> tuple[Term, ...]:
    found = []
    for node in nodes:
        _only(node, read=("expression",), unused={"name": ""})
        found.append(_term(node["expression"]))
    return tuple(found)


def _cast(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "child", "try_cast", "type_expr"), unused={})
    kind, child = _type_name(node["type_expr"]), _term(node["child"])
    if kind == "date" and isinstance(child, Constant) and isinstance(child.value, str):
        return Constant(child.value, "date")
    name = "try_cast" if node["try_cast"] else "cast"
    if kind.startswith("enum("):
        # One operand for each value: a name that shows them all would hide where one ends.
        return Apply(f"{name} enum", (child, *map(_term, node["type_expr"]["children"])))
    return Apply(f"{name} {kind}", (child,))


def _collate(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "child", "collation"), unused={})
    return Apply("collate", (_term(node["child"]), Constant(node["collation"])))


def _type_name(node: Mapping[str, Any]) -> str:
    _only(
        node,
        read=("class", "type", "type_name", "children"),
        unused={"alias": "", "catalog": "", "schema": ""},
    )
    # VARCHAR's children may hold a collation: shown, so that it cannot hide.
    shown = [_term(child) for child in node["children"]]
    written = ", ".join(str(part.value) for part in shown if isinstance(part, Constant))
    if len(shown) != len([part for part in shown if isinstance(part, Constant)]):
        raise Unfit("a type of another kind")
    name = str(node["type_name"]).lower()
    return f"{name}({written})" if shown else name


def _case(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "case_checks", "else_expr"), unused={})
    operands: list[Term] = []
    for check in node["case_checks"]:
        _only(check, read=("when_expr", "then_expr"), unused={})
        operands += [_term(check["when_expr"]), _term(check["then_expr"])]
    other = node["else_expr"]
    operands.append(Constant(None) if other is None else _term(other))
    return Apply("case", tuple(operands))


def _compared(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "left", "right"), unused={})
    if node["type"] not in _COMPARED:
        raise Unfit(f"unexpected {node['type']}")
    return Apply(_COMPARED[node["type"]], (_term(node["left"]), _term(node["right"])))


def _between(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "input", "lower", "upper"), unused={})
    value = _term(node["input"])
    bounds = (("lower", ">="), ("upper", "<="))
    return Apply("and", tuple(Apply(sign, (value, _term(node[end]))) for end, sign in bounds))


def _conjunction(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "children"), unused={})
    name = {"CONJUNCTION_AND": "and", "CONJUNCTION_OR": "or"}[node["type"]]
    return Apply(name, tuple(map(_term, node["children"])))


def _operator(node: Mapping[str, Any]) -> Term:
    _only(node, read=("class", "type", "alias", "children"), unused={})
    if node["type"] not in _OPERATORS:
        raise Unfit(f"unexpected {node['type']}")
    return Apply(_OPERATORS[node["type"]], tuple(map(_term, node["children"])))


def _window(node: Mapping[str, Any]) -> Term:
    _only(
        node,
        read=(
            "class",
            "type",
            "alias",
            "function_name",
            "partitions",
            "orders",
            "arguments",
            "end",
        ),
        unused={
            "schema": "",
            "catalog": "",
            "start": "UNBOUNDED_PRECEDING",
            "start_expr": None,
            "end_expr": None,
            "offset_expr": None,
            "default_expr": None,
            "ignore_nulls": False,
            "filter_expr": None,
            "exclude_clause": "NO_OTHER",
            "distinct": False,
            "arg_orders": [],
            "has_ignore_nulls": False,
        },
    )
    order = []
    for each in node["orders"]:
        # Where NULL stands in an order does not make it less of one.
        _only(each, read=("type", "expression", "null_order"), unused={})
        if each["type"] not in {"ORDER_DEFAULT", "ASCENDING"}:
            raise Unfit("a window in descending order")
        order.append(_term(each["expression"]))
    operands = _arguments(node["arguments"])
    if len(operands) > 1 or node["end"] != "CURRENT_ROW_RANGE":
        raise Unfit("a window of another kind")
    partition = tuple(map(_term, node["partitions"]))
    operand = operands[0] if operands else None
    return Window(node["function_name"].lower(), operand, partition, tuple(order))


_TERMS = {
    "COLUMN_REF": _column,
    "CONSTANT": _constant,
    "FUNCTION": _function,
    "CAST": _cast,
    "COLLATE": _collate,
    "CASE": _case,
    "COMPARISON": _compared,
    "BETWEEN": _between,
    "CONJUNCTION": _conjunction,
    "OPERATOR": _operator,
    "WINDOW": _window,
}
