"""Hiding an attribute: it helps against the adversary in training, and the report does not flatter."""

import json

import numpy as np
import pytest

from discreet.cli.app import run
from discreet.work.learn.adversarial import PublicNet, TaskRows, class_error, hidden


def rows(count=800):
    rng = np.random.default_rng(1)
    task, secret = rng.integers(0, 2, count), rng.integers(0, 2, count)
    inputs = np.stack([2 * task - 1, 2 * secret - 1], axis=1) + rng.normal(0, 0.5, (count, 2))
    return TaskRows(inputs, np.eye(2)[task], np.eye(2)[secret])


def test_what_the_task_does_not_need_is_hidden_and_the_task_stays():
    found = hidden(rows(), 2.0)
    assert found.fresh_open["value"] > 0.9  # without hiding the codes tell it
    assert found.fresh["value"] < found.fresh_open["value"] - 0.1
    assert found.task["value"] > 0.9
    assert found.to_json()["guarantee"] is False


def test_slopes_are_those_of_the_loss():
    net = PublicNet((2, 3, 2))
    x, y = np.array([[0.3, -0.7]]), np.eye(2)[[1]]

    def loss(at):
        scores = net.run(at)[-1]
        return float(np.log(np.exp(scores).sum()) - scores[0, 1])

    bent = np.array([[loss(x + d) - loss(x - d) for d in 1e-5 * np.eye(2)]]) / 2e-5
    passed = net.run(x)
    found = net.learn(passed, class_error(passed[-1], y))
    assert found == pytest.approx(bent, rel=1e-4)


def test_private_rows_are_refused(tmp_path, capsys):
    file = tmp_path / "t.csv"
    file.write_text(
        "a,b,c\n" + "".join(f"{i % 7},{i % 2},{'xy'[i % 3 // 2]}\n" for i in range(200))
    )
    asked = ["learn", "hide", str(file), "--target", "b", "--sensitive", "c"]
    assert run(asked) == 1
    assert "public ones only" in capsys.readouterr().err
    assert run([*asked, "--public", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guarantee"] is False
