"""Why a PostgreSQL table cannot be read, in one sentence for its owner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from discreet.base.packages import needs
from discreet.data.engines.dialects import quoted
from discreet.errors import CatalogError

with needs("psycopg", extra="postgres"):
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

_FIND = (
    "SELECT has_schema_privilege(n.oid, 'USAGE'), "
    "(SELECT has_table_privilege(c.oid, 'SELECT') FROM pg_class c "
    "WHERE c.relnamespace = n.oid AND c.relname = %s) FROM pg_namespace n WHERE n.nspname = %s"
)


def check_reach(url: str, sources: Mapping[str, str]) -> None:
    """Refuse what is in the way between us and these tables, naming the one thing to change.

    For the owner at the keyboard: it names host, database and role, never a password.
    """
    try:
        wire = psycopg.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.Error as error:
        raise _unreached(url, str(error)) from None
    with closing(wire):
        for source in sources.values():
            _check_table(wire, source)


def _check_table(wire: psycopg.Connection[Any], source: str) -> None:
    schema, _, table = source.rpartition(".")
    schema = schema or "public"
    role = wire.info.user
    found = wire.execute(_FIND, [table, schema]).fetchone()
    if found is None:
        raise CatalogError(
            f"The database '{wire.info.dbname}' has no schema '{schema}'.",
            hint="Write the table as SCHEMA.TABLE, in the letters that the database uses.",
        )
    if found[1] is None:
        raise CatalogError(f"The schema '{schema}' has no table '{table}'.")
    for right, granted, on in (
        ("USAGE", found[0], f"SCHEMA {quoted(schema)}"),
        ("SELECT", found[1], f"{quoted(schema)}.{quoted(table)}"),
    ):
        if not granted:
            raise CatalogError(
                f"The role '{role}' may not read '{schema}.{table}': it lacks {right}.",
                hint=f"GRANT {right} ON {on} TO {quoted(role)};",
            )


_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"could not translate host name|name or service not known|nodename nor servname",
        "There is no host '{host}'.",
        "Check the name after the @ in the address.",
    ),
    (
        r"no such file or directory|connection refused|could not connect to server",
        "No PostgreSQL server answers on host '{host}', port {port}.",
        "Check that it runs there and takes connections.",
    ),
    (
        r"timeout expired|timed out|network is unreachable|no route to host",
        "Host '{host}' does not answer on port {port}.",
        "Check the address, the port and the firewall between.",
    ),
    (
        r'database "[^\n]*" does not exist',
        "The server has no database '{dbname}'.",
        "Check the first word after the host in the address.",
    ),
    (
        r'role "[^\n]*" does not exist',
        "The server has no role '{user}'.",
        "Check the name before the @ in the address.",
    ),
    (
        r"no password supplied|empty password",
        "The server wants a password for role '{user}', and there is none.",
        "Put it into PGPASSWORD, ~/.pgpass or a service file; never into discreet.toml.",
    ),
    (
        r"authentication failed",
        "The server does not accept the password of role '{user}'.",
        "Check PGPASSWORD, ~/.pgpass or the service file.",
    ),
    (
        r"no pg_hba.conf entry|pg_hba.conf rejects",
        "The server does not let role '{user}' into database '{dbname}' from here.",
        "Ask its administrator for a line in pg_hba.conf.",
    ),
    (
        r"permission denied for database|does not have connect privilege",
        "The role '{user}' may not connect to database '{dbname}'.",
        "GRANT CONNECT ON DATABASE to the role.",
    ),
    (
        r"not permitted to log in",
        "The role '{user}' may not log in.",
        "ALTER ROLE ... LOGIN, or use another role.",
    ),
    (
        r"too many (clients|connections)|connection slots are reserved",
        "The server has no connection left.",
        "Wait, or raise its max_connections.",
    ),
    (r"ssl", "The server and this machine do not agree on SSL.", "Check sslmode in the address."),
    (r"invalid .*(port|integer)", "The address has no valid port.", "Write HOST:PORT."),
    (r"definition of service", "There is no such service in the service file.", "Check its name."),
)


def _unreached(url: str, told: str) -> CatalogError:
    facts = {"host": "localhost", "port": "5432", "dbname": "", "user": ""}
    try:
        facts |= {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        return CatalogError(
            "The address of the PostgreSQL server cannot be understood.",
            hint="Write postgresql://ROLE@HOST:PORT/DATABASE/SCHEMA.TABLE.",
        )
    facts["dbname"] = facts["dbname"] or facts["user"]
    for pattern, sentence, hint in _CAUSES:
        if re.search(pattern, told, re.IGNORECASE):
            return CatalogError(sentence.format(**facts), hint=hint)
    return CatalogError(
        "The PostgreSQL server of the engine could not be reached.",
        hint="Check the address; psql with the same address says more.",
    )
