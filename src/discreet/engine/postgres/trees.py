"""What a stored tree of PostgreSQL names: relations, functions, and the types that it converts.

A tree is the text in which PostgreSQL keeps the query of a view or the condition of a policy:
`{KIND :field value :field {KIND ...}}`. Blanks, braces and backslashes of names and texts are
escaped in it, so none of them is taken for a node or a field.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

_NODES = frozenset(
    {
        *("QUERY", "RANGETBLENTRY", "RTE", "RTEPERMISSIONINFO", "RANGETBLREF", "RANGETBLFUNCTION"),
        *("ALIAS", "FROMEXPR", "JOINEXPR", "TARGETENTRY", "SORTGROUPCLAUSE", "GROUPINGSET"),
        *("SETOPERATIONSTMT", "COMMONTABLEEXPR", "CTESEARCHCLAUSE", "CTECYCLECLAUSE"),
        *("WINDOWCLAUSE", "WINDOWFUNC", "AGGREF", "GROUPINGFUNC", "SUBLINK"),
        *("VAR", "CONST", "PARAM", "FUNCEXPR", "NAMEDARGEXPR", "OPEXPR", "DISTINCTEXPR"),
        *("NULLIFEXPR", "SCALARARRAYOPEXPR", "BOOLEXPR", "NULLTEST", "BOOLEANTEST"),
        *("CASE", "CASEEXPR", "WHEN", "CASEWHEN", "CASETESTEXPR", "COALESCE", "COALESCEEXPR"),
        *("MINMAX", "MINMAXEXPR", "ARRAY", "ARRAYEXPR", "SUBSCRIPTINGREF", "ROW", "ROWEXPR"),
        *("ROWCOMPARE", "ROWCOMPAREEXPR", "FIELDSELECT", "RELABELTYPE", "COLLATEEXPR"),
        *("COERCEVIAIO", "ARRAYCOERCEEXPR", "COERCETODOMAIN", "COERCETODOMAINVALUE"),
        *("SQLVALUEFUNCTION", "STRING"),
    }
)
"""The nodes that are known: each computes with its arguments and with the functions that it names."""
_CALLS = "XML functions, JSON functions or another expression that is not known to stay the same"
_CHOICES = {"TABLESAMPLECLAUSE": "TABLESAMPLE"}
_MARKS = re.compile(
    r"\\.|(?:(?<=[ (])|^)\{([A-Z_]*)|(\})|(?<=[ ]):(\w+) (\(\w )?(-?\d[\d ]*)?", re.DOTALL
)
_TYPES = re.compile(r"\w*[tT]ype(?:s|id|Id)?")
_FUNCTIONS = frozenset(
    {"funcid", "opfuncid", "aggfnoid", "winfnoid", "startInRangeFunc", "endInRangeFunc"}
)
_OPERATORS = frozenset({"opno", "opnos", "eqop", "sortop", "cycle_mark_neop"})
_ROLES = range(9, 13)
"""CURRENT_ROLE, CURRENT_USER, USER and SESSION_USER: roles can be renamed at any time."""
_ROWS = 4
_ARRAY_SUBLINK = 6
_SORTED_ONLY = frozenset({"sortClause", "orderClause"})
"""Where equal values stand side by side, and none of them is taken for the others."""
_WORDS = (
    (re.compile(r" :limit(Count|Offset) \{"), "LIMIT or OFFSET"),
    (re.compile(r" :hasDistinctOn true"), "DISTINCT ON"),
)
_SMALLEST_TYPE = 16


@dataclass(slots=True)
class TreeContent:
    """What trees name. `converted` are the types inside of conversions over text; each function and
    operator has those inside of its arguments. `chosen` are the operators by which values are equal of
    which one is taken for all, with the aggregate that does so (0: DISTINCT, GROUP BY and the like)."""

    relations: set[int] = field(default_factory=set)
    functions: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    operators: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    converted: set[int] = field(default_factory=set)
    chosen: set[tuple[int, int]] = field(default_factory=set)
    collations: set[int] = field(default_factory=set)
    moving: str | None = None

    def note(self, what: str | None) -> None:
        """Keep the first thing that moves."""
        self.moving = self.moving or what


@dataclass(slots=True)
class _Node:
    kind: str
    place: str = ""
    """The field of the node around it in which it stands."""
    slot: str = ""
    """The field that is being read."""
    functions: set[int] = field(default_factory=set)
    operators: set[int] = field(default_factory=set)
    types: set[int] = field(default_factory=set)


def read_tree(tree: str, named: TreeContent) -> None:
    """Take in what a stored tree names; a node that is not known counts as moving."""
    open_nodes: list[_Node] = []
    for start, ended, name, numbers in _marks(tree):
        if start is not None:
            open_nodes.append(_Node(start, open_nodes[-1].slot if open_nodes else ""))
            if start not in _NODES:
                named.note(_CHOICES.get(start, _CALLS))
        elif ended:
            _close(open_nodes, named)
        elif open_nodes:
            _field(open_nodes[-1], name, numbers, named)
    if open_nodes:
        named.note(_CALLS)
    for pattern, what in _WORDS:
        named.note(what if pattern.search(tree) else None)


def _marks(tree: str) -> Iterator[tuple[str | None, bool, str, list[int]]]:
    for found in _MARKS.finditer(tree):
        start, ended, name, _, numbers = found.groups()
        if start is not None or ended or name:
            yield start, bool(ended), name or "", [int(n) for n in (numbers or "").split()]


def _field(node: _Node, name: str, numbers: list[int], named: TreeContent) -> None:
    oids = {number for number in numbers if number > 0}
    node.slot = name
    if "coll" in name.lower():
        named.collations |= oids
    if name == "relid":
        named.relations |= oids
    elif name in _FUNCTIONS:
        node.functions |= oids
    elif name in _OPERATORS:
        node.operators |= oids
    elif name in {"varattno", "varattnosyn"} and any(number < 0 for number in numbers):
        named.note("a system column (xmin, xmax, ctid, tableoid ...)")
    elif name == "op" and node.kind == "SQLVALUEFUNCTION" and set(numbers) & set(_ROLES):
        named.note("the name of a role (CURRENT_USER)")
    elif name == "frameOptions" and any(number & _ROWS for number in numbers):
        named.note("a window of ROWS")
    elif name == "subLinkType" and _ARRAY_SUBLINK in numbers:
        named.note("an ARRAY of a subquery")  # in the order in which its rows happen to come
    elif _TYPES.fullmatch(name):
        # Small numbers are no types: kinds of joins and of tests have such fields, too.
        node.types |= {oid for oid in oids if oid >= _SMALLEST_TYPE}


def _close(open_nodes: list[_Node], named: TreeContent) -> None:
    if not open_nodes:
        named.note(_CALLS)
        return
    node = open_nodes.pop()
    for function in node.functions:
        named.functions[function] |= node.types
    for operator in node.operators:
        named.operators[operator] |= node.types
    if node.kind == "COERCEVIAIO":
        named.converted |= node.types
    if open_nodes:
        open_nodes[-1].types |= node.types
        if node.kind == "SORTGROUPCLAUSE" and node.place not in _SORTED_ONLY:
            around = open_nodes[-1]
            taking = around.functions if around.kind == "AGGREF" else {0}
            named.chosen |= {(one, equal) for one in taking for equal in node.operators}
