"""Tables of pg_catalog and information_schema that clients read, with their columns.

Types are DuckDB's; `oid` stands for UINTEGER. Only what real clients ask for is listed.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.base.schema import (
    BooleanDomain,
    Column,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.curator import Curator
from discreet.server.pgwire.types import BOOL, DATE, FLOAT8, INT4, INT8, TEXT, PgType

PREVIEW = "preview"


@dataclass(frozen=True, slots=True)
class VisibleTable:
    """A table under the schema and name that clients see."""

    schema: str
    name: str
    table: Table
    columns: tuple[tuple[Column, PgType], ...]

    @property
    def words(self) -> str:
        """Return whose rows it holds, in words."""
        if self.schema == PREVIEW:
            return "Made-up rows from the declared domains; free to browse."
        if self.table.unit is None:
            return "Public facts."
        return f"Private ({self.table.unit} is protected): ask for aggregates."


def seen_by(curator: Curator, analyst: str | None) -> tuple[VisibleTable, ...]:
    """Return the tables of the caller's datasets, and beside each a preview of made-up rows."""
    found: list[VisibleTable] = []
    datasets = [curator.catalog.datasets[name] for name in curator.visible(analyst)]
    for dataset in datasets:
        for table in dataset.tables:
            shown = [c for c in table.columns if not c.hidden]
            columns = tuple((c, type_of(c.by_day().domain)) for c in shown)
            found.append(VisibleTable(dataset.name, table.name, table, columns))
    names = [seen.name.lower() for seen in found]
    for seen in tuple(found):
        single = names.count(seen.name.lower()) == 1
        name = seen.name if single else f"{seen.schema}_{seen.name}"
        found.append(VisibleTable(PREVIEW, name, seen.table, seen.columns))
    return tuple(found)


def type_of(domain: Domain) -> PgType:
    """Return the PostgreSQL type of a declared domain."""
    if isinstance(domain, IntegerDomain):
        small = domain.lower >= -(2**31) and domain.upper < 2**31
        return INT4 if small else INT8
    if isinstance(domain, NumberDomain):
        return FLOAT8
    if isinstance(domain, BooleanDomain):
        return BOOL
    return DATE if isinstance(domain, DateDomain) else TEXT


PG_CATALOG: dict[str, str] = {
    "pg_namespace": "oid oid, nspname text, nspowner oid, nspacl text[]",
    "pg_class": (
        "oid oid, relname text, relnamespace oid, reltype oid, reloftype oid, relowner oid, "
        "relam oid, relfilenode oid, reltablespace oid, relpages int, reltuples real, "
        "relallvisible int, reltoastrelid oid, relhasindex bool, relisshared bool, "
        "relpersistence text, relkind text, relnatts smallint, relchecks smallint, "
        "relhasrules bool, relhastriggers bool, relhassubclass bool, relrowsecurity bool, "
        "relforcerowsecurity bool, relispopulated bool, relreplident text, relispartition bool, "
        "relrewrite oid, relfrozenxid oid, relminmxid oid, relacl text[], reloptions text[], "
        "relpartbound text, relhasoids bool"
    ),
    "pg_attribute": (
        "attrelid oid, attname text, atttypid oid, attstattarget int, attlen smallint, "
        "attnum smallint, attndims int, attcacheoff int, atttypmod int, attbyval bool, "
        "attalign text, attstorage text, attcompression text, attnotnull bool, atthasdef bool, "
        "atthasmissing bool, attidentity text, attgenerated text, attisdropped bool, "
        "attislocal bool, attinhcount int, attcollation oid, attacl text[], attoptions text[], "
        "attfdwoptions text[], attmissingval text"
    ),
    "pg_type": (
        "oid oid, typname text, typnamespace oid, typowner oid, typlen smallint, typbyval bool, "
        "typtype text, typcategory text, typispreferred bool, typisdefined bool, typdelim text, "
        "typrelid oid, typsubscript text, typelem oid, typarray oid, typinput text, "
        "typoutput text, typreceive text, typsend text, typmodin text, typmodout text, "
        "typanalyze text, typalign text, typstorage text, typnotnull bool, typbasetype oid, "
        "typtypmod int, typndims int, typcollation oid, typdefaultbin text, typdefault text, "
        "typacl text[]"
    ),
    "pg_database": (
        "oid oid, datname text, datdba oid, encoding int, datlocprovider text, "
        "datistemplate bool, datallowconn bool, datconnlimit int, datfrozenxid oid, "
        "datminmxid oid, dattablespace oid, datcollate text, datctype text, daticulocale text, "
        "datcollversion text, datacl text[]"
    ),
    "pg_roles": (
        "rolname text, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, "
        "rolcanlogin bool, rolreplication bool, rolconnlimit int, rolpassword text, "
        "rolvaliduntil timestamp, rolbypassrls bool, rolconfig text[], oid oid"
    ),
    "pg_user": "usename text, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, "
    "usebypassrls bool, passwd text, valuntil timestamp, useconfig text[]",
    "pg_group": "groname text, grosysid oid, grolist oid[]",
    "pg_auth_members": "roleid oid, member oid, grantor oid, admin_option bool",
    "pg_settings": (
        "name text, setting text, unit text, category text, short_desc text, extra_desc text, "
        "context text, vartype text, source text, min_val text, max_val text, enumvals text[], "
        "boot_val text, reset_val text, sourcefile text, sourceline int, pending_restart bool"
    ),
    "pg_description": "objoid oid, classoid oid, objsubid int, description text",
    "pg_shdescription": "objoid oid, classoid oid, description text",
    "pg_am": "oid oid, amname text, amhandler text, amtype text",
    "pg_tablespace": "oid oid, spcname text, spcowner oid, spcacl text[], spcoptions text[]",
    "pg_index": (
        "indexrelid oid, indrelid oid, indnatts smallint, indnkeyatts smallint, "
        "indisunique bool, indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, "
        "indimmediate bool, indisclustered bool, indisvalid bool, indcheckxmin bool, "
        "indisready bool, indislive bool, indisreplident bool, indkey smallint[], "
        "indcollation oid[], indclass oid[], indoption smallint[], indexprs text, indpred text"
    ),
    "pg_constraint": (
        "oid oid, conname text, connamespace oid, contype text, condeferrable bool, "
        "condeferred bool, convalidated bool, conrelid oid, contypid oid, conindid oid, "
        "conparentid oid, confrelid oid, confupdtype text, confdeltype text, "
        "confmatchtype text, conislocal bool, coninhcount int, connoinherit bool, "
        "conkey smallint[], confkey smallint[], conpfeqop oid[], conppeqop oid[], "
        "conffeqop oid[], confdelsetcols smallint[], conexclop oid[], conbin text, consrc text"
    ),
    "pg_attrdef": "oid oid, adrelid oid, adnum smallint, adbin text, adsrc text",
    "pg_inherits": "inhrelid oid, inhparent oid, inhseqno int, inhdetachpending bool",
    "pg_partitioned_table": "partrelid oid, partstrat text, partnatts smallint, partdefid oid, "
    "partattrs smallint[], partclass oid[], partcollation oid[], partexprs text",
    "pg_enum": "oid oid, enumtypid oid, enumsortorder real, enumlabel text",
    "pg_range": "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, "
    "rngsubopc oid, rngcanonical text, rngsubdiff text",
    "pg_collation": "oid oid, collname text, collnamespace oid, collowner oid, "
    "collprovider text, collisdeterministic bool, collencoding int, collcollate text, "
    "collctype text, colliculocale text, collversion text",
    "pg_proc": (
        "oid oid, proname text, pronamespace oid, proowner oid, prolang oid, procost real, "
        "prorows real, provariadic oid, prosupport text, prokind text, prosecdef bool, "
        "proleakproof bool, proisstrict bool, proretset bool, provolatile text, "
        "proparallel text, pronargs smallint, pronargdefaults smallint, prorettype oid, "
        "proargtypes oid[], proallargtypes oid[], proargmodes text[], proargnames text[], "
        "proargdefaults text, protrftypes oid[], prosrc text, probin text, prosqlbody text, "
        "proconfig text[], proacl text[], proisagg bool, proiswindow bool"
    ),
    "pg_aggregate": "aggfnoid oid, aggkind text, aggnumdirectargs smallint",
    "pg_operator": "oid oid, oprname text, oprnamespace oid, oprowner oid, oprkind text, "
    "oprleft oid, oprright oid, oprresult oid",
    "pg_opclass": "oid oid, opcmethod oid, opcname text, opcnamespace oid, opcowner oid, "
    "opcfamily oid, opcintype oid, opcdefault bool, opckeytype oid",
    "pg_cast": "oid oid, castsource oid, casttarget oid, castfunc oid, castcontext text, "
    "castmethod text",
    "pg_language": "oid oid, lanname text, lanowner oid, lanispl bool, lanpltrusted bool",
    "pg_extension": "oid oid, extname text, extowner oid, extnamespace oid, "
    "extrelocatable bool, extversion text, extconfig oid[], extcondition text[]",
    "pg_available_extensions": "name text, default_version text, installed_version text, "
    "comment text",
    "pg_depend": "classid oid, objid oid, objsubid int, refclassid oid, refobjid oid, "
    "refobjsubid int, deptype text",
    "pg_shdepend": "dbid oid, classid oid, objid oid, objsubid int, refclassid oid, "
    "refobjid oid, deptype text",
    "pg_sequence": "seqrelid oid, seqtypid oid, seqstart bigint, seqincrement bigint, "
    "seqmax bigint, seqmin bigint, seqcache bigint, seqcycle bool",
    "pg_sequences": "schemaname text, sequencename text, sequenceowner text, last_value bigint",
    "pg_trigger": "oid oid, tgrelid oid, tgparentid oid, tgname text, tgfoid oid, "
    "tgtype smallint, tgenabled text, tgisinternal bool, tgconstrrelid oid, "
    "tgconstrindid oid, tgconstraint oid, tgdeferrable bool, tginitdeferred bool, "
    "tgnargs smallint, tgattr smallint[], tgargs text, tgqual text, tgoldtable text, "
    "tgnewtable text",
    "pg_event_trigger": "oid oid, evtname text, evtevent text, evtowner oid, evtfoid oid, "
    "evtenabled text, evttags text[]",
    "pg_rewrite": "oid oid, rulename text, ev_class oid, ev_type text, ev_enabled text, "
    "is_instead bool, ev_qual text, ev_action text",
    "pg_policy": "oid oid, polname text, polrelid oid, polcmd text, polpermissive bool, "
    "polroles oid[], polqual text, polwithcheck text",
    "pg_statistic_ext": "oid oid, stxrelid oid, stxname text, stxnamespace oid, stxowner oid, "
    "stxstattarget int, stxkeys smallint[], stxkind text[], stxexprs text",
    "pg_publication": "oid oid, pubname text, pubowner oid, puballtables bool, pubinsert bool, "
    "pubupdate bool, pubdelete bool, pubtruncate bool, pubviaroot bool",
    "pg_publication_rel": "oid oid, prpubid oid, prrelid oid, prqual text, prattrs smallint[]",
    "pg_publication_namespace": "oid oid, pnpubid oid, pnnspid oid",
    "pg_publication_tables": "pubname text, schemaname text, tablename text",
    "pg_subscription": "oid oid, subdbid oid, subname text",
    "pg_foreign_table": "ftrelid oid, ftserver oid, ftoptions text[]",
    "pg_foreign_server": "oid oid, srvname text, srvowner oid, srvfdw oid, srvtype text, "
    "srvversion text, srvacl text[], srvoptions text[]",
    "pg_foreign_data_wrapper": "oid oid, fdwname text, fdwowner oid, fdwhandler oid, "
    "fdwvalidator oid, fdwacl text[], fdwoptions text[]",
    "pg_default_acl": "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype text, "
    "defaclacl text[]",
    "pg_db_role_setting": "setdatabase oid, setrole oid, setconfig text[]",
    "pg_conversion": "oid oid, conname text, connamespace oid",
    "pg_ts_config": "oid oid, cfgname text, cfgnamespace oid",
    "pg_largeobject_metadata": "oid oid, lomowner oid, lomacl text[]",
    "pg_tables": "schemaname text, tablename text, tableowner text, tablespace text, "
    "hasindexes bool, hasrules bool, hastriggers bool, rowsecurity bool",
    "pg_views": "schemaname text, viewname text, viewowner text, definition text",
    "pg_matviews": "schemaname text, matviewname text, matviewowner text, tablespace text, "
    "hasindexes bool, ispopulated bool, definition text",
    "pg_indexes": "schemaname text, tablename text, indexname text, tablespace text, indexdef text",
    "pg_timezone_names": "name text, abbrev text, utc_offset text, is_dst bool",
    "pg_prepared_statements": "name text, statement text, prepare_time timestamp, "
    "parameter_types text[], from_sql bool",
    "pg_cursors": "name text, statement text, is_holdable bool, is_binary bool, "
    "is_scrollable bool, creation_time timestamp",
}

_TABLE = "table_catalog text, table_schema text, table_name text"
_RULE = "constraint_catalog text, constraint_schema text, constraint_name text"

INFORMATION_SCHEMA: dict[str, str] = {
    "schemata": "catalog_name text, schema_name text, schema_owner text, "
    "default_character_set_catalog text, default_character_set_schema text, "
    "default_character_set_name text, sql_path text",
    "tables": f"{_TABLE}, table_type text, self_referencing_column_name text, "
    "reference_generation text, user_defined_type_catalog text, "
    "user_defined_type_schema text, user_defined_type_name text, is_insertable_into text, "
    "is_typed text, commit_action text",
    "columns": (
        f"{_TABLE}, column_name text, ordinal_position int, column_default text, "
        "is_nullable text, data_type text, character_maximum_length int, "
        "character_octet_length int, numeric_precision int, numeric_precision_radix int, "
        "numeric_scale int, datetime_precision int, interval_type text, "
        "interval_precision int, character_set_catalog text, character_set_schema text, "
        "character_set_name text, collation_catalog text, collation_schema text, "
        "collation_name text, domain_catalog text, domain_schema text, domain_name text, "
        "udt_catalog text, udt_schema text, udt_name text, is_self_referencing text, "
        "is_identity text, identity_generation text, identity_start text, "
        "identity_increment text, identity_maximum text, identity_minimum text, "
        "identity_cycle text, is_generated text, generation_expression text, is_updatable text"
    ),
    "views": f"{_TABLE}, view_definition text, check_option text, is_updatable text, "
    "is_insertable_into text",
    "table_constraints": f"{_RULE}, {_TABLE}, constraint_type text, is_deferrable text, "
    "initially_deferred text, enforced text",
    "key_column_usage": f"{_RULE}, {_TABLE}, column_name text, ordinal_position int, "
    "position_in_unique_constraint int",
    "constraint_column_usage": f"{_TABLE}, column_name text, {_RULE}",
    "referential_constraints": f"{_RULE}, unique_constraint_catalog text, "
    "unique_constraint_schema text, unique_constraint_name text, match_option text, "
    "update_rule text, delete_rule text",
    "check_constraints": f"{_RULE}, check_clause text",
    "table_privileges": f"grantor text, grantee text, {_TABLE}, privilege_type text, "
    "is_grantable text, with_hierarchy text",
    "role_table_grants": f"grantor text, grantee text, {_TABLE}, privilege_type text, "
    "is_grantable text, with_hierarchy text",
    "column_privileges": f"grantor text, grantee text, {_TABLE}, column_name text, "
    "privilege_type text, is_grantable text",
    "routines": "specific_catalog text, specific_schema text, specific_name text, "
    "routine_catalog text, routine_schema text, routine_name text, routine_type text, "
    "data_type text",
    "parameters": "specific_catalog text, specific_schema text, specific_name text, "
    "ordinal_position int, parameter_mode text, parameter_name text, data_type text",
    "sequences": "sequence_catalog text, sequence_schema text, sequence_name text, data_type text",
    "triggers": "trigger_catalog text, trigger_schema text, trigger_name text, "
    "event_manipulation text, event_object_schema text, event_object_table text",
    "character_sets": "character_set_catalog text, character_set_schema text, "
    "character_set_name text, character_repertoire text, form_of_use text",
    "domains": "domain_catalog text, domain_schema text, domain_name text, data_type text",
    "enabled_roles": "role_name text",
    "applicable_roles": "grantee text, role_name text, is_grantable text",
}

_TABLE_STATISTICS = (
    "relid oid, schemaname text, relname text, seq_scan bigint, seq_tup_read bigint, "
    "idx_scan bigint, idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, "
    "n_tup_del bigint, n_live_tup bigint, n_dead_tup bigint, n_mod_since_analyze bigint, "
    "last_vacuum timestamp, last_autovacuum timestamp, last_analyze timestamp, "
    "last_autoanalyze timestamp"
)
PG_CATALOG |= {
    "pg_stat_all_tables": _TABLE_STATISTICS,
    "pg_stat_user_tables": _TABLE_STATISTICS,
    "pg_stat_activity": (
        "datid oid, datname text, pid int, usesysid oid, usename text, application_name text, "
        "client_addr text, client_hostname text, client_port int, backend_start timestamp, "
        "xact_start timestamp, query_start timestamp, state_change timestamp, "
        "wait_event_type text, wait_event text, state text, query text, backend_type text"
    ),
    "pg_stat_gssapi": "pid int, gss_authenticated bool, principal text, encrypted bool",
    "pg_stat_ssl": "pid int, ssl bool, version text, cipher text, bits int",
    "pg_stat_database": "datid oid, datname text, numbackends int, xact_commit bigint, "
    "xact_rollback bigint, blks_read bigint, blks_hit bigint, tup_returned bigint",
}
"""Statistics that tools join to their lists: always empty, because to fill them would tell."""

SECRET_PREFIXES = (
    "pg_stat",
    "pg_authid",
    "pg_shadow",
    "pg_hba",
    "pg_file_settings",
    "pg_largeobject",
)
"""What a real server would fill with facts about the rows, or with secrets: declined by name."""


def columns_of(written: str) -> list[tuple[str, str]]:
    """Return the columns of one of these tables: names, and types as DuckDB calls them."""
    parts = [part.split() for part in written.split(",")]
    return [(name, kind.replace("oid", "UINTEGER")) for name, kind in parts]
