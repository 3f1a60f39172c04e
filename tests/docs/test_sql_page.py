"""docs/sql.md says what the planner does: examples are planned, lists are the allow-lists."""

import re
import sys
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT, fences, marked

from discreet.ask.plan import expr as e
from discreet.ask.plan.kinds import SCALARS
from discreet.ask.plan.plan import ask, make_plan
from discreet.ask.release.post_processing import nested_in
from discreet.ask.release.sealing import seal
from discreet.ask.sql.aggregates import _SIMPLE, to_aggregate
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, read_checked
from discreet.ask.sql.post_processing.split import split
from discreet.ask.sql.refuse import SENTENCES
from discreet.ask.sql.scalars import _RULES, Scope, to_expr
from discreet.base.numbers import Epsilon
from discreet.data.catalog.catalog import engine_name
from discreet.data.catalog.policy_file import loads
from discreet.testing import FakeEngine

PAGE = ROOT / "docs" / "sql.md"
TEXT = PAGE.read_text(encoding="utf-8")
FENCES = fences(PAGE)
CATALOG = loads(next(f.text for f in FENCES if f.language == "toml"), base=Path())
SQL = [fence for fence in FENCES if fence.language == "sql"]
SCOPE = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
UNNAMED = {"CLAMP", "CLIP", "DATE_PART", "STRLEN", "NOW"}


@pytest.mark.parametrize("fence", SQL, ids=str)
def test_every_example_is_planned(fence):
    tree = read_checked(fence.text)
    nested = nested_in(tree, CATALOG)
    inner = [] if nested is None else [ParsedQuestion("", each.select) for each in nested.private]
    tree = tree if nested is None else nested.sampled(CATALOG)
    program = split(tree, CATALOG)
    parts = (
        [ParsedQuestion("", tree)]
        if program is None
        else [ParsedQuestion("", p) for p in program.parts]
    )
    for part in (*inner, *parts):
        planned(part)


def planned(sql):
    question = ask(bind(sql, CATALOG), CATALOG, {})
    delta = CATALOG.budget_of(question.dataset).delta
    plan = make_plan(question, epsilon=Epsilon.of("0.5"), budget_delta=delta)
    types = {
        engine_name(d, t): {c.name: "VARCHAR" for c in t.columns}
        for d in CATALOG.datasets.values()
        for t in d.tables
    }
    assert seal(plan, CATALOG, FakeEngine(types, canonical=True)).reads


def examples(text):
    return re.findall(r"`([^`]+)`", text)


def test_the_list_of_functions_is_the_allow_list():
    nodes = [sqlglot.parse_one(sql, read="duckdb") for sql in examples(marked(TEXT, "functions"))]
    for node in nodes:
        to_expr(node, SCOPE)
    shown = {type(node) for node in nodes} - {exp.Anonymous}
    listed = {kind for kind in _RULES if issubclass(kind, exp.Func)} - {exp.Anonymous}
    # AND and OR are functions to the parser; two of its names mean DATE_TRUNC.
    assert listed - shown <= {exp.And, exp.Or, exp.DateTrunc, exp.TimestampTrunc, exp.RegexpILike}
    assert shown <= listed
    assert {node.name.upper() for node in nodes if isinstance(node, exp.Anonymous)} <= UNNAMED


def test_every_row_is_called_as_it_is_written():
    calls = [(name, call) for name, row in SCALARS.items() for call in row.written]
    assert len(calls) > 30
    for name, call in calls:
        found = to_expr(sqlglot.parse_one(call, read="duckdb"), SCOPE)
        assert isinstance(found, e.Call)
        assert found.function == name, "two rows of one node need a rule of their own"


def test_the_list_of_aggregates_is_complete():
    table = TEXT.split("## Aggregates")[1].split("`FILTER")[0]
    nodes = [sqlglot.parse_one(s, read="duckdb") for s in examples(table) if s.endswith(")")]
    for node in nodes:
        assert to_aggregate(node, lambda part: to_expr(part, SCOPE)) is not None
    assert {type(node) for node in nodes} >= set(_SIMPLE)


def refusal_table():
    """Return the table of refusals as the page must show it."""
    lines = ["| Discreet says | and suggests |", "|---|---|"]
    for first, second in SENTENCES.values():
        said, advised = (re.sub(r"\{\w+\}", "…", part) for part in (first, second))
        lines.append(f"| {said} | {advised} |")
    return "\n".join(lines) + "\n"


def test_the_table_of_refusals_is_generated(request):
    if request.config.getoption("--update-golden"):
        before = marked(TEXT, "refusals")
        page = TEXT.replace(f"<!-- refusals -->\n{before}", f"<!-- refusals -->\n{refusal_table()}")
        PAGE.write_text(page, encoding="utf-8")
        return
    assert marked(TEXT, "refusals") == refusal_table(), "run pytest tests/docs --update-golden"
