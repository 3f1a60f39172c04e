"""Views, rules and policies of PostgreSQL: what a relation stands on, to the bottom, and whether two reads find the same rows.

A tree is the text in which PostgreSQL keeps the query of a view or the condition of a policy:
`{KIND :field value :field {KIND ...}}`. Blanks, braces and backslashes of names and texts are
escaped in it, so none of them is taken for a node or a field. Read are the relations and functions
that it names, and the types that it converts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from discreet.data.engines.postgres.session import Connection
from discreet.errors import CatalogError

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


_STABLE = (
    "^(bpchar|date|interval|json|jsonb|text|time|timestamp|timestamptz|timetz|varchar)"
    "_?(in|out|recv|send)$"
    "|^(date|timestamp|timestamptz)_(add|subtract|part|trunc|cmp|eq|ge|gt|le|lt|ne|mi|pl)(_.*)?$"
    "|^(date|time|timestamp|timestamptz|timetz|interval_pl_timestamptz|make_timestamptz|timezone"
    "|extract|overlaps|in_range|generate_series|now|transaction_timestamp)$"
    "|^to_(char|date|timestamp|number|json|jsonb)$|^(array_to_json|array_to_string)$"
    "|^jsonb?_(build_array|build_object)$"
    "|^jsonb_path_(exists|match|query|query_array|query_first)_tz$"
    "|^(anytextcat|textanycat|concat|concat_ws|format|length|quote_literal|quote_nullable)$"
    "|^(convert|convert_from|convert_to)$|^(current_database|current_schema|current_schemas)$"
)
"""STABLE functions of PostgreSQL itself that give one value for one argument all through a
transaction: times and texts under the settings of our session. Not here: `statement_timestamp`,
which moves with every statement; `current_setting`, which a reload of the server's settings moves;
`table_to_xml` and `pg_*`, which read what they name; `enum_last` and `current_user`, as labels and
roles can be renamed at any time. Those that turn arguments of any type into text do so only for
types whose texts are always the same (`_CONVERTED`)."""
_IMMUTABLE_NOT = "^(ts_parse|ts_token_type|satisfies_hash_partition|pg_indexam_progress_phasename)$"
"""Functions that say IMMUTABLE and read what somebody may alter. Those that take or return a name of
the catalog (`regclass`, `regconfig`, ...) are refused by that: text search is configured."""
_CATALOG_NAMES = "^_?(reg[a-z]+|aclitem)$"
"""Types that are kept as a number and read as the name which the catalog has for it just now."""
_AGGREGATES = (
    "^(count|min|max|sum|avg|variance|var_pop|var_samp|stddev|stddev_pop|stddev_samp|bool_and"
    "|bool_or|every|bit_and|bit_or|bit_xor|regr_count|percentile_cont|percentile_disc|mode"
    "|rank|dense_rank|percent_rank|cume_dist|range_agg|range_intersect_agg)$"
)
"""Aggregates whose result does not depend on the order in which rows come."""
_IDENTICAL = (
    "'bool','char','int2','int4','int8','oid','money','date','time','timetz','timestamp','timestamptz',"
    "'uuid','text','varchar','name','bytea','bit','varbit','inet','cidr','macaddr','macaddr8','anyenum'"
)
"""Types of which equal values are identical. Not so numeric 5 and 5.0, float 0 and -0, an interval of
a day and of 24 hours, jsonb of such numbers, texts under collations that call different ones equal,
and what is made of them: which of them stands for all changes with the plan of a statement, and a
condition that PostgreSQL pushes below a DISTINCT chooses among them."""
_WINDOWS = "^(rank|dense_rank|percent_rank|cume_dist)$"
"""Window functions that treat rows of equal rank alike."""

_EQUAL_NOT_SAME = "values that can be equal without being the same (as 5 and 5.0)"

_RELATIONS = """
SELECT c.oid, c.relkind, c.relpersistence = 't', c.relrowsecurity, c.relhassubclass,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated = 'v')
FROM pg_class c WHERE c.oid = ANY(%s::oid[])
"""
_TREES = """
SELECT 'pg_rewrite'::regclass::oid, r.oid, r.ev_action::text FROM pg_rewrite r
WHERE r.ev_class = ANY(%s::oid[]) AND r.ev_type = '1'
"""
_GUARDS = """
SELECT 'pg_policy'::regclass::oid, oid, polqual::text FROM pg_policy WHERE polrelid = ANY(%s::oid[])
UNION ALL
SELECT 'pg_attrdef'::regclass::oid, f.oid, f.adbin::text
FROM pg_attrdef f JOIN pg_attribute a ON (a.attrelid, a.attnum) = (f.adrelid, f.adnum)
WHERE f.adrelid = ANY(%s::oid[]) AND a.attgenerated = 'v'
"""
# Who belongs to a role is asked anew for every statement; a role always belongs to itself.
_FOR_ROLES = """
SELECT EXISTS (SELECT FROM pg_policy p, unnest(p.polroles) AS r(role)
WHERE p.polrelid = ANY(%s::oid[]) AND r.role <> 0
  AND (p.polrelid <> %s OR r.role <> (SELECT oid FROM pg_roles WHERE rolname = current_user)))
"""
_CHILDREN = "SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY(%s::oid[])"
_DEPENDED = """
SELECT d.refclassid::regclass::text, d.refobjid
FROM unnest(%s::oid[], %s::oid[]) AS h(class, holder)
JOIN pg_depend d ON d.classid = h.class AND d.objid = h.holder
WHERE d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
"""
_BEHIND = "SELECT oid, oprcode::oid FROM pg_operator WHERE oid = ANY(%s::oid[])"
_CALLED = f"""
SELECT min(CASE
    WHEN p.oid < 16384 AND p.proname !~ '{_IMMUTABLE_NOT}' AND NOT EXISTS (
        SELECT FROM pg_type t WHERE t.oid = ANY(p.proargtypes::oid[] || p.prorettype)
        AND t.typname ~ '{_CATALOG_NAMES}' AND t.oid < 16384) AND (
        CASE p.prokind
        WHEN 'w' THEN p.proname ~ '{_WINDOWS}'
        WHEN 'a' THEN p.proname ~ '{_AGGREGATES}' AND (
            p.proname IN ('min', 'max') AND p.prorettype IN (SELECT t.oid FROM pg_type t
                WHERE t.oid < 16384 AND t.typname IN ({_IDENTICAL}))
            OR p.proname NOT IN ('min', 'max') AND (SELECT g.aggtranstype NOT IN (
                'real'::regtype, 'float8'::regtype, 'float8[]'::regtype)
                FROM pg_aggregate g WHERE g.aggfnoid = p.oid))
        ELSE p.provolatile = 'i' OR p.provolatile = 's' AND p.proname ~ '{_STABLE}'
        END) THEN NULL
    WHEN p.oid < 16384 AND p.proname IN ('min', 'max') AND p.prokind = 'a' THEN
        'the function ' || p.proname || '() over {_EQUAL_NOT_SAME}'
    WHEN p.oid < 16384 THEN 'the function ' || p.proname || '()'
    WHEN p.provolatile = 'i' AND p.prokind = 'f' AND EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
        AND d.deptype = 'e') THEN NULL
    ELSE 'a function that is not built into PostgreSQL'
    END)
FROM pg_proc p WHERE p.oid = ANY(%s::oid[])
"""
# Types that are turned into text, or out of it, by a cast (the function 0) or by a function that
# takes arguments of any type; with all that they are made of. The rows of a table are its type, too.
_CONVERTED = f"""
WITH RECURSIVE inside(oid) AS (
    SELECT u.type FROM unnest(%s::oid[], %s::oid[]) AS u(called, type)
    WHERE u.called = 0 OR EXISTS (
        SELECT FROM pg_proc p JOIN pg_type a ON a.oid = ANY(p.proargtypes)
        WHERE p.oid = u.called AND p.provolatile = 's' AND a.typtype = 'p' AND a.typname <> 'cstring')
    UNION
    SELECT x.oid FROM inside i JOIN pg_type t ON t.oid = i.oid, LATERAL (
        SELECT t.typelem WHERE t.typelem <> 0
        UNION ALL SELECT t.typbasetype WHERE t.typbasetype <> 0
        UNION ALL SELECT r.rngsubtype FROM pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
    ) AS x(oid)
)
SELECT min(CASE
    WHEN t.typtype = 'e' THEN 'a conversion between an enum and text'
    WHEN t.oid < 16384 AND t.typname ~ '{_CATALOG_NAMES}' THEN
        'a conversion between ' || ltrim(t.typname, '_') || ' and text'
    WHEN t.typtype = 'p' AND t.typname IN ('cstring', 'unknown') THEN NULL
    WHEN t.typtype IN ('b', 'd', 'r', 'm') THEN NULL
    ELSE 'a conversion of whole rows'
    END)
FROM inside i LEFT JOIN pg_type t ON t.oid = i.oid
"""
# The function 0 stands for the statement itself. A count of different values shows none of them;
# ranges of numbers merge into one with the ends of either.
_CHOSEN = f"""
WITH chosen AS (SELECT * FROM unnest(%s::oid[], %s::oid[]) AS u(taking, equal)),
called AS (SELECT p.proname AS name, u.type FROM unnest(%s::oid[], %s::oid[]) AS u(oid, type)
    JOIN pg_proc p ON p.oid = u.oid AND p.prokind = 'a')
SELECT CASE
    WHEN EXISTS (
        SELECT FROM chosen u
        LEFT JOIN pg_operator o ON o.oid = u.equal
        LEFT JOIN pg_type t ON t.oid = o.oprleft AND t.oid < 16384 AND t.typname IN ({_IDENTICAL})
        WHERE t.oid IS NULL AND NOT EXISTS (
            SELECT FROM pg_proc p WHERE p.oid = u.taking AND p.oid < 16384 AND p.proname = 'count')
    ) OR EXISTS (
        SELECT FROM pg_collation c WHERE c.oid = ANY(%s::oid[]) AND NOT c.collisdeterministic
        AND (EXISTS (SELECT FROM chosen)
            OR EXISTS (SELECT FROM called u WHERE u.name IN ('min', 'max')))
    ) THEN 'a DISTINCT, UNION, GROUP BY, PARTITION BY or ordered aggregate over {_EQUAL_NOT_SAME}'
    WHEN EXISTS (
        SELECT FROM called u JOIN pg_range r ON u.type IN (r.rngtypid, r.rngmultitypid)
        JOIN pg_type t ON t.oid = r.rngsubtype LEFT JOIN pg_collation c ON c.oid = r.rngcollation
        WHERE u.name ~ '^range_(intersect_)?agg$' AND (t.oid >= 16384
            OR t.typname NOT IN ({_IDENTICAL}) OR NOT c.collisdeterministic)
    ) THEN 'ranges merged over {_EQUAL_NOT_SAME}'
    END
"""
_KINDS = {"f": "a foreign table", "S": "a sequence"}
_BUILT_IN = 16384
"""Below it are the objects of PostgreSQL itself. Some rows of its catalogs are altered in place."""
# The transaction's state on the left, what is there now on the right.
_REWRITTEN = """
SELECT count(*) FROM pg_class WHERE oid = ANY(%s::oid[]) AND relfilenode <> 0
AND relfilenode IS DISTINCT FROM pg_relation_filenode(oid)
"""
_FOUND = "SELECT to_regclass(%s)::oid"
_LOCKED = """
SELECT ARRAY(SELECT l.relation FROM pg_locks l, LATERAL pg_identify_object('pg_class'::regclass, l.relation, 0) o
WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND NOT l.relation = ANY(%s::oid[])
  AND o.schema NOT IN ('pg_catalog', 'pg_toast', 'discreet_state')
  AND o.type NOT IN ('index', 'toast table'))
"""


@dataclass(frozen=True, slots=True)
class RelationStanding:
    """What one relation stands on: all relations below it, and what moves among them, if any."""

    oids: tuple[int, ...]
    moving: str | None


def standing_of(wire: Connection, name: str, place: str) -> RelationStanding:
    """Return what a relation stands on in the state that the open transaction sees.

    Guarantee: where `moving` is None, every statement of the transaction that reads the relation
        finds the same rows in it. What cannot be followed counts as moving: the body of a function
        that the database's users wrote (what it declares of itself is not believed), foreign rows,
        and whatever leaves a choice between rows to the plan of a statement.
    """
    found = wire.execute(_FOUND, [place]).fetchone()
    if found is None or found[0] is None:
        raise made_anew(name)
    walk = _Walk(wire)
    walk.follow(found[0])
    if found[0] not in walk.relations:
        raise made_anew(name)
    return RelationStanding(tuple(walk.relations), walk.moving)


class _Walk:
    """Follows a relation to the bottom, level by level, and finds the first thing that moves."""

    def __init__(self, wire: Connection) -> None:
        self.relations: set[int] = set()
        self._wire = wire
        self._guarding: set[int] = set()
        self._named = TreeContent()

    @property
    def moving(self) -> str | None:
        """Return what moves among all that was found, None if nothing does."""
        return self._named.moving

    def follow(self, start: int) -> None:
        """Follow from one relation."""
        level = {start}
        while level:
            level = self._level(level, start) - self.relations
        functions, operators = self._named.functions, self._named.operators
        if operators:
            found = self._wire.execute(_BEHIND, [list(operators)]).fetchall()
            for operator, function in found:
                functions[function] |= operators[operator]
        if functions:
            row = self._wire.execute(_CALLED, [list(functions)]).fetchone()
            self._note(row[0] if row else None)
        pairs = [(function, kind) for function, kinds in functions.items() for kind in kinds]
        self._note(self._chosen(pairs))
        pairs += [(0, kind) for kind in self._named.converted]
        if pairs:
            called, kinds = zip(*pairs, strict=True)
            row = self._wire.execute(_CONVERTED, [list(called), list(kinds)]).fetchone()
            self._note(row[0] if row else None)

    def _chosen(self, pairs: list[tuple[int, int]]) -> str | None:
        """Return where one of several equal values that differ is taken for all, if anywhere."""
        named = self._named
        sides = [[each[side] for each in of] for of in (named.chosen, pairs) for side in (0, 1)]
        found = self._wire.execute(_CHOSEN, [*sides, list(named.collations)]).fetchone()
        return found[0] if found else None

    def _note(self, what: str | None) -> None:
        self._named.note(what)

    def _level(self, level: set[int], start: int) -> set[int]:
        """Take in some relations and return those that they read."""
        rows = self._wire.execute(_RELATIONS, [list(level)]).fetchall()
        views, guarded, parents = list[int](), list[int](), list[int]()
        for oid, kind, temporary, secured, has_children, virtual in rows:
            self.relations.add(oid)
            self._note(self._told(oid, kind, temporary=temporary))
            if kind == "v":
                views.append(oid)
            if secured or virtual:
                guarded.append(oid)
            if has_children or kind == "p":
                parents.append(oid)
        below = set[int]()
        if views:
            below |= self._read_by(self._wire.execute(_TREES, [views]).fetchall())
        if guarded:
            read = self._read_by(self._wire.execute(_GUARDS, [guarded, guarded]).fetchall())
            self._guarding |= read
            below |= read
            found = self._wire.execute(_FOR_ROLES, [guarded, start]).fetchone()
            self._note("a policy for some roles" if found and found[0] else None)
        if parents:
            children = self._wire.execute(_CHILDREN, [parents]).fetchall()
            below.update(oid for (oid,) in children)
        return below

    def _told(self, oid: int, kind: str, *, temporary: bool) -> str | None:
        if temporary:
            return "a temporary table"
        if kind == "v" and oid in self._guarding:
            # It could be replaced between the state that is seen and our lock on it.
            return "a view in a row-level security policy"
        if kind not in "rpmv":
            return _KINDS.get(kind, "something that is no table")
        return "a catalog of PostgreSQL" if kind != "v" and oid < _BUILT_IN else None

    def _read_by(self, trees: list[tuple[int, int, str | None]]) -> set[int]:
        """Return the relations that stored trees read; keep all else that they name."""
        named = self._named
        for _, _, tree in trees:
            if tree is not None:
                read_tree(tree, named)
        # What PostgreSQL itself wrote down leaves out what is built in, and nothing else.
        holders = [[holder for holder, _, _ in trees], [oid for _, oid, _ in trees]]
        for kind, oid in self._wire.execute(_DEPENDED, holders).fetchall():
            if kind == "pg_class":
                named.relations.add(oid)
            else:
                (named.functions if kind == "pg_proc" else named.operators)[oid] |= set()
        below, named.relations = named.relations, set()
        return below


def rewritten(wire: Connection, standing: RelationStanding) -> bool:
    """Return whether something was emptied or made anew since the state that is seen."""
    found = wire.execute(_REWRITTEN, [list(standing.oids)]).fetchone()
    return found is None or found[0] != 0


def made_anew(name: str) -> CatalogError:
    """Return the refusal of a source that somebody replaces while it is opened."""
    return CatalogError(
        f"The source of table '{name}', or what it reads, is being emptied or made anew.",
        hint="Ask again.",
    )


def cannot_be_held(name: str, what: str) -> CatalogError:
    """Return the refusal to read a source live that two statements may find in two states."""
    return CatalogError(
        f"The source of table '{name}' reads {what}, whose rows cannot be held still: two parts of "
        "one query could see two states of them.",
        hint='Give the table snapshot = "copy" in discreet.toml, so that each query reads a stored '
        "copy, or declare a materialized view as its source.",
    )


def known_of(standings: Mapping[str, RelationStanding]) -> frozenset[int]:
    """Return all relations that some stand on."""
    return frozenset(oid for standing in standings.values() for oid in standing.oids)


def locked_beyond(wire: Connection, known: Collection[int]) -> list[int]:
    """Return the relations with rows that the open transaction has locked and that are not known.

    A lock tells of everything that a statement has read: of a partition, too, that was attached
    meanwhile, whose rows an older state shows.
    """
    found = wire.execute(_LOCKED, [list(known)]).fetchone()
    return [] if found is None else found[0]
