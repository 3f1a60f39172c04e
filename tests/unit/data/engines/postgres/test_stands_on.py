"""Whatever a PostgreSQL relation stands on: a query sees one state of it, or is refused with a reason."""

from __future__ import annotations

import pytest

from postgres_relations_kit import HALVES, MOVING, STILL, change, make, open_engine, rows, wanted

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("kind", STILL)
def test_what_is_read_live_has_one_state(url, kind):
    source, statements = STILL[kind]
    make(*statements)
    engine = open_engine(url, source)
    with engine.hold(wanted()) as held:
        before = sorted(rows(held, "TRUE", source))
        first = rows(held, HALVES[0], source)
        change(source)
        assert sorted(first + rows(held, HALVES[1], source)) == before != []
    engine.close()


@pytest.mark.parametrize("kind", MOVING)
def test_what_moves_is_refused_with_the_reason_and_what_to_do(url, kind):
    from discreet.errors import CatalogError

    source, statements, reason = MOVING[kind]
    make(*statements)
    engine = open_engine(url, source)
    for _ in range(2):
        with pytest.raises(CatalogError, match=reason) as caught:
            engine.hold(wanted())
        assert "cannot be held still" in str(caught.value)
        assert 'snapshot = "copy"' in str(caught.value)
        assert "town" not in str(caught.value)
    engine.close()


OF_THE_CATALOG = """
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.oid < 16384 AND p.prokind = 'f' AND p.provolatile IN ('i', 's') AND EXISTS (
    SELECT FROM pg_type t WHERE t.oid = ANY(p.proargtypes::oid[] || p.prorettype)
    AND (t.typname ~ '^reg' OR t.typname ~ '^_?aclitem$')
) OR p.proname ~ '^(enum_(first|last|range|in|out|recv|send)|ts_parse|ts_token_type|has_.*privilege)$'
  OR p.proname ~ '^(to_tsvector|to_tsquery|plainto_tsquery|websearch_to_tsquery|format_type)$'
  OR p.proname ~ '^(pg_typeof|current_user|session_user|(array|record|range|domain)_in)$'
"""


def test_no_built_in_function_is_believed_that_reads_the_catalog(url):
    """Whatever PostgreSQL says of it: IMMUTABLE text search depends on what somebody configured."""
    import psycopg

    from discreet.data.engines.postgres.stands_on import _CALLED
    from engines import owner_url

    with psycopg.connect(owner_url()) as session:
        found = [name for (name,) in session.execute(OF_THE_CATALOG)]
        believed = [
            name
            for name in found
            if session.execute(
                _CALLED.encode(),
                [[session.execute("SELECT %s::regprocedure::oid", [name]).fetchone()[0]]],
            ).fetchone()[0]
            is None
        ]
    assert believed == []
    assert len(found) > 100
    assert "to_tsvector(regconfig,text)" in found


def test_every_node_that_nobody_knows_is_refused():
    from discreet.data.engines.postgres.stands_on import TreeContent, read_tree

    for tree in ("({QUERY :x {NEWNODE :y 1}})", "({QUERY :x {VAR :y 1})", "}", "({QUERY})}"):
        named = TreeContent()
        read_tree(tree, named)
        assert named.moving is not None, tree
    named = TreeContent()
    read_tree(r"({QUERY :name \{NEWNODE\ :y\ 1\} :relid 7})", named)
    assert (named.moving, named.relations) == (None, {7})
