"""Error bars of cells that are shown because of their own noise: the largest, those above a limit, those that pass.

ALPHA = 1e-9 for each assertion: too few hits fail. Each kind of selection has its broken twin, bars that know of no
selection, which fails the same assertion. docs/notes/0106 has the argument.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from asking import curator
from asking import people as people_table
from curator_kit import catalog_of, planned
from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.release.answer import finish
from discreet.ask.release.selection import (
    AS_THEY_ARE,
    Choices,
    rank_errors,
    selected_before,
    without_selection,
)
from discreet.ask.sql.parse import read_checked
from discreet.ask.sql.post_processing.lineage import selection_of
from discreet.ask.sql.post_processing.split import split
from discreet.ask.sql.post_processing.steps import NO_STEPS, LaterSelection
from discreet.privacy.kernel.look import ExactResults, noised
from discreet.privacy.noise.error_bars import passed_ends
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing import SeededRng, assert_frequency
from sittings import FULL

CATALOGS = {
    "laplace": catalog_of(Path(), delta="0"),
    "gaussian": catalog_of(Path(), delta="1e-6"),
}
DRAWS = 40
FROM = "FROM people WHERE balance BETWEEN 1 AND {m} GROUP BY balance"
PUBLIC = {
    "the largest": "SELECT balance, COUNT(*) AS n {rows} ORDER BY n DESC LIMIT 1",
    "the three least": "SELECT balance, COUNT(*) AS n {rows} ORDER BY n LIMIT 3",
    "all but the first": "SELECT balance, COUNT(*) AS n {rows} ORDER BY n OFFSET 1",
    "above a limit": "SELECT balance, COUNT(*) AS n {rows} HAVING COUNT(*) > 1000",
    "a multiple": "SELECT balance, 5 - 2 * COUNT(*) AS n {rows} ORDER BY n LIMIT 1",
    "a sum of two": "SELECT balance, COUNT(*) + SUM(age) AS n {rows} ORDER BY n DESC LIMIT 1",
    "a quotient": "SELECT balance, SUM(age) / COUNT(*) AS n {rows} ORDER BY n DESC LIMIT 1",
    "a mean": "SELECT balance, AVG(age) AS n {rows} ORDER BY n DESC LIMIT 1",
    "a spread": "SELECT balance, STDDEV(age) AS n {rows} ORDER BY n DESC LIMIT 1",
    "neither": "SELECT balance, COUNT(*) * COUNT(*) AS n {rows} ORDER BY n DESC LIMIT 1",
    "another column": "SELECT balance, SUM(age) AS n {rows} ORDER BY COUNT(*) DESC LIMIT 1",
    "a shared one": "SELECT balance, SUM(age) AS n {rows} ORDER BY AVG(age) DESC, n LIMIT 1",
}
UNAFFECTED = {"another column"}
ONE = {"rows": 1000, "present": 1000, "sum": 38_000, "centred": -44_000, "squares": 2_500_000}


def exact_results(question, m, *, unequal):
    """Return the same exact numbers in all of m groups, or numbers that grow slowly from group to group."""
    grown = [Fraction(100 + (i if unequal else 0), 100) for i in range(m)]
    measures = {
        name: [int(ONE[measure.kind.value] * g) for g in grown]
        for name, measure in question.measured.measures
    }
    return ExactResults(tuple((i + 1,) for i in range(m)), measures, {})


def shown_within(kind, m, law, *, unequal=False, draws=DRAWS):
    """Return in how many draws all shown cells were inside their bars, and how many draws there were."""
    sql = PUBLIC[kind].format(rows=FROM.format(m=m))
    plan = planned(sql, CATALOGS[law]).plan
    question, laws = plan.question, plan.mechanisms.laws
    exact = exact_results(question, m, unequal=unequal)
    rng = SeededRng(20261119)
    value = question.outputs[1][1]
    truths = {
        i + 1: float(evaluate(value, {n: found[i] for n, found in exact.measures.items()}))
        for i in range(m)
    }
    good = 0
    for _ in range(draws):
        table = finish(noised(exact, plan.mechanisms, rng), question, laws)
        ends = [
            (truths[row[0]], pair[1]) for row, pair in zip(table.rows, table.intervals, strict=True)
        ]
        good += all(low - 1e-6 <= truth <= high + 1e-6 for truth, (low, high) in ends)
    return good, draws


@pytest.mark.parametrize("kind", PUBLIC)
@pytest.mark.parametrize("m", [2, 30, 300])
def test_cells_that_noise_selects_are_inside_their_bars(kind, m):
    assert_frequency(*shown_within(kind, m, "laplace"), 0.95, 1.0)


@pytest.mark.parametrize("law", CATALOGS)
@pytest.mark.parametrize("m", [2, 30, 300])
def test_the_largest_is_so_by_either_law(m, law):
    assert_frequency(*shown_within("the largest", m, law, draws=200 if FULL else 80), 0.95, 1.0)


@pytest.mark.parametrize("kind", ["the largest", "above a limit", "a mean"])
def test_also_where_groups_are_not_equal(kind):
    assert_frequency(*shown_within(kind, 30, "laplace", unequal=True), 0.95, 1.0)


@pytest.mark.parametrize("kind", [kind for kind in PUBLIC if kind not in UNAFFECTED])
def test_bars_that_know_of_no_selection_are_caught(kind, monkeypatch):
    monkeypatch.setattr("discreet.ask.release.answer.selected_in", lambda *_: AS_THEY_ARE)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*shown_within(kind, 300, "laplace"), 0.95, 1.0)


@pytest.mark.parametrize("kind", UNAFFECTED)
def test_noise_that_selects_nothing_keeps_its_bars(kind):
    plain = planned(f"SELECT balance, SUM(age) AS n {FROM.format(m=300)}", CATALOGS["laplace"]).plan
    chosen = planned(PUBLIC[kind].format(rows=FROM.format(m=300)), CATALOGS["laplace"]).plan
    (name,) = [n for n, m in chosen.question.measured.measures if m.kind.value == "sum"]
    table = finish(
        noised(exact_results(chosen.question, 300, unequal=False), chosen.mechanisms, SeededRng(1)),
        chosen.question,
        chosen.mechanisms.laws,
    )
    assert table.error95[0][1] == chosen.mechanisms.laws[name].half_width("0.95")
    assert not table.notes
    assert plain.question.outputs  # the same question without a selection


INSIDE = {
    "by CASE": "CASE WHEN COUNT(*) > 1003 THEN COUNT(*) END",
    "by IF": "IF(COUNT(*) < 997, COUNT(*), 0)",
    "by NULLIF": "NULLIF(COUNT(*), 1000) + 0",
    "by a sign": "CASE WHEN 1004 <= COUNT(*) THEN 1 ELSE -1 END * SUM(age)",
    "of a mean": "CASE WHEN AVG(age) > 38.2 THEN AVG(age) END",
    "of another": "CASE WHEN SUM(age) > 38300 THEN SUM(age) / COUNT(*) ELSE 0 END",
    "of two": "CASE WHEN COUNT(*) > 1003 AND SUM(age) > 38100 THEN COUNT(*) + SUM(age) END",
    "nested": "CASE WHEN COUNT(*) > 998 THEN CASE WHEN COUNT(*) > 1003 THEN 2 * COUNT(*) END END",
    "by a clamp": "GREATEST(COUNT(*), 1000)",
    "of a clamp": "CASE WHEN LEAST(COUNT(*), 1004) = 1004 THEN COUNT(*) END",
    "by a root": "SQRT(COUNT(*) - 1000)",
    "in a quotient": "CASE WHEN COUNT(*) > 1003 THEN SUM(age) END / NULLIF(COUNT(*), 0)",
}
"""What a cell shows or hides by its own noise; all groups have 1,000 rows."""
CAUGHT = {"by CASE", "by IF", "by a sign", "of a mean", "nested", "of a clamp", "by a clamp"}


def inside_within(inside, m, law, *, draws=DRAWS, seed=20261119):
    """Return in how many draws all shown cells were inside their bars, in how many draws, and of how many branches.

    Inside is the noise-free value of the cell; where it has none, or another one by a branch that noise chose, also
    what that branch is worth without noise.
    """
    sql = f"SELECT balance, {inside} AS n {FROM.format(m=m)}"
    plan = planned(sql, CATALOGS[law]).plan
    question, laws = plan.question, plan.mechanisms.laws
    exact = exact_results(question, m, unequal=False)
    truth = {name: found[0] for name, found in exact.measures.items()}
    value, rng, good, shown = question.outputs[1][1], SeededRng(seed), 0, set()
    for _ in range(draws):
        noisy = noised(exact, plan.mechanisms, rng)
        table = finish(noisy, question, laws)
        inside_all = True
        for i, (row, (_, ends)) in enumerate(zip(table.rows, table.intervals, strict=True)):
            branch = taken(value, {name: found[i] for name, found in noisy.measures.items()})
            shown.add(None if row[1] is None else branch)
            if row[1] is None or ends is None:
                continue
            wanted = {evaluate(value, truth), evaluate(branch, truth)} - {None}
            inside_all &= all(ends[0] - 1e-6 <= float(each) <= ends[1] + 1e-6 for each in wanted)
        good += inside_all
    return good, draws, len(shown)


def taken(expr, row):
    """Return the expression with the value of the branch that noise chose in place of each CASE."""
    if isinstance(expr, e.Case):
        chosen = (value for condition, value in expr.branches if evaluate(condition, row) is True)
        return taken(next(chosen, expr.otherwise), row)
    return e.rebuilt(expr, lambda part: taken(part, row))


@pytest.mark.parametrize("kind", INSIDE)
@pytest.mark.parametrize("m", [2, 30, 300])
def test_what_noise_shows_inside_a_cell_is_inside_its_bar(kind, m):
    good, draws, branches = inside_within(INSIDE[kind], m, "laplace")
    assert branches > 1 or m == 2 or "clamp" in kind, "nothing was selected"
    assert_frequency(good, draws, 0.95, 1.0)


@pytest.mark.parametrize("m", [2, 30, 300])
def test_so_it_is_by_either_law(m):
    good, draws, _ = inside_within(INSIDE["by CASE"], m, "gaussian", draws=100 if FULL else DRAWS)
    assert_frequency(good, draws, 0.95, 1.0)


@pytest.mark.parametrize("kind", sorted(CAUGHT))
def test_bars_that_know_of_no_branch_are_caught(kind, monkeypatch):
    monkeypatch.setattr("discreet.ask.release.selection.selects_inside", lambda *_: False)
    good, draws, _ = inside_within(INSIDE[kind], 300, "laplace")
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(good, draws, 0.95, 1.0)


def some_expression(rng, depth=3):
    """Return a random expression of counts, sums and means with conditions on them."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(["COUNT(*)", "COUNT(*)", "SUM(age)", "AVG(age)", "0", "7"])
    one, two = (some_expression(rng, depth - 1) for _ in range(2))
    limit, operator = rng.randint(995, 1006), rng.choice("<>")
    return rng.choice(
        [
            f"CASE WHEN COUNT(*) {operator} {limit} THEN {one} END",
            f"CASE WHEN COUNT(*) {operator} {limit} THEN {one} ELSE {two} END",
            f"CASE WHEN SUM(age) {operator} {38 * limit} THEN {one} END",
            f"IF({one} {operator} {two}, {one}, NULL)",
            f"NULLIF({one}, {limit})",
            f"GREATEST({one}, {limit})",
            f"LEAST({one}, {two})",
            f"({one} {rng.choice('+-')} {two})",
            f"SQRT(COUNT(*) - {limit})",
            f"(2 * {one})",
        ]
    )


@pytest.mark.parametrize("seed", range(30 if FULL else 8))
def test_any_expression_over_noisy_cells_is_inside_its_bar(seed):
    """Where all cells take the same branch nothing is selected, and each bar holds by itself."""
    inside = some_expression(random.Random(seed))
    for m in (2, 30, 300):
        good, draws, branches = inside_within(inside, m, "laplace", draws=20, seed=seed)
        if branches > 1:
            assert_frequency(good, draws, 0.95, 1.0)


def test_a_mean_and_a_guarded_quotient_keep_their_bars():
    for x in (
        "AVG(age)",
        "STDDEV(age)",
        "COUNT(*)",
        "SUM(age) / NULLIF(COUNT(*), 0)",
        "COALESCE(COUNT(*), 0)",
        "CASE WHEN balance > 3 THEN COUNT(*) ELSE 0 END",
    ):
        plan = planned(f"SELECT balance, {x} AS n {FROM.format(m=300)}", CATALOGS["laplace"]).plan
        exact = exact_results(plan.question, 300, unequal=False)
        noisy = noised(exact, plan.mechanisms, SeededRng(1))
        assert not finish(noisy, plan.question, plan.mechanisms.laws).notes, x


def test_a_cell_that_noise_selects_comes_with_a_note():
    plan = planned(
        f"SELECT balance, {INSIDE['by CASE']} AS n {FROM.format(m=300)}", CATALOGS["laplace"]
    ).plan
    exact = exact_results(plan.question, 300, unequal=False)
    noisy = noised(exact, plan.mechanisms, SeededRng(1))
    (note,) = finish(noisy, plan.question, plan.mechanisms.laws).notes
    assert note.startswith("Noisy values decide what is shown in 'n', in 300 rows")
    assert without_selection([note]) == ()


def test_a_chosen_value_that_a_cell_shows_by_itself_is_off_by_more():
    def error(x):
        plan = planned(f"SELECT balance, {x} AS n {FROM.format(m=300)}", CATALOGS["laplace"]).plan
        selected = selected_before(plan.question, plan.mechanisms.laws)
        found = rank_errors(plan.question, [{}], Choices.of(plan.mechanisms), selected)
        return found[0][1].error

    every, some = error("MEDIAN(age)"), error("CASE WHEN MEDIAN(age) > 40 THEN MEDIAN(age) END")
    assert some - every == pytest.approx(math.log(300), abs=1)
    assert error("CASE WHEN balance > 3 THEN MEDIAN(age) END") == every


TOWNS = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
PRIVATE = {
    "all that pass": TOWNS,
    "the largest that passes": f"{TOWNS} ORDER BY n DESC LIMIT 1",
    "the least that passes": f"{TOWNS} ORDER BY n LIMIT 1",
    "those above a limit": f"{TOWNS} HAVING COUNT(*) > {{limit}}",
    "a quotient": TOWNS.replace("COUNT(*)", "SUM(age) / COUNT(*)"),
    "those that show it": TOWNS.replace(
        "COUNT(*)", "CASE WHEN COUNT(*) > {limit} THEN COUNT(*) END"
    ),
}

RARE = {(kind, -3, m) for kind in ("those above a limit", "those that show it") for m in (2, 30)}
"""Where four scales of noise must come together for a cell to be shown, so that perhaps none is."""
FEWEST = 15
"""With so many trials a test that finds a third of them inside fails at 1e-9."""


def private_within(kind, m, law, distance):
    """Return how often a shown cell was inside its bar: each cell by itself, or all of one answer where it selects.

    The groups have as many rows as the threshold and `distance` scales of the noise, so that what is shown is there
    because its noise was large, or not. A limit that is asked for is one scale above both the threshold and the groups.
    """
    catalog = CATALOGS[law] if law == "gaussian" else catalog_of(Path(), delta="1e-6")

    def plan_with(limit):
        return planned(PRIVATE[kind].format(limit=limit), catalog, epsilon="1").plan

    usual = plan_with(90)
    threshold = usual.mechanisms.threshold
    scale = usual.mechanisms.laws[usual.question.measured.units].scale_shown
    rows = max(1, int(threshold + distance * scale))
    plan = plan_with(int(max(rows, threshold) + scale))
    question, laws = plan.question, plan.mechanisms.laws
    units = question.measured.units
    assert plan.mechanisms.threshold == threshold
    exact = ExactResults(
        tuple((f"town {i}",) for i in range(m)),
        {
            name: [rows if name == units else 38 * rows] * m
            for name, _ in question.measured.measures
        },
        {},
    )
    row = {name: found[0] for name, found in exact.measures.items()}
    truth = float(evaluate(taken(question.outputs[1][1], dict.fromkeys(row, 10**9)), row))
    rng, hits, trials = SeededRng(20261119), 0, 0
    for _ in range(max(20, (3_000 if FULL else 600) // m)):
        table = finish(noised(exact, plan.mechanisms, rng), question, laws)
        cells = zip(table.rows, table.intervals, strict=True)
        inside = [low <= truth <= high for (_, n), (_, (low, high)) in cells if n is not None]
        selects = kind not in {"all that pass", "a quotient"}
        hits += (all(inside) and bool(inside)) if selects else sum(inside)
        trials += bool(inside) if selects else len(inside)
    return hits, trials


@pytest.mark.parametrize("kind", PRIVATE)
@pytest.mark.parametrize("distance", [-3, 0, 60])
@pytest.mark.parametrize("m", [2, 30, 300])
def test_groups_that_pass_a_threshold_are_inside_their_bars(kind, m, distance):
    hits, trials = private_within(kind, m, "gaussian", distance)
    if (kind, distance, m) not in RARE:
        assert trials >= FEWEST
    assert_frequency(hits, trials, 0.95, 1.0)


@pytest.mark.parametrize(
    "kind", ["all that pass", "the largest that passes", "those above a limit"]
)
def test_bars_that_know_of_no_threshold_are_caught(kind, monkeypatch):
    monkeypatch.setattr("discreet.ask.release.answer.selected_in", lambda *_: AS_THEY_ARE)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*private_within(kind, 300, "gaussian", -2), 0.95, 1.0)


@pytest.mark.parametrize(
    "law", [LaplaceLaw.of(1), LaplaceLaw.of(40), GaussianLaw.of(4), GaussianLaw.of(1600)], ids=str
)
@pytest.mark.parametrize("failure", [Fraction(1, 20), Fraction(1, 6000)])
def test_ends_hold_what_passed_by_the_law_itself(law, failure):
    """For every truth: how often an end lies on the wrong side of it, added up over all that passes."""
    scale = law.scale_shown
    threshold = int(25 * scale)
    shown = threshold + np.arange(int(60 * scale) + 60)
    low, high = passed_ends(shown, law, threshold, failure)
    assert min(low) >= 0
    assert (low <= shown).all()
    assert (np.diff(low) >= 0).all()
    worst = 0.0
    for distance in (-25, -24, -12, -3, -1, 0, 1, 3, 5, 20):
        truth = max(0, threshold + int(distance * scale))
        mass = -np.diff(law.survival(np.append(shown, shown[-1] + 1) - float(truth)))
        passing = float(law.survival(np.array([float(threshold - truth)]))[0])
        missed = float(mass[(low > truth) | (high < truth)].sum()) / passing
        assert missed <= float(failure), truth
        worst = max(worst, missed)
    assert worst >= float(failure) / 8, "needlessly wide"


def test_far_above_the_threshold_the_ends_are_those_of_the_law_alone():
    low, high = passed_ends(np.array([10**6]), LaplaceLaw.of(10), 200, Fraction(1, 20))
    assert (low[0], high[0]) == (10**6 - 30, 10**6 + 30)


STEPS = {
    "the largest": "SELECT * FROM t ORDER BY n DESC LIMIT 1",
    "equal to the largest": "SELECT * FROM t WHERE n = (SELECT MAX(n) FROM t)",
    "above a limit": "SELECT * FROM (SELECT balance, n AS found FROM t) AS u WHERE found > 12",
    "by rank": "SELECT balance, n FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) = 1",
    "by an end": "SELECT balance, n FROM t WHERE low > 9",
    "an end in a cell": "SELECT balance, CASE WHEN n > 12 THEN low END AS low FROM t",
}
WITH = "WITH t AS (SELECT balance, COUNT(*) AS n{low} FROM people WHERE balance > -50 GROUP BY balance) "


def asked_within(tmp_path, kind, *, epsilon="1"):
    """Return in how many of several answers all shown cells were inside their bars; 100 groups of 10 rows."""
    balances = [b for b in range(-49, 51) for _ in range(10)]
    table = people_table(1000, 0, balance=balances)
    low = ", DP_INTERVAL_LOW(n) AS low" if "an end" in kind else ""
    asked = curator(tmp_path, tables={"people": table}, epsilon="1000")
    good = 0
    for _ in range(25):
        answer = asked.query(WITH.format(low=low) + STEPS[kind], epsilon=epsilon, fresh=True)
        if kind == "an end in a cell":
            good += all(low is None or low <= 10 for _, low in answer.rows)
        else:
            good += all(ends[1][0] <= 10 <= ends[1][1] for ends in answer.intervals)
    return good, 25


@pytest.mark.parametrize("kind", STEPS)
def test_cells_that_later_steps_select_are_inside_their_bars(tmp_path, kind):
    assert_frequency(*asked_within(tmp_path, kind), 0.95, 1.0)


@pytest.mark.parametrize(
    "kind", ["the largest", "equal to the largest", "above a limit", "by rank", "an end in a cell"]
)
def test_steps_whose_selection_is_not_told_are_caught(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("discreet.ask.sql.post_processing.lineage.most_rows_kept", lambda *_: None)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*asked_within(tmp_path, kind), 0.95, 1.0)


QUERIES = 40
BESIDE = {
    "a later step": ("SELECT COUNT(*) AS n FROM people", LaterSelection(0, QUERIES)),
    "each of them": (
        "SELECT COUNT(*) AS n FROM people HAVING COUNT(*) > 1002",
        LaterSelection(None, QUERIES),
    ),
    "each of its groups": (
        f"SELECT balance, COUNT(*) AS n {FROM.format(m=3)} HAVING COUNT(*) > 1002",
        LaterSelection(None, QUERIES),
    ),
    "inside their cells": (
        "SELECT CASE WHEN COUNT(*) > 1002 THEN COUNT(*) END AS n FROM people",
        LaterSelection(None, QUERIES),
    ),
}
"""Queries that a UNION shows in one column, and what selects."""


def union_within(kind, *, known=True):
    """Return in how many unions of 40 queries all cells above a limit are inside their bars; all have 1,000 rows."""
    sql, later = BESIDE[kind]
    plan = planned(sql, CATALOGS["laplace"]).plan
    question, laws = plan.question, plan.mechanisms.laws
    m = question.groups.count
    exact = replace(exact_results(question, m, unequal=False), groups=tuple(question.groups))
    rng, good = SeededRng(20261119), 0
    for _ in range(DRAWS):
        for_all = True
        for _ in range(QUERIES):
            noisy = noised(exact, plan.mechanisms, rng)
            table = finish(noisy, question, laws, later if known else NO_STEPS)
            cells = zip(table.rows, table.intervals, strict=True)
            shown = [(row[-1], ends[-1]) for row, ends in cells if row[-1] is not None]
            for_all &= all(low <= 1000 <= high for n, (low, high) in shown if n > 1002)
        good += for_all
    return good, DRAWS


@pytest.mark.parametrize("kind", BESIDE)
def test_cells_of_many_queries_in_one_column_are_inside_their_bars(kind):
    assert_frequency(*union_within(kind), 0.95, 1.0)


@pytest.mark.parametrize("kind", BESIDE)
def test_queries_that_know_of_none_beside_them_are_caught(kind):
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*union_within(kind, known=False), 0.95, 1.0)


@pytest.mark.parametrize(
    ("step", "several"),
    [("SELECT lo, n FROM u ORDER BY n DESC LIMIT 1", 5), ("SELECT lo, n FROM u", 1)],
)
@pytest.mark.parametrize("groups", [1, 3])
def test_a_union_takes_its_errors_from_all_of_its_queries(tmp_path, step, several, groups):
    each = "SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo FROM people WHERE age < {i}"
    if groups > 1:
        each += " AND balance BETWEEN 1 AND 3 GROUP BY balance"
    union = " UNION ALL ".join(each.format(i=i) for i in range(40, 45))
    asked = curator(tmp_path, tables={"people": people_table(50, 50)}, epsilon="1000")
    low, n = asked.query(f"WITH u AS ({union}) {step}", epsilon="5", fresh=True).rows[0]
    failure = Fraction(1, 20) / (several * groups if several > 1 else 1)
    assert n - low == LaplaceLaw.of(1).half_width(1 - failure)


COLUMNS = 40
COUNTED = ", ".join(
    f"COUNT(*) FILTER (WHERE balance = {i}) AS n{i}, DP_INTERVAL_LOW(n{i}) AS lo{i}"
    for i in range(COLUMNS)
)
ONE_CELL = {
    "GREATEST": f"SELECT GREATEST({', '.join(f'lo{i}' for i in range(COLUMNS))}) AS lo FROM k",
    "UNION": " UNION ALL ".join(f"SELECT lo{i} AS lo, n{i} AS n FROM k" for i in range(COLUMNS))
    + " ORDER BY n DESC LIMIT 1",
}
"""Columns of one query of which a step shows one cell."""


def one_cell_within(kind, *, known=True):
    """Return in how many answers the largest of 40 counts, all of 1,000 rows, is within its error bar."""
    sql = f"WITH k AS (SELECT {COUNTED} FROM people) {ONE_CELL[kind]}"
    program = split(read_checked(sql), CATALOGS["laplace"])
    later = selection_of(program, 0) if known else LaterSelection(0)
    plan = planned(program.parts[0].sql(dialect="duckdb"), CATALOGS["laplace"]).plan
    question, laws = plan.question, plan.mechanisms.laws
    exact = replace(exact_results(question, 1, unequal=False), groups=tuple(question.groups))
    exact = replace(exact, measures={name: [1000] for name in exact.measures})
    rng, good = SeededRng(20261119), 0
    for _ in range(DRAWS):
        table = finish(noised(exact, plan.mechanisms, rng), question, laws, later)
        low, high = max(zip(table.rows[0], table.intervals[0], strict=True))[1]
        good += low <= 1000 <= high
    return good, DRAWS


@pytest.mark.parametrize("kind", ONE_CELL)
def test_one_of_many_columns_of_a_query_is_inside_its_bar(kind):
    assert_frequency(*one_cell_within(kind), 0.95, 1.0)


@pytest.mark.parametrize("kind", ONE_CELL)
def test_columns_that_know_of_none_beside_them_are_caught(kind):
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*one_cell_within(kind, known=False), 0.95, 1.0)


ENDS_DRAWS = 12
ENDS = (
    "WITH m AS (SELECT balance, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo, DP_INTERVAL_HIGH(n) AS hi "
    "FROM people WHERE balance > -50 GROUP BY balance) SELECT {lo} AS lo, {hi} AS hi FROM m"
)
FIRST_ROW = (
    "(SELECT SUM({0}) FILTER (WHERE r = 1) FROM (SELECT {0}, ROW_NUMBER() OVER () AS r "
    "FROM (SELECT * FROM m ORDER BY {1}) AS a) AS b)"
)
SHOWN = {
    "ARG_MAX": ("ARG_MAX(lo, n)", "ARG_MIN(hi, n)"),
    "MAX": ("MAX(lo)", "MIN(hi)"),
    "a quantile": ("QUANTILE_DISC(lo, 0.99)", "QUANTILE_DISC(hi, 0.01)"),
    "FIRST_VALUE": ("FIRST_VALUE(lo) OVER (ORDER BY n DESC)", "FIRST_VALUE(hi) OVER (ORDER BY n)"),
    "LAST_VALUE": ("LAST_VALUE(lo) OVER (ORDER BY n)", "LAST_VALUE(hi) OVER (ORDER BY n DESC)"),
    "NTH_VALUE": ("NTH_VALUE(lo, 1) OVER (ORDER BY n DESC)", "NTH_VALUE(hi, 1) OVER (ORDER BY n)"),
    "LAG": ("LAG(lo, 99) OVER (ORDER BY n DESC)", "LAG(hi, 99) OVER (ORDER BY n)"),
    "LEAD": ("LEAD(lo, 99) OVER (ORDER BY n)", "LEAD(hi, 99) OVER (ORDER BY n DESC)"),
    "a running mean": ("AVG(lo) OVER (ORDER BY n DESC)", "AVG(hi) OVER (ORDER BY n)"),
    "a quotient": (
        "lo / (RANK() OVER (ORDER BY n DESC) <= 3)::INT",
        "hi / (RANK() OVER (ORDER BY n) <= 3)::INT",
    ),
    "a root": ("lo + SQRT(n - MAX(n) OVER ())", "hi + SQRT(MIN(n) OVER () - n)"),
    "a logarithm": ("lo + 0 * LN(n - 12)", "hi + 0 * LN(8 - n)"),
    "a row number": (FIRST_ROW.format("lo", "n DESC"), FIRST_ROW.format("hi", "n")),
    "a subquery": ("(SELECT lo FROM m ORDER BY n DESC LIMIT 1)", "(SELECT MIN(hi) FROM m)"),
}
"""What shows the end of an interval in some rows only, or that of another row, by noisy values."""


def ends_within(tmp_path, shown):
    """Return in how many of several answers all shown ends lie on their side of the truth; 100 groups of 10 rows."""
    table = people_table(1000, 0, balance=[b for b in range(-49, 51) for _ in range(10)])
    asked = curator(tmp_path, tables={"people": table}, epsilon="1000")
    sql = ENDS.format(lo=shown[0], hi=shown[1])
    good = 0
    for _ in range(ENDS_DRAWS):
        rows = asked.query(sql, epsilon="1", fresh=True).rows
        good += all(
            (low is None or low <= 10) and (high is None or high >= 10) for low, high in rows
        )
    return good, ENDS_DRAWS


@pytest.mark.parametrize("kind", SHOWN)
def test_ends_that_an_expression_selects_are_on_their_side_of_the_truth(tmp_path, kind):
    assert_frequency(*ends_within(tmp_path, SHOWN[kind]), 0.95, 1.0)


@pytest.mark.parametrize("kind", ["ARG_MAX", "MAX", "FIRST_VALUE", "a quotient", "a root"])
def test_expressions_that_are_all_taken_to_pass_are_caught(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("discreet.ask.sql.post_processing.lineage.passes", lambda *_: True)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*ends_within(tmp_path, SHOWN[kind]), 0.95, 1.0)


def test_row_numbers_that_are_taken_for_keys_are_caught(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.ask.sql.post_processing.lineage.follows_rows", lambda _: False)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*ends_within(tmp_path, SHOWN["a row number"]), 0.95, 1.0)


MEDIANS = (
    "WITH k AS (SELECT balance, MEDIAN(age) AS m FROM people WHERE balance > -50 GROUP BY balance) "
)


def medians_within(tmp_path, sql):
    """Return in how many answers no median of 18 rows that are all 50 is further off than its rank error says."""
    table = people_table(1800, 0, balance=[b for b in range(-49, 51) for _ in range(18)])
    table = table.set_column(table.column_names.index("age"), "age", [[50] * 1800])
    asked = curator(tmp_path, tables={"people": table}, epsilon="1000")
    good = 0
    for _ in range(ENDS_DRAWS):
        answer = asked.query(MEDIANS + sql, epsilon="1", fresh=True)
        cells = zip(answer.rows, answer.ranks, strict=True)
        good += all(row[0] == 50 or ranks[0].error >= 9 for row, ranks in cells)
    return good, ENDS_DRAWS


LARGEST = "SELECT MAX(m) AS x FROM k"


def test_the_largest_of_many_medians_is_within_its_rank_error(tmp_path):
    assert_frequency(*medians_within(tmp_path, LARGEST), 0.95, 1.0)


def test_a_largest_median_that_is_taken_for_any_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.ask.sql.post_processing.lineage.passes", lambda *_: True)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*medians_within(tmp_path, LARGEST), 0.95, 1.0)


@pytest.mark.parametrize("limit", [1, 3])
def test_one_of_many_chosen_groups_is_chosen_less_surely(limit):
    """Of 40 choices each may miss with its share, so the error grows by what a union bound of 40 costs."""
    sql = f"SELECT balance {FROM.format(m=30)} ORDER BY COUNT(*) DESC LIMIT {limit}"
    plan = planned(sql, CATALOGS["laplace"]).plan
    question, laws = plan.question, plan.mechanisms.laws
    measures = {name: [1000] * 30 for name, _ in question.measured.measures} or {"m": [1000] * 30}
    exact = ExactResults(tuple((i + 1,) for i in range(30)), measures, {})

    def error(columns):
        noisy = noised(exact, plan.mechanisms, SeededRng(1))
        later = LaterSelection(0, columns)
        return finish(noisy, question, laws, later, Choices.of(plan.mechanisms)).ranks[0][0].error

    epsilon, factor = plan.epsilon.value, 1 if limit == 1 else 2
    grown = factor * math.log(40) / float(epsilon)
    assert error(40) - error(1) >= 0.9 * grown - 2
    assert error(1) > 0


QUANTILES = 40
OF_QUANTILES = {
    "GREATEST": "GREATEST({})",
    "LEAST of GREATEST": "LEAST(GREATEST({}), 90)",
    "a sum": "({}) / 1",
}


def quantiles_within(kind):
    """Return in how many answers a cell made of 40 medians shows none that is further off than its rank error says.

    All rows of each have one value, and there are so few that any other value is off by more than is said.
    """
    medians = [f"MEDIAN(age) FILTER (WHERE balance = {i})" for i in range(QUANTILES)]
    joined = (" + " if kind == "a sum" else ", ").join(medians)
    sql = f"SELECT {OF_QUANTILES[kind].format(joined)} AS m FROM people"
    plan = planned(sql, CATALOGS["laplace"]).plan
    question, choices = plan.question, Choices.of(plan.mechanisms)
    groups, selected = tuple(question.groups), selected_before(question, plan.mechanisms.laws)
    stated = rank_errors(question, [{}], choices, selected)[0][0].error
    histograms = {}
    for name, selection in plan.mechanisms.selections.items():
        histograms[name] = np.zeros((1, selection.bins), dtype=np.int64)
        histograms[name][0, selection.bins // 2] = 2 * (stated + 1)
    exact, rng, good = ExactResults(groups, {}, histograms), SeededRng(20261120), 0
    middle = selection.bins // 2
    for _ in range(DRAWS):
        chosen = noised(exact, plan.mechanisms, rng).choices
        good += {value for (value,) in chosen.values()} == {middle}
    return good, DRAWS


@pytest.mark.parametrize("kind", OF_QUANTILES)
def test_all_quantiles_of_a_cell_are_within_its_rank_error(kind):
    assert_frequency(*quantiles_within(kind), 0.95, 1.0)


@pytest.mark.parametrize("kind", OF_QUANTILES)
def test_quantiles_of_a_cell_that_share_no_failure_are_caught(kind, monkeypatch):
    def each_alone(_value, names, _question, _selected):
        return dict.fromkeys(names, Fraction(1, 20))

    monkeypatch.setattr("discreet.ask.release.selection.rank_failures", each_alone)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(*quantiles_within(kind), 0.95, 1.0)
