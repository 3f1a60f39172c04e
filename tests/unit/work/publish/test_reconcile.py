"""Answers in hand: the worked numbers, a dense oracle, the conditions of an optimum, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.cli.app import run
from discreet.errors import InvalidInput
from discreet.work.publish.reconcile.answers import equation_of

VALUES = {"total": 2005, "male": 1001, "female": 995}
VARIANCES = {"total": 8, "male": 50, "female": 32}
EQUATION = "total = male + female"


def test_the_worked_numbers() -> None:
    found = discreet.reconcile(VALUES, VARIANCES, [EQUATION])
    assert {n: round(v, 1) for n, v in found.items()} == {
        "total": 2004.2,
        "male": 1006.0,
        "female": 998.2,
    }
    assert found["total"] == pytest.approx(found["male"] + found["female"], abs=1e-9)


def test_whole_numbers_add_up_exactly() -> None:
    found = discreet.reconcile(VALUES, VARIANCES, [EQUATION], integer=True)
    assert all(isinstance(value, int) for value in found.values())
    assert found["total"] == found["male"] + found["female"] == 2004


@pytest.mark.parametrize(
    ("text", "weights", "constant"),
    [
        ("a = b", {"a": 1, "b": -1}, 0),
        ("2a + 3 = b/4", {"a": 2, "b": Fraction(-1, 4)}, -3),
        ('"age 0-17" - a = 0', {"age 0-17": 1, "a": -1}, 0),
        ("2 * (a - (b + 1)) = -a", {"a": 3, "b": -2}, 2),
        ("a + a - 2 a = 0", {}, 0),
        (".5 a = 1e1", {"a": Fraction(1, 2)}, 10),
        ("county.x = a * 3", {"county.x": 1, "a": -3}, 0),
    ],
)
def test_equations_as_people_write_them(
    text: str, weights: dict[str, Fraction], constant: int
) -> None:
    found = equation_of(text)
    assert found.weights == weights
    assert found.constant == constant


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a = b = c",
        "a = b *",
        "a b = 1",
        "a * b = 1",
        "a = 1 / b",
        "a = 1/0",
        "a ^ 2 = 1",
        "a = )",
        "(" * 60 + "a" + ")" * 60 + " = 1",
        "",
        "a = 1e999999",
        "__import__('os') = 1",
    ],
)
def test_what_is_no_linear_equation_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        discreet.reconcile({"a": 1, "b": 1}, {"a": 1, "b": 1}, [text])
    assert "\n" not in str(refused.value)


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    count, rows = int(chance.integers(2, 9)), int(chance.integers(1, 4))
    matrix = chance.integers(-2, 3, size=(min(rows, count - 1), count)).astype(float)
    truth = chance.integers(0, 20, size=count)
    variances = chance.integers(1, 50, size=count).astype(float)
    values = truth + chance.normal(size=count) * 8
    return values, variances, matrix, matrix @ truth


def asked(
    problem: tuple[np.ndarray, ...], *, non_negative: bool = False, integer: bool = False
) -> np.ndarray:
    values, variances, matrix, b = problem
    names = [f"x{i}" for i in range(len(values))]
    texts = [
        " + ".join(f"{weight:g} * {name}" for weight, name in zip(row, names, strict=True))
        + f" = {right:g}"
        for row, right in zip(matrix, b, strict=True)
    ]
    found = discreet.reconcile(
        dict(zip(names, values.tolist(), strict=True)),
        dict(zip(names, variances.tolist(), strict=True)),
        [*texts, texts[0]],  # said twice: no harm
        non_negative=non_negative,
        integer=integer,
    )
    return np.array(list(found.values()), dtype=float)


@pytest.mark.parametrize("seed", range(40))
def test_least_squares_equals_a_dense_solver(seed: int) -> None:
    values, variances, matrix, b = problem = random_problem(seed)
    gram = matrix @ np.diag(variances) @ matrix.T
    oracle = values - variances * (matrix.T @ (np.linalg.pinv(gram) @ (matrix @ values - b)))
    np.testing.assert_allclose(asked(problem), oracle, atol=1e-7)


@pytest.mark.parametrize("seed", range(40))
def test_non_negative_answers_meet_the_conditions_of_the_optimum(seed: int) -> None:
    values, variances, matrix, b = problem = random_problem(seed)
    found = asked(problem, non_negative=True)
    assert found.min() >= 0
    np.testing.assert_allclose(matrix @ found, b, atol=1e-7)
    # Stationary: the gradient is a combination of the equations plus a push on entries at zero.
    gradient = (found - values) / variances
    free = found > 1e-7
    duals, *_ = np.linalg.lstsq(matrix[:, free].T, gradient[free], rcond=None)
    np.testing.assert_allclose(matrix[:, free].T @ duals, gradient[free], atol=1e-6)
    if np.linalg.matrix_rank(matrix[:, free]) == np.linalg.matrix_rank(matrix):
        assert (gradient - matrix.T @ duals)[~free].min(initial=0) >= -1e-6


@pytest.mark.parametrize("seed", range(10))
def test_whole_numbers_are_as_near_as_any(seed: int) -> None:
    values, variances, matrix, b = problem = random_problem(100 + seed)
    if len(values) > 5:
        return
    found = asked(problem, non_negative=True, integer=True)
    np.testing.assert_array_equal(matrix @ found, b)
    near = asked(problem, non_negative=True)
    weights = 1 / np.sqrt(variances)
    ours = float((weights * np.abs(found - near)).sum())
    base = np.floor(near).astype(int)
    for move in product(range(-2, 4), repeat=len(values)):
        other = base + move
        if other.min() >= 0 and (matrix @ other == b).all():
            assert ours <= float((weights * np.abs(other - near)).sum()) + 1e-6


@pytest.mark.parametrize(
    ("values", "variances", "equations", "said"),
    [
        (VALUES, VARIANCES, ["total = men + female"], "'men'"),
        (VALUES, VARIANCES, [EQUATION, "male + female = total + 1"], "contradicts"),
        ({"a": 1}, {"a": 0}, ["a = 2"], "contradicts"),
        ({"a": 1}, {}, ["a = 2"], "no variance"),
        ({"a": 1}, {"a": 1, "b": 1}, ["a = 2"], "no value"),
        ({"a": 1}, {"a": -1}, ["a = 2"], "below 0"),
        ({"a": float("nan")}, {"a": 1}, [], "finite"),
        ({"a": True}, {"a": 1}, [], "number"),
        ({"a": 10**400}, {"a": 1}, [], "range"),
        ({"a": 1}, {"a": 10**5000}, [], "range"),
        ({"a": 1}, {"a": 1}, "a = 2", "list"),
    ],
)
def test_bad_input_gets_one_sentence(
    values: dict[str, float], variances: dict[str, float], equations: list[str], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        discreet.reconcile(values, variances, equations)


def test_exact_values_stay_exact() -> None:
    found = discreet.reconcile({"t": 10, "a": 4, "b": 9}, {"t": 0, "a": 1, "b": 3}, ["t = a + b"])
    assert found == pytest.approx({"t": 10, "a": 3.25, "b": 6.75})
    assert found["t"] == 10
    with pytest.raises(InvalidInput):
        discreet.reconcile({"a": 0.5}, {"a": 0}, [], integer=True)
    with pytest.raises(InvalidInput):
        discreet.reconcile({"a": -1}, {"a": 0}, [], non_negative=True)


def test_a_thousand_equations_of_a_tree() -> None:
    values, equations = {"n": 12000.0}, []
    for i in range(1000):
        values[f"c{i}"] = 10.0 + i % 5
        for j in range(2):
            values[f"t{i}_{j}"] = 5.0
        equations.append(f"c{i} = t{i}_0 + t{i}_1")
    equations.append("n = " + " + ".join(f"c{i}" for i in range(1000)))
    found = discreet.reconcile(values, dict.fromkeys(values, 2.0), equations)
    assert found["n"] == pytest.approx(sum(found[f"c{i}"] for i in range(1000)))


def test_the_command_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.json"
    given = {"values": VALUES, "variances": VARIANCES, "equations": [EQUATION]}
    file.write_text(json.dumps(given))
    assert run(["reconcile", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["male"] == pytest.approx(1006)
    assert run(["reconcile", str(file), "--integer"]) == 0
    assert "2,004" in capsys.readouterr().out
    for bad in ("{", "[]", '{"values": {"a": NaN}}', json.dumps(given | {"colour": 1})):
        file.write_text(bad)
        assert run(["reconcile", str(file), "--json"]) == 1
        assert json.loads(capsys.readouterr().err)["error"]["kind"] == "InvalidInput"
    assert run(["reconcile", str(tmp_path / "nothing.json")]) == 1


def test_the_menu_does_not_load_the_solver() -> None:
    code = "import discreet, sys; assert 'scipy' not in sys.modules and discreet.reconcile"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_names_take_the_quick_way_to_the_same_point(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.work.publish.reconcile import constrained_least_squares

    values = {f"c{i}": -3.0 + (i * 7) % 11 for i in range(60)}
    values |= {f"t{i}": 4.0 for i in range(20)} | {"n": 90.0}
    texts = [f"t{i} = c{3 * i} + c{3 * i + 1} + c{3 * i + 2}" for i in range(20)]
    texts.append("n = " + " + ".join(f"t{i}" for i in range(20)))
    variances = {name: 1.0 + len(name) for name in values}
    exact = discreet.reconcile(values, variances, texts, non_negative=True)
    monkeypatch.setattr(constrained_least_squares, "FEW", 0)
    quick = discreet.reconcile(values, variances, texts, non_negative=True)
    assert quick == pytest.approx(exact, abs=1e-7)
    assert min(quick.values()) == 0
