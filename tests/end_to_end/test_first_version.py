"""What version 0.1.0 wrote, every later version opens (tests/fixtures/make_v0_1_0.py made it)."""

import base64
import contextlib
import json
import shutil
import time
from pathlib import Path

import pytest

from discreet.curator import open as open_curator
from discreet.curator import restore_ledger
from discreet.errors import BudgetExceeded, DiscreetError
from discreet.server.access.audit_log import AuditLog
from discreet.server.access.tokens import AccessDb, Role, Tokens

FIXTURE = Path(__file__).resolve().parent.parent / "fixtures" / "v0_1_0"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text())
ANSWERS = {item["request_id"]: item for item in EXPECTED["answers"]}
EARLIER = {item["request_id"]: item for item in EXPECTED["earlier_snapshot"]}


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(FIXTURE, tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def curator(folder):
    with open_curator(folder) as opened:
        yield opened


def ask(curator, item):
    return curator.query(
        item["sql"],
        epsilon=item["epsilon"],
        analyst=item["analyst"],
        request_id=item["request_id"],
        fresh=item.get("fresh", False),
    )


def spent(curator):
    """Spending and number of charges of every dataset, the whole and each analyst's part."""
    whole = shares(curator.budget_report())
    return whole, {name: shares(curator.share_report(name)) for name in EXPECTED["shares"]}


AMOUNTS = [(kind, told) for kind in ("epsilon", "delta") for told in ("limit", "spent")]


def shares(report):
    return {
        name: (*(found[kind][told] for kind, told in AMOUNTS), found["charges"])
        for name, found in report["datasets"].items()
    }


BEFORE = (
    shares(EXPECTED["budget"]),
    {name: shares(report) for name, report in EXPECTED["shares"].items()},
)


def test_the_ledger_is_whole_and_shows_the_same_budgets(curator):
    # A later version may add entries of its own on opening; it never loses one.
    assert curator.ledger.verify() >= EXPECTED["entries"]
    assert spent(curator) == BEFORE
    for name, found in EXPECTED["budget"]["datasets"].items():
        now = curator.budget_report()["datasets"][name]
        assert (now["exposures"], now["exposed"]) == (found["exposures"], found["exposed"])
        assert now["worst_region"] == found["worst_region"]


def test_every_request_id_gets_its_stored_answer_and_no_charge(curator):
    for item in ANSWERS.values():
        answer = ask(curator, item).to_json()
        for part in ("columns", "rows", "error95", "cost", "request_id"):
            assert answer[part] == item["answer"][part], item["request_id"]
    assert spent(curator) == BEFORE


def test_answers_about_an_earlier_snapshot_are_kept_and_never_paid_twice(curator):
    for item in EARLIER.values():
        kept = curator.stored_answer(item["request_id"], analyst=item["analyst"])
        assert kept.to_json()["rows"] == item["answer"]["rows"]
        with contextlib.suppress(DiscreetError):
            assert ask(curator, item).to_json()["rows"] == item["answer"]["rows"]
    assert spent(curator) == BEFORE


def test_a_stored_model_is_the_same_and_free(curator):
    request = EXPECTED["synthesis"]
    stored = curator.ledger.stored_answer(request["request_id"], request["analyst"])
    assert stored == base64.b64decode(request["payload"])
    made = curator.synthesize(
        request["table"],
        epsilon=request["epsilon"],
        method=request["method"],
        analyst=request["analyst"],
        request_id=request["request_id"],
        rows=20,
    )
    assert made.table.column_names == request["columns"]
    assert made.table.num_rows == 20
    assert spent(curator) == BEFORE


def test_what_was_paid_and_never_delivered_is_not_paid_again(curator):
    with contextlib.suppress(DiscreetError):  # final, or answered once: but charged once
        ask(curator, EXPECTED["undelivered"])
    assert spent(curator) == BEFORE


def test_it_charges_on_where_the_first_version_stopped(folder):
    with open_curator(folder) as curator:
        new = {"analyst": "bob", "sql": "SELECT COUNT(*) AS n FROM people WHERE age < 10"}
        answer = ask(curator, new | {"request_id": "new", "epsilon": "0.1"})
        assert answer.to_json()["cost"] == {"epsilon": 0.1, "delta": 0.0}
        with pytest.raises(BudgetExceeded):
            ask(curator, EXPECTED["refused"] | {"request_id": "too-much", "fresh": True})
    with open_curator(folder) as curator:
        # Nobody under 10 is over 60. But what it called a snapshot was some content, whenever it came:
        # whether rows moved since, nobody knows, so a version of its own is billed beside them.
        bob = curator.share_report("bob")["datasets"]["census"]
        assert (bob["epsilon"]["spent"], bob["charges"]) == (0.5, 3)
        assert curator.ledger.verify() > EXPECTED["entries"]


def test_its_backup_is_restored_and_what_was_paid_since_stays_spent(folder):
    ledger = restore_ledger(folder, folder / "backup.db", reason="a test")
    assert ledger.verify() > EXPECTED["in_backup"]
    ledger.close()
    with open_curator(folder) as curator:
        for name, (_, epsilon, _, delta, _) in BEFORE[0].items():
            now = curator.budget_report()["datasets"][name]
            assert now["epsilon"]["spent"] >= epsilon
            assert now["delta"]["spent"] >= delta
        kept = curator.stored_answer("census-sexes", analyst="alice")
        assert kept.to_json()["rows"] == ANSWERS["census-sexes"]["answer"]["rows"]


def test_its_tokens_open_the_server_and_its_audit_log_is_whole(folder):
    access = AccessDb(folder / ".discreet")
    try:
        for name, text in EXPECTED["server"]["texts"].items():
            token = Tokens(access).find(text)
            assert token is not None
            assert token.valid(time.time())
            assert token.role is (Role.OWNER if name == "owner" else Role.ANALYST)
    finally:
        access.close()
    assert AuditLog(folder / ".discreet").verify() == EXPECTED["server"]["lines"]


def test_a_changed_byte_of_the_history_is_noticed(folder):
    content = (folder / "ledger.db").read_bytes()
    place = content.index(b"census-median")
    (folder / "ledger.db").write_bytes(content[:place] + b"C" + content[place + 1 :])
    with pytest.raises(DiscreetError), open_curator(folder) as curator:
        curator.ledger.verify()
