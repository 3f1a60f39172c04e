"""The commands over the ledger, with a stand-in for the curator that they open."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from discreet.cli.ledger import app
from discreet.cli.privacy_loss import budget
from discreet.errors import AuditTampered, LedgerBusy
from discreet.privacy.ledger import Ledger, budget_report, budget_words
from discreet.server.access.audit_log import COMMAND_LINE, AuditAction, AuditLog
from ledger_kit import open_ledger, pay, policy

DATASETS = {"census": "census"}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A stand-in for discreet.curator over a ledger with one charge."""
    ledger = open_ledger(tmp_path)
    pay(ledger, "0.25", "a")
    curator = SimpleNamespace(
        ledger=ledger,
        catalog=SimpleNamespace(base=tmp_path),
        budget_report=lambda: budget_report(ledger, DATASETS, describe=lambda _: "everyone"),
        budget_words=lambda last: budget_words(
            ledger, DATASETS, describe=lambda _: "everyone", last=last
        ),
    )
    api = ModuleType("discreet.curator")
    api.open = lambda config: nullcontext(curator)
    api.restore_ledger = lambda config, path, *, reason: Ledger.restore(
        "sqlite:ledger.db", policy(), path, base=tmp_path, reason=reason
    )
    monkeypatch.setitem(sys.modules, "discreet.curator", api)
    yield ledger
    ledger.close()


def run(command, *words):
    if not isinstance(command, typer.Typer):
        single = typer.Typer()
        single.command()(command)
        command = single
    return CliRunner().invoke(command, [str(word) for word in words])


def test_budget_prints_words_or_json(opened):
    shown = run(budget)
    assert shown.exit_code == 0
    assert "epsilon 0.25 of 1 spent" in shown.output
    assert "most exposed: everyone" in shown.output
    report = json.loads(run(budget, "--json").output)
    assert report["datasets"]["census"]["epsilon"] == {"limit": 1.0, "spent": 0.25}
    assert run(budget, "--last", "-1").exit_code == 2


def test_verify(opened):
    assert run(app, "verify").output == "3 entries, all intact.\n"
    told = json.loads(run(app, "verify", "--json").output)
    assert told == {"entries": 3, "intact": True, "audit": 0}


def test_verify_checks_the_audit_log_too(opened, tmp_path):
    state = tmp_path / ".discreet"
    state.mkdir()
    AuditLog(state).record_all(COMMAND_LINE, AuditAction.TOKEN_MADE, [{"id": "a"}, {"id": "b"}])
    assert run(app, "verify").output.endswith("2 lines of the audit log, all intact.\n")
    log = state / "audit.log"
    log.write_bytes(log.read_bytes().replace(b'"id":"a"', b'"id":"c"'))
    failed = run(app, "verify")
    assert isinstance(failed.exception, AuditTampered)
    assert failed.output == ""


def test_backup_and_restore(opened, tmp_path):
    copy = tmp_path / "copy.db"
    assert json.loads(run(app, "backup", copy, "--json").output)["entries"] == 3
    pay(opened, "0.25", "later")
    refused = run(app, "restore", copy, "--reason", "test")
    assert isinstance(refused.exception, LedgerBusy), "somebody is connected"
    opened.close()
    told = run(app, "restore", copy, "--reason", "test")
    assert "1 entries were lost; what they spent stays spent" in told.output
    assert run(app, "restore", copy).exit_code == 2, "a reason is required"
    assert json.loads(run(app, "restore", copy, "--reason", "again", "--json").output)["lost"] != 0


def test_what_is_refused_is_listed_without_letters_that_move_the_cursor(opened, monkeypatch):
    incident = SimpleNamespace(
        request_id="a\x1b[2Jb", dataset="census", analyst=None, note="SELECT \x1b[1m1"
    )
    monkeypatch.setattr(type(opened.incidents), "open", lambda _self: [incident])
    shown = run(app, "clear").output
    assert "\x1b" not in shown
    assert shown.count("census") == len(shown.splitlines()) == 1
    assert json.loads(run(app, "clear", "--json").output)["refused"][0]["request_id"] == "a\x1b[2Jb"
