"""The rows of our own pg_catalog and information_schema, made from what the caller may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.server.pgwire.catalog.locked import Filled
from discreet.server.pgwire.catalog.tables import (
    INFORMATION_SCHEMA,
    PG_CATALOG,
    VisibleTable,
    columns_of,
)
from discreet.server.pgwire.options import DEFAULTS
from discreet.server.pgwire.types import ALL, TEXT, PgType, WireColumn

DATABASE = "discreet"
OWNER, DATABASE_OID, HEAP, TABLESPACE = 10, 16000, 2, 1663
SYSTEM_SCHEMAS = {"pg_catalog": 11, "information_schema": 13000}
SYSTEM_TABLES = {
    "pg_class": 1259, "pg_type": 1247, "pg_namespace": 2615, "pg_proc": 1255,
    "pg_constraint": 2606, "pg_database": 1262, "pg_trigger": 2620, "pg_attrdef": 2604,
    "pg_authid": 1260, "pg_tablespace": 1213, "pg_language": 2612, "pg_extension": 3079,
}  # fmt: skip
CLASS_OID = SYSTEM_TABLES["pg_class"]
_FIRST_SCHEMA, _FIRST_TABLE = 16384, 20000
FIRST_VIEW = 500_000
"""From here on numbers are those of a session's own views."""
_SPELLED = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "varchar": "character varying",
    "bpchar": "character",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "char": '"char"',
}
_CATEGORIES = {16: "B", 25: "S", 1043: "S", 1042: "S", 19: "S", 18: "Z", 1082: "D", 1114: "D"}


def spelled(kind: PgType) -> str:
    """Return a type as format_type shows it."""
    if kind.element:
        return f"{spelled(ALL[kind.element])}[]"
    return _SPELLED.get(kind.name, kind.name)


def prefixed(name: str) -> str:
    """Return the name under which a catalog table is kept, apart from DuckDB's own."""
    return f"catalog {name}"


def schemas_of(tables: tuple[VisibleTable, ...]) -> dict[str, int]:
    """Return the schemas of the caller's tables with their numbers."""
    names = dict.fromkeys(seen.schema for seen in tables)
    return {name: _FIRST_SCHEMA + place for place, name in enumerate(names)}


def search_path(tables: tuple[VisibleTable, ...]) -> list[str]:
    """Return the schemas in which a bare table name is looked for."""
    return [name for name in schemas_of(tables) if name != "preview"]


@dataclass(frozen=True, slots=True)
class CatalogNames:
    """Numbers and names of everything in a catalog, for functions that turn one into the other."""

    tables: dict[int, str] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    schemas: dict[int, str] = field(default_factory=dict)
    roles: dict[int, str] = field(default_factory=dict)
    words: dict[tuple[int, int], str] = field(default_factory=dict)
    visible: tuple[int, ...] = ()


def names_of(tables: tuple[VisibleTable, ...], user: str) -> CatalogNames:
    """Return the names in the catalog of these tables."""
    numbered = [(_FIRST_TABLE + place, seen) for place, seen in enumerate(tables)]
    path = search_path(tables)
    visible: dict[str, int] = {}
    for oid, seen in numbered:
        if seen.schema in path:
            visible.setdefault(seen.name, oid)
    written = {f"{seen.schema}.{seen.name}": oid for oid, seen in numbered} | visible
    schemas = {**SYSTEM_SCHEMAS, **schemas_of(tables)}
    return CatalogNames(
        tables={
            oid: seen.name if oid in visible.values() else f"{seen.schema}.{seen.name}"
            for oid, seen in numbered
        },
        written=written,
        schemas={oid: name for name, oid in schemas.items()},
        roles={oid: name for name, oid in _roles(user).items()},
        words={
            (row["objoid"], row["objsubid"]): row["description"]
            for oid, seen in numbered
            for row in _words(oid, seen)
        },
        visible=tuple(visible.values()),
    )


def _roles(user: str) -> dict[str, int]:
    return {"owner": OWNER, user: OWNER if user == "owner" else 16100}


def catalog_tables(tables: tuple[VisibleTable, ...], user: str) -> list[Filled]:
    """Return all catalog tables, filled; what nobody has here is empty."""
    rows = _Rows(tables, user).all()
    found = []
    for prefix, listed in (("", PG_CATALOG), ("information_schema.", INFORMATION_SCHEMA)):
        for name, written in listed.items():
            columns, cells = _cells(name, written, rows.get(prefix + name, []))
            sql = ", ".join(f'"{column}" {kind}' for column, kind in columns)
            found.append(Filled(prefixed(prefix + name), sql, cells))
    return found


def _cells(
    name: str, written: str, rows: list[dict[str, Any]]
) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    columns = columns_of(written)
    same = {"tableoid": SYSTEM_TABLES.get(name, 0)}
    if columns[0][0] == "oid":
        columns.append(("tableoid", "UINTEGER"))  # which PostgreSQL's tables have unseen
    return columns, [
        tuple((row | same).get(column, _blank(column, kind)) for column, kind in columns)
        for row in rows
    ]


def view_rows(
    views: Sequence[tuple[str, Sequence[WireColumn]]],
) -> dict[str, tuple[list[tuple[str, str]], list[tuple[Any, ...]]]]:
    """Return columns and rows of the catalog tables in which a session's own views are found."""
    relations, attributes = [], []
    for place, (name, columns) in enumerate(views):
        oid = FIRST_VIEW + place
        relation = _relation(oid, name, _FIRST_SCHEMA, len(columns))
        relations.append(relation | {"relkind": "v", "relpersistence": "t", "relam": 0})
        attributes += _attributes(oid, [(column.name, column.type) for column in columns])
    return {
        "pg_class": _cells("pg_class", PG_CATALOG["pg_class"], relations),
        "pg_attribute": _cells("pg_attribute", PG_CATALOG["pg_attribute"], attributes),
    }


def _blank(column: str, kind: str) -> Any:
    """Return what a column holds where nothing special is said."""
    if column.endswith(("acl", "options")) or kind.endswith("[]"):
        return None
    return {"bool": False, "UINTEGER": 0, "int": 0, "smallint": 0, "real": 0.0}.get(kind)


class _Rows:
    """Makes the rows, one method for a group of tables that belong together."""

    def __init__(self, tables: tuple[VisibleTable, ...], user: str) -> None:
        self.user = user
        self.schemas = schemas_of(tables)
        self.tables = [(_FIRST_TABLE + place, seen) for place, seen in enumerate(tables)]

    def all(self) -> Mapping[str, list[dict[str, Any]]]:
        return {
            **self._places(),
            **self._people(),
            "pg_class": [
                _relation(oid, seen.name, self.schemas[seen.schema], len(seen.columns))
                for oid, seen in self.tables
            ],
            "pg_attribute": [
                row
                for oid, seen in self.tables
                for row in _attributes(oid, [(column.name, kind) for column, kind in seen.columns])
            ],
            "pg_type": [_type(kind) for kind in ALL.values()],
            "pg_description": [row for oid, seen in self.tables for row in _words(oid, seen)],
            "pg_tables": [
                {"schemaname": seen.schema, "tablename": seen.name, "tableowner": "owner"}
                for _, seen in self.tables
            ],
            "pg_settings": [
                {"name": name, "setting": value, "context": "user", "vartype": "string"}
                for name, value in DEFAULTS.items()
            ],
            "information_schema.tables": [
                self._place(seen) | {"table_type": "BASE TABLE", "is_insertable_into": "NO"}
                for _, seen in self.tables
            ],
            "information_schema.columns": [
                row for _, seen in self.tables for row in self._columns(seen)
            ],
            "information_schema.table_privileges": [
                self._place(seen) | {"grantee": self.user, "privilege_type": "SELECT"}
                for _, seen in self.tables
            ],
        }

    def _places(self) -> dict[str, list[dict[str, Any]]]:
        schemas = {**SYSTEM_SCHEMAS, **self.schemas}
        return {
            "pg_namespace": [
                {"oid": oid, "nspname": name, "nspowner": OWNER} for name, oid in schemas.items()
            ],
            "pg_database": [
                {
                    "oid": DATABASE_OID, "datname": DATABASE, "datdba": OWNER, "encoding": 6,
                    "datlocprovider": "c", "datallowconn": True, "datconnlimit": -1,
                    "dattablespace": TABLESPACE, "datcollate": "C", "datctype": "C",
                }
            ],
            "pg_am": [{"oid": HEAP, "amname": "heap", "amtype": "t"}],
            "pg_tablespace": [{"oid": TABLESPACE, "spcname": "pg_default", "spcowner": OWNER}],
            "information_schema.schemata": [
                {"catalog_name": DATABASE, "schema_name": name, "schema_owner": "owner"}
                for name in schemas
            ],
        }  # fmt: skip

    def _people(self) -> dict[str, list[dict[str, Any]]]:
        names = _roles(self.user)
        return {
            "pg_roles": [
                {"rolname": name, "oid": oid, "rolinherit": True, "rolcanlogin": True,
                 "rolconnlimit": -1}
                for name, oid in names.items()
            ],
            "pg_user": [{"usename": name, "usesysid": oid} for name, oid in names.items()],
            "information_schema.enabled_roles": [{"role_name": self.user}],
        }  # fmt: skip

    def _place(self, seen: VisibleTable) -> dict[str, Any]:
        return {
            "table_catalog": DATABASE, "table_schema": seen.schema, "table_name": seen.name,
        }  # fmt: skip

    def _columns(self, seen: VisibleTable) -> list[dict[str, Any]]:
        return [
            self._place(seen)
            | {
                "column_name": column.name,
                "ordinal_position": place + 1,
                "is_nullable": "YES",
                "data_type": spelled(kind),
                "udt_catalog": DATABASE,
                "udt_schema": "pg_catalog",
                "udt_name": kind.name,
                "is_identity": "NO",
                "is_generated": "NEVER",
                "is_updatable": "NO",
                "character_maximum_length": None,
                "character_octet_length": None,
                "numeric_precision": None,
                "numeric_precision_radix": None,
                "numeric_scale": None,
                "datetime_precision": None,
                "interval_precision": None,
            }
            for place, (column, kind) in enumerate(seen.columns)
        ]


def _relation(oid: int, name: str, schema: int, columns: int) -> dict[str, Any]:
    return {
        "oid": oid,
        "relname": name,
        "relnamespace": schema,
        "relowner": OWNER,
        "relam": HEAP,
        # How many rows there are is private; -1 is PostgreSQL's own word for "not known".
        "reltuples": -1.0,
        "relpersistence": "p",
        "relkind": "r",
        "relnatts": columns,
        "relispopulated": True,
        "relreplident": "d",
    }


def _attributes(oid: int, columns: Sequence[tuple[str, PgType]]) -> list[dict[str, Any]]:
    return [
        {
            "attrelid": oid,
            "attname": name,
            "atttypid": kind.oid,
            "attstattarget": -1,
            "attlen": kind.size,
            "attnum": place + 1,
            "attcacheoff": -1,
            "atttypmod": -1,
            "attalign": "i",
            "attstorage": "x" if kind is TEXT else "p",
            "attcompression": "",
            "attidentity": "",
            "attgenerated": "",
            "attislocal": True,
        }
        for place, (name, kind) in enumerate(columns)
    ]


def _words(oid: int, seen: VisibleTable) -> list[dict[str, Any]]:
    said = [(0, seen.words)]
    for place, (column, _) in enumerate(seen.columns):
        # A domain that was only read from the data is not public before the owner says so.
        words = column.domain.words() if column.reviewed else "waits for the owner's review"
        said.append((place + 1, words))
    return [
        {"objoid": oid, "classoid": CLASS_OID, "objsubid": place, "description": words}
        for place, words in said
    ]


_UNDERSCORED = {"date", "timestamp", "timestamptz", "numeric"}
"""Types whose functions PostgreSQL spells date_in and not datein; clients tell types by them."""


def _type(kind: PgType) -> dict[str, Any]:
    array = next((each.oid for each in ALL.values() if each.element == kind.oid), 0)
    name = "array_" if kind.element else f"{kind.name}{'_' if kind.name in _UNDERSCORED else ''}"
    return {
        "oid": kind.oid,
        "typname": kind.name,
        "typnamespace": SYSTEM_SCHEMAS["pg_catalog"],
        "typowner": OWNER,
        "typlen": kind.size,
        "typbyval": 0 < kind.size <= 8,
        "typtype": "b",
        "typcategory": "A" if kind.element else _CATEGORIES.get(kind.oid, "N"),
        "typisdefined": True,
        "typdelim": ",",
        "typelem": kind.element,
        "typarray": array,
        "typinput": f"{name}in",
        "typoutput": f"{name}out",
        "typreceive": f"{name}recv",
        "typsend": f"{name}send",
        "typalign": "i",
        "typstorage": "p" if kind.size > 0 else "x",
        "typtypmod": -1,
        "typsubscript": "array_subscript_handler" if kind.element else "-",
    }
