"""What is read, declared or remembered is never replaced by what is written, and the refusal costs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.cli.app import run

ROWS = "age,job\n" + "".join(f"{20 + i % 50},{'ab'[i % 2]}\n" for i in range(200))
PAID = "--epsilon 4 --delta 1e-6"
COMMANDS = [
    f"synth p.csv {PAID} --out p.csv",
    f"synth p.csv {PAID} --out o.csv --save-model o.csv",
    f"synth p.csv {PAID} --report r.html --compare r.html",
    f"synth p.csv {PAID} --save-model ledger.db",
    f"synth p.csv {PAID} --save-model discreet.toml",
    f"synth p {PAID} --out p.csv",
    f"learn classify p.csv --target job {PAID} --out p.csv",
    f"learn classify p.csv --target job {PAID} --test t.csv --test-public --out t.csv",
    f"learn regress p.csv --target age {PAID} --out ./p.csv",
    "query COUNT --epsilon 1 --csv a.svg --plot a.svg",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_replaced_and_nothing_charged(tmp_path: Path, monkeypatch, capsys, command: str):
    monkeypatch.chdir(tmp_path)
    for name in ("p.csv", "t.csv"):
        (tmp_path / name).write_text(ROWS)
    discreet.init("p.csv", epsilon=8, delta=1e-5, unit="row", accept=True)
    discreet.open(tmp_path).close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    words = [{"COUNT": "SELECT COUNT(*) AS n FROM p"}.get(word, word) for word in command.split()]
    assert run(words) == 1
    told = capsys.readouterr().err
    assert told.count("\n") <= 2
    assert "named twice" in told or "a declaration or a database" in told
    assert before["p.csv"] == (tmp_path / "p.csv").read_bytes()
    assert before["discreet.toml"] == (tmp_path / "discreet.toml").read_bytes()
    with discreet.open(tmp_path) as curator:
        assert not [each for each in curator.history() if each["kind"] == "charge"]
