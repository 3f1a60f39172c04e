"""No chosen value comes without its error: every aggregate that has no interval, in every form, on every door.

MEDIAN, quantiles, MIN, MAX and MODE are chosen, so their error is a rank: never more than the number of rows, "too noisy
to use" from a quarter of them on, and of an unknown number of rows where none was paid for.
"""

from __future__ import annotations

import json
import math
import random
from itertools import product

import pytest

from discreet import open as open_catalog
from discreet.ask.plan.ir import fields_of
from discreet.ask.release import answer as finishing
from discreet.ask.release import selection as ranking
from discreet.base.answer import Answer
from discreet.base.answer_text import RankError, worst
from discreet.cli.query import answer_words
from discreet.server.pgwire.question import pg_result
from discreet.server.pgwire.types import TEXT, WireColumn
from sittings import FULL

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.s]
epsilon = 1000000
delta = 1e-6
[datasets.s.tables.t]
source = "t.csv"
unit = "row"
[datasets.s.tables.t.columns]
age = { type = "integer", lower = 0, upper = 60, complete = true }
income = { type = "number", lower = 0, upper = 90000, step = 0.01, complete = true }
score = { type = "integer", lower = 0, upper = 60 }
day = { type = "date", lower = 2024-01-01, upper = 2024-12-31 }
ward = { type = "category", values = ["A", "B", "C"] }
town = { type = "text" }
"""
SCORED = 20
"""Of the 300 rows so many have a score."""
CHOSEN = (
    "MIN(age)",
    "MAX(age)",
    "MEDIAN(age)",
    "MEDIAN(income)",
    "MAX(day)",
    "QUANTILE_CONT(age, 0.9)",
)
CHOSEN += ("APPROX_QUANTILE(age, 0.9)", "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)")
CHOSEN += ("MEDIAN(age) FILTER (WHERE ward = 'A')", "QUANTILE_CONT(age, [0.25, 0.75])")
MADE = (
    "MAX(age) - MIN(age)",
    "ROUND(MEDIAN(age), 0)",
    "AVG(age) - MEDIAN(age)",
    "COUNT(*) + MEDIAN(age)",
)
MADE += ("CASE WHEN MEDIAN(age) > 30 THEN 1 ELSE 0 END",)
FORMS = (
    "SELECT {x} AS x FROM t",
    "SELECT COUNT(*) AS n, {x} AS x FROM t",
    "SELECT ward, {x} AS x, COUNT(*) AS n FROM t GROUP BY ward",
    "SELECT town, {x} AS x FROM t GROUP BY town",
    "SELECT ward, {x} AS x FROM t GROUP BY ward ORDER BY 2 DESC LIMIT 1",
    "SELECT ward, {x} AS x FROM t GROUP BY ROLLUP (ward)",
    "SELECT x FROM (SELECT ward, {x} AS x FROM t GROUP BY ward) AS s",
    "WITH m AS (SELECT ward, {x} AS x FROM t GROUP BY ward) SELECT MAX(x) AS x FROM m",
    "SELECT ward, {x} AS x, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY ward",
)
MODES = ("SELECT MODE(ward) AS x FROM t", "SELECT COUNT(*) AS n, MODE(ward) AS x FROM t")
MODES += ("SELECT MODE(ward) FILTER (WHERE age > 9) AS x FROM t",)
ASKED = [form.format(x=x) for x, form in product((*CHOSEN, *MADE), FORMS)] + list(MODES)


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("bare"), random.Random(5)
    (folder / "discreet.toml").write_text(TOML)
    lines = ["age,income,score,day,ward,town"]
    for i in range(300):
        day = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        ward, income = rng.choice("AAAAABC"), rng.randint(0, 90_000)
        score = i if i < SCORED else ""
        town = "here" if i % 9 else "there"
        lines.append(f"{rng.randint(0, 60)},{income},{score},{day},{ward},{town}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    with open_catalog(folder / "discreet.toml") as opened:
        yield opened


def doors(answer: Answer, curator, sql: str) -> dict[str, str]:
    """Return what each door shows of an answer."""
    outputs = curator.columns(sql)
    wired = tuple(WireColumn(each.name, TEXT) for each in outputs)
    wire = pg_result(answer, outputs, wired, errors=False, notices=True)
    kept = Answer.from_json(json.loads(json.dumps(answer.to_json())))
    return {
        "terminal": answer_words(answer),
        "notebook": answer._repr_html_(),
        "csv": answer.to_csv(),
        "arrow": str(answer.to_arrow().to_pydict()),
        "pandas": answer.to_pandas().to_csv(),
        "json": json.dumps(answer.to_json(), ensure_ascii=False),
        "client": repr(kept),
        "postgresql": "\n".join(wire.notices),
    }


def bare_cells(answer: Answer, curator, sql: str, but: str = "") -> list[str]:
    """Return the cells of noisy columns of which some door says no error; `but` is one computed of counts."""
    found = []
    shown = doors(answer, curator, sql)
    for i, output in enumerate(curator.columns(sql)):
        if output.noisy and i not in answer.noisy:
            found.append(f"{output.name} is not called noisy")
    for r, row in enumerate(answer.rows):
        for i in (i for i in answer.noisy if answer.columns[i] != but):
            rank = answer.ranks[r][i] if answer.ranks else None
            interval = answer.intervals[r][i]
            if rank is not None:
                missing = [door for door, text in shown.items() if rank.words not in text]
                found += [
                    f"{answer.columns[i]}: '{rank.words}' is not in {each}" for each in missing[:1]
                ]
            elif interval is None and row[i] is not None:
                found.append(f"{answer.columns[i]} = {row[i]} has no error")
    return found


@pytest.mark.parametrize("form", FORMS)
def test_nothing_that_is_chosen_comes_without_its_error(curator, form):
    every = (*CHOSEN, *MADE)
    for x in (
        every if FULL or form == FORMS[0] else (every[FORMS.index(form)], "MEDIAN(age)", MADE[2])
    ):
        sql = form.format(x=x)
        answer = curator.query(sql, epsilon="0.7")
        x_column = answer.columns.index("x")
        cells = [row[x_column] for row in answer.ranks]
        assert len(cells) == len(answer.rows), sql
        assert all(cells), sql
        assert bare_cells(answer, curator, sql, but="s") == [], sql
        for rank in cells:
            assert rank.rows is None or rank.shown <= rank.rows
            assert rank.too_noisy is (None if rank.rows is None else 4 * rank.error > rank.rows)


@pytest.mark.parametrize("sql", MODES)
def test_the_most_frequent_value_comes_with_its_error(curator, sql):
    answer = curator.query(sql, epsilon="0.7")
    ranks = [row[answer.columns.index("x")] for row in answer.ranks]
    assert [rank.largest for rank in ranks] == [True]
    assert bare_cells(answer, curator, sql) == []


def test_the_largest_group_comes_with_a_note(curator):
    sql = "SELECT ward FROM t GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1"
    answer = curator.query(sql, epsilon="0.7")
    again = curator.query(
        "SELECT ward AS w FROM t GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1", epsilon="0.7"
    )
    for each in (answer, again):
        said = [note for note in each.provenance.notes if "behind the most frequent" in note]
        assert len(said) == 1
        assert said[0] in answer_words(each)
        assert bare_cells(each, curator, sql) == []
        assert each.ranks[0][0].words in str(each)


@pytest.mark.parametrize(
    ("order", "beyond"), [("COUNT(*) DESC", "more"), ("2 * COUNT(age)", "fewer")]
)
def test_groups_that_noise_chose_come_with_the_error_of_that_choice(curator, order, beyond):
    sql = f"SELECT ward FROM t GROUP BY ward ORDER BY {order} LIMIT 2"
    first = curator.query(sql, epsilon="0.5", fresh=True)
    again = curator.query(sql.replace("SELECT ward", "SELECT ward AS w"), epsilon="0.5")
    curator.query(f"SELECT ward, {order.split(' DESC')[0]} AS n FROM t GROUP BY ward", epsilon=2)
    implied = curator.query(sql, epsilon="0.25")
    for each in (first, again, implied):
        assert bare_cells(each, curator, sql) == []
        for (rank,) in each.ranks:
            assert rank.words.startswith("groups left out have at most ")
            assert rank.words.endswith(f" {beyond}")
            assert rank.words in str(each)
    assert again.bill.free
    assert implied.bill.free


@pytest.mark.parametrize(
    "rest", ["ORDER BY SUM(age) DESC LIMIT 2", "HAVING COUNT(*) > 9", "ORDER BY AVG(age) LIMIT 1"]
)
def test_where_nothing_is_known_of_the_choice_the_answer_says_so(curator, rest):
    answer = curator.query(f"SELECT ward FROM t GROUP BY ward {rest}", epsilon="0.5", fresh=True)
    assert any("nothing is known of how far" in note for note in answer.provenance.notes)


STEP = "WITH k AS (SELECT ward, COUNT(*) AS n, MEDIAN(age) AS m FROM t GROUP BY ward) "


@pytest.mark.parametrize(
    ("step", "known"),
    [
        ("SELECT ward FROM k ORDER BY m DESC LIMIT 1", False),
        ("SELECT ward FROM k ORDER BY n DESC LIMIT 1", False),
        ("SELECT ward FROM k WHERE m > 30", False),
        ("SELECT ward FROM k QUALIFY RANK() OVER (ORDER BY n DESC) = 1", False),
        ("SELECT ward, n FROM k ORDER BY n DESC LIMIT 1", True),
        ("SELECT ward, m FROM k WHERE n > 50", True),
    ],
)
def test_steps_that_show_no_error_say_that_nothing_is_known_of_the_choice(curator, step, known):
    notes = curator.query(STEP + step, epsilon="0.5", fresh=True).provenance.notes
    assert any("nothing is known of how far" in note for note in notes) is not known
    assert any("each ± is made wide enough" in note for note in notes) is known


def test_keys_that_keys_decide_are_exact(curator):
    for rest in ("ORDER BY ward LIMIT 2", "HAVING ward <> 'B'", "ORDER BY COUNT(*) LIMIT 3"):
        answer = curator.query(f"SELECT ward FROM t GROUP BY ward {rest}", epsilon="0.5")
        assert answer.ranks == ()
        assert not answer.noisy


@pytest.mark.parametrize(
    ("x", "epsilon", "words"),
    [
        ("MEDIAN(age)", "0.01", "too noisy to use"),
        ("MEDIAN(age)", "50", "rank ± 1 of"),
        ("MEDIAN(income)", "50", "rank of its range ± 1 of"),
        ("AVG(age) - MEDIAN(age)", "50", "computed from a value with rank ± 1 of"),
    ],
)
def test_a_count_in_the_answer_says_whether_it_is_any_use(curator, x, epsilon, words):
    """About 300 rows, counted with noise of at most 600."""
    answer = curator.query(f"SELECT COUNT(*) AS n, {x} AS x FROM t", epsilon=epsilon, fresh=True)
    rank = answer.ranks[0][1]
    assert rank.words.startswith(words)
    assert rank.shown <= rank.rows
    assert rank.rows == max(answer.rows[0][0], 0)


def test_more_ranks_than_rows_are_never_told():
    said = RankError(1109, 1000)
    assert said.words == "too noisy to use: rank ± 1,000 of 1,000 rows"
    assert RankError.from_json(json.loads(json.dumps(said.to_json()))).shown == 1000
    assert RankError(250, 1000).words == "rank ± 250 of 1,000 rows"
    assert RankError(251, 1000).words.startswith("too noisy to use")
    assert RankError(1, None).words == "rank ± 1 row, number of rows unknown"
    assert RankError(7, 0).words == "too noisy to use: rank ± 0 of 0 rows"
    assert RankError(None, 9).words == "rank error not kept"
    assert worst([], computed=True) is None
    assert worst([said, RankError(2, 1000)], computed=False) == said


@pytest.mark.parametrize("rows", range(14))
def test_an_error_that_was_written_is_read_as_it_was_told(rows):
    """Also of no rows, where the error that is shown is 0 (an answer is kept as JSON before anybody sees it)."""
    for error, largest, computed in product(range(1, 60), (False, True), (False, True)):
        said = RankError(error, rows, largest=largest, computed=computed)
        read = RankError.from_json(json.loads(json.dumps(said.to_json())))
        assert (read.words, read.too_noisy) == (said.words, said.too_noisy)
        assert read.to_json() == said.to_json()
        assert said.too_noisy is (4 * error > rows)


def test_of_no_rows_nothing_is_known(curator):
    """Of 300 rows none has an impossible age, so about half of the noisy counts are at most 0."""
    sql = "SELECT ward, MEDIAN(age) AS x, COUNT(*) AS n FROM t WHERE score = 60 GROUP BY ward"
    seen = 0
    for _ in range(20):
        answer = curator.query(sql, epsilon="0.1", fresh=True)
        again = Answer.from_json(json.loads(json.dumps(answer.to_json())))
        for each in (answer, again):
            for (*_, n), (_, rank, _) in zip(each.rows, each.ranks, strict=True):
                seen += n <= 0
                assert rank.words.startswith("too noisy to use"), (n, rank)
    assert seen


KNOWN = (
    ("SELECT MEDIAN(score) AS x, COUNT(score) AS n FROM t", SCORED),
    ("SELECT MEDIAN(score) AS x, AVG(score) AS n, COUNT(*) AS m FROM t", SCORED),
    ("SELECT MEDIAN(score) AS x, COUNT(*) AS n FROM t WHERE score IS NOT NULL", SCORED),
    ("SELECT MEDIAN(score) AS x, COUNT(*) AS n FROM t WHERE ward <> 'Z' AND score >= 5", 15),
    ("SELECT MEDIAN(score) AS x, COUNT(*) AS n FROM t WHERE score IN (1, 2, 3)", 3),
    ("SELECT MEDIAN(s) AS x, COUNT(*) AS n FROM (SELECT score AS s FROM t WHERE score < 9) q", 9),
    ("SELECT MEDIAN(age) AS x, COUNT(*) AS n FROM t", 300),
    ("SELECT MEDIAN(age) AS x, COUNT(*) AS n FROM t WHERE score < 9 OR score IS NULL", 289),
)
UNKNOWN = (
    "SELECT MEDIAN(score) AS x, COUNT(*) AS n FROM t",
    "SELECT MEDIAN(score) AS x, COUNT(*) AS n, AVG(age) AS a FROM t",
    "SELECT MEDIAN(score) AS x, COUNT(*) AS n FROM t WHERE age >= 0",
    "SELECT MEDIAN(score) AS x, COUNT(*) AS n FROM t WHERE score < 9 OR age >= 0",
    "SELECT MEDIAN(s) AS x, COUNT(*) AS n FROM (SELECT score AS s FROM t) q",
    "SELECT MEDIAN(score) FILTER (WHERE score > 3) AS x, COUNT(*) AS n FROM t",
)


def rows_told(curator, sql):
    """Return the number of rows that is told of the value x, where there is next to no noise."""
    answer = curator.query(sql, epsilon=200)
    return answer.ranks[0][answer.columns.index("x")].rows


@pytest.mark.parametrize(("sql", "rows"), KNOWN)
def test_the_number_of_rows_is_that_of_the_values(curator, sql, rows):
    assert rows_told(curator, sql) == rows


@pytest.mark.parametrize("sql", UNKNOWN)
def test_a_count_of_all_rows_does_not_tell_how_many_have_a_value(curator, sql):
    assert rows_told(curator, sql) is None


def test_a_count_of_all_rows_that_is_taken_for_it_is_caught(curator, monkeypatch):
    """The broken twin: no column is ever NULL."""
    monkeypatch.setattr(
        ranking, "present_columns", lambda source: {f.name for f in fields_of(source)}
    )
    assert rows_told(curator, f"{UNKNOWN[0]} WHERE ward <> 'C'") > SCORED


def test_a_group_of_a_named_size_is_told_alike(curator):
    sql = "SELECT MEDIAN(age) AS x FROM t"
    said = curator.explain(sql, epsilon="0.01", group_size=300)
    assert "x too noisy to use: rank ± 300 of 300 rows" in str(said)
    assert said.to_json()["stated"]["words"]["x"] in str(said)
    assert "x rank ± " in str(curator.explain(sql, epsilon=5, group_size=300))


def test_a_value_that_noise_selects_is_said_to_be_off_by_more(curator):
    every = "SELECT ward, MEDIAN(age) AS x FROM t GROUP BY ward"
    first = curator.query(every, epsilon=1).ranks[0][1]
    best = curator.query(f"{every} ORDER BY x LIMIT 1", epsilon=1).ranks[0][1]
    step = curator.query(f"SELECT x FROM ({every}) AS s ORDER BY x LIMIT 1", epsilon=1).ranks[0][0]
    assert best.error == step.error
    assert best.error - first.error == pytest.approx(math.log(3), abs=1)


def test_an_answer_that_is_shown_again_keeps_its_error(curator):
    sql = "SELECT ward, COUNT(*) AS n, MEDIAN(age) AS x FROM t WHERE age > 3 GROUP BY ward"
    first = curator.query(sql, epsilon=1)
    again = curator.query(sql.replace("AS x", "AS y") + " ORDER BY ward DESC", epsilon="0.5")
    assert again.bill.free
    assert again.ranks == first.ranks[::-1]


def test_an_error_that_is_not_told_is_found(curator, monkeypatch):
    """The broken twin: no ranks."""
    monkeypatch.setattr(finishing, "rank_errors", lambda *_: ())
    for sql in (ASKED[0], MODES[0], ASKED[len(FORMS) + 5]):
        answer = curator.query(sql, epsilon="0.3", fresh=True)
        assert bare_cells(answer, curator, sql), sql
