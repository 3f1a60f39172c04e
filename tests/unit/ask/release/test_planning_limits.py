"""Planning is tried where it can be killed: bombs cost a child, plain questions cost one trial."""

import pickle
import resource
import signal
from dataclasses import replace

import pytest

from discreet.ask.release import planning_limits as planner_child
from discreet.ask.release import planning_limits as release_planner
from discreet.ask.release.planning_limits import DOUBLINGS, SHORT, PlanningLimits, judged
from discreet.ask.sql.parse import parse_everywhere
from discreet.base.requests.paid import QuestionFields
from discreet.data.catalog.policy_file import loads
from discreet.data.engines.base import Capabilities
from discreet.errors import QueryRefused
from sittings import FULL

TOML = """
[datasets.census]
epsilon = 1
[datasets.census.tables.people]
source = "people.parquet"
unit = "row"
[datasets.census.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
sex = { type = "category", values = ["Female", "Male"] }
[datasets.other]
epsilon = 1
[datasets.other.tables.people]
source = "others.parquet"
unit = "row"
[datasets.other.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
"""
DUCKDB = Capabilities("duckdb")
PLAIN = "SELECT sex, " + ", ".join(f"SUM(age + {i}) AS s{i}" for i in range(9))
PLAIN += " FROM people WHERE age > 3 GROUP BY sex"


def chained(steps, step):
    parts = [f"c{i} AS (SELECT {step} FROM c{i - 1})" for i in range(1, steps)]
    ctes = ", ".join(["c0 AS (SELECT age AS a FROM people)", *parts])
    return f"WITH {ctes} SELECT SUM(a) AS n FROM c{steps - 1}"


BOMBS = {
    "doubled": chained(60, "a + a AS a"),
    "chained": chained(800, "a"),
    "added": f"SELECT SUM({'+'.join(['age'] * 60)}) AS n FROM people",
    "deep": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 6000 + "people" + ")" * 6000,
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return loads(TOML, base=tmp_path_factory.mktemp("none"))


@pytest.fixture(scope="module")
def planner():
    found = PlanningLimits(seconds=0.5, memory_mb=200)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def timer():
    """Be told by the timer as the child is; otherwise it would end this process."""
    old = signal.signal(signal.SIGVTALRM, planner_child._late)
    yield
    signal.signal(signal.SIGVTALRM, old)


def asked(sql, **more):
    return QuestionFields(sql=sql, epsilon="0.1", **more)


def tried(planner, catalog, sql, **more):
    planner.check(catalog, DUCKDB, asked(sql, **more), datasets=("census",))


def refusal_of(planner, catalog, sql):
    try:
        tried(planner, catalog, sql)
    except QueryRefused as error:
        return error
    return None


def test_a_plain_question_is_planned_to_its_end(catalog):
    """Without a process: what is judged is the whole way to the SQL, with nothing left out."""
    assert judged(asked(PLAIN), ("census",), catalog, DUCKDB, 60.0) == b"K"


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_or_harmless(planner, catalog, name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = refusal_of(planner, catalog, BOMBS[name])
    if refused is None:  # planned, or refused by the parser's own limits: then it is so here, soon
        assert judged(asked(BOMBS[name]), ("census",), catalog, DUCKDB, 5.0) == b"K"
    else:
        assert refused.construct == "too large"
        assert "nothing was charged" in refused.message
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300 << 10, "what a text costs, it costs the child"
    tried(planner, catalog, PLAIN)  # and the next one is answered


@pytest.mark.parametrize(
    ("fault", "letter"),
    [(MemoryError, b"M"), (RecursionError, b"D"), (None, b"T"), (TypeError, b"F")],
)
def test_what_goes_wrong_in_planning_has_a_letter(monkeypatch, catalog, fault, letter):
    def bad(*_):
        while fault is None:
            pass
        raise fault

    monkeypatch.setattr(planner_child, "try_planning", bad)
    # Little time only where it is to run out: reading the text takes some, and so may the collector.
    assert (
        judged(asked(PLAIN), ("census",), catalog, DUCKDB, 0.05 if fault is None else 60.0)
        == letter
    )


HANGING = {
    "joins": "SELECT 1 FROM t" + " JOIN t" * 40,
    "types": "SELECT " + "DATE(" * 40 + "1" + ")" * 40,
    "indexed": "SELECT a" + "[1]" * 5000,
    "arrays": "SELECT " + "ARRAY[" * 40 + "]" * 40,
}
"""Texts on which the parser, compiled code that hears no timer, works for minutes or for ever.

The first two are ended by the system, the others by what reading a text of their length may take.
"""


@pytest.mark.parametrize("name", HANGING if FULL else ("types", "indexed"))
def test_texts_that_hang_the_parser_cost_the_child(planner, catalog, name):
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for check in (
        lambda: planner.check_text(catalog, DUCKDB, HANGING[name]),
        lambda: tried(planner, catalog, HANGING[name]),
    ):
        with pytest.raises(QueryRefused, match="too long"):
            check()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - used < 1
    planner.check_text(catalog, DUCKDB, PLAIN)


WORST_SHORT = (
    "SELECT * " + "JOIN ROWS " * DOUBLINGS + "x " * (SHORT - 2 - 2 * DOUBLINGS),
    "SELECT CONNECT " + "JOIN IS " * DOUBLINGS,
    "SELECT " + "DATE(" * DOUBLINGS,
    "SELECT a" + "[1]" * DOUBLINGS,
    "SELECT " + "INT[" * DOUBLINGS + "]",
    "SELECT " + "@ " * (SHORT - 1),
)
TOO_MANY = (
    "SELECT * " + "JOIN ROWS " * 14,
    "SELECT CONNECT " + "JOIN IS " * 14,
    "SELECT " + "DATE(" * 14,
    "SELECT a" + "[1]" * 9,
)
"""Thirty words, for which the parser takes seconds: it hears no timer meanwhile, and neither does anybody."""


def test_the_worst_texts_that_are_not_tried_are_parsed_at_once():
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for text in WORST_SHORT:
        assert release_planner._is_short(text)
        parse_everywhere(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - used < 1


@pytest.mark.parametrize("text", TOO_MANY)
def test_few_words_that_double_are_tried(planner, catalog, text):
    """Each is of thirty words at most, which once was enough to be spared the trial."""
    assert len(release_planner._WORD.findall(text)) <= SHORT
    judge, planner._judged = planner._judged, None
    try:
        with pytest.raises(TypeError):
            planner.check_text(catalog, DUCKDB, text)
    finally:
        planner._judged = judge


def test_what_reading_takes_follows_the_length(monkeypatch):
    """A clock of ours: each reading takes so long, and what is allowed grows with the text."""
    times = []

    def read(seconds, text="x" * 100, dialects=1):
        monkeypatch.setattr(planner_child.time, "process_time", lambda: sum(times))
        planner_child.read_soon(text, lambda _: times.append(seconds), dialects)

    read(0.05)
    read(0.19, dialects=2)
    read(0.5, text="x" * 50_000)
    first = iter([0.5, 0.01])
    planner_child.read_soon("x", lambda _: times.append(next(first)), 1)
    for slow in ({"seconds": 0.2}, {"seconds": 0.7, "text": "x" * 50_000}):
        with pytest.raises(planner_child._Late):
            read(**slow)


def test_the_parser_repeats_no_text_in_logs(caplog):
    parse_everywhere("ALTER SESSION SET secret = 'of an analyst'")
    assert "analyst" not in caplog.text


def test_a_child_that_dies_is_a_refusal_and_the_next_question_has_another(planner, catalog):
    tried(planner, catalog, PLAIN + " LIMIT 5")
    [child] = planner._room.idle
    child._process.kill()
    with pytest.raises(QueryRefused):
        tried(planner, catalog, PLAIN + " LIMIT 6")
    tried(planner, catalog, PLAIN + " LIMIT 6")


def test_what_was_tried_or_is_short_is_not_tried_again(planner, catalog):
    tried(planner, catalog, PLAIN)
    judge, planner._judged = planner._judged, None
    try:
        tried(planner, catalog, PLAIN)
        tried(planner, catalog, "SELECT " + "1 " * (SHORT - 1))
        for other in (PLAIN + " LIMIT 7", "SELECT " + "1 " * SHORT, "SELECT '" + "x" * 1000 + "'"):
            with pytest.raises(TypeError):
                tried(planner, catalog, other)
        with pytest.raises(TypeError):
            tried(planner, replace(catalog), PLAIN)  # another catalog, another trial
    finally:
        planner._judged = judge


def test_an_id_of_its_own_makes_no_other_trial(planner, catalog, monkeypatch):
    tried(planner, catalog, PLAIN, request_id="a", group_size=5)
    monkeypatch.setattr(planner, "_judged", None)
    tried(planner, catalog, PLAIN, request_id="b")
    with pytest.raises(TypeError):
        tried(planner, catalog, PLAIN, max_rows=7)


def test_the_trial_sees_the_datasets_that_the_question_sees(catalog, monkeypatch):
    seen = []
    monkeypatch.setattr(planner_child, "try_planning", lambda _r, found, _c: seen.append(found))
    judged(asked(PLAIN), ("other",), catalog, DUCKDB, 60.0)
    assert list(seen[0].datasets) == ["other"]
    assert pickle.loads(pickle.dumps(catalog)) == catalog
