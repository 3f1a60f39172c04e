"""Results as lines: short, and nothing that somebody wrote runs in a notebook."""

import json

from discreet.ask.release.bounds_trade import BoundsTrade
from discreet.audit.audit import Audit
from discreet.base.display import LONGEST, MOST, BudgetReport, ShownInLines, lines_html
from discreet.curator.client.results import RemoteReport, RemoteSynthetic
from discreet.show import Document, Paragraph, Section

NASTY = "<script>alert('x')</script>"


class Toy(ShownInLines):
    def __init__(self, *lines):
        self._lines = lines

    def lines(self):
        return self._lines


def test_a_notebook_gets_escaped_text():
    for shown in (
        lines_html([(NASTY, NASTY)]),
        Toy((NASTY, NASTY))._repr_html_(),
        BudgetReport(datasets={NASTY: spent(1)})._repr_html_(),
        Document(NASTY, NASTY, NASTY, (Section(NASTY, (Paragraph(NASTY),)),))._repr_html_(),
        RemoteReport(NASTY.encode())._repr_html_(),
        remote_copy(notices=[NASTY])._repr_html_(),
    ):
        assert "<script" not in shown
        assert "script" in shown


def test_what_is_shown_is_short_and_in_one_line_each():
    found = repr(Toy(*[(f"name{i}\x1b[31m", "x\ny" * 10_000) for i in range(200)]))
    lines = found.splitlines()
    assert len(lines) == MOST + 1
    assert max(map(len, lines)) < LONGEST + 40
    assert "\x1b" not in found
    assert lines[-1] == f"...          {200 - MOST} more"


def spent(amount):
    amounts = {"limit": 4.0, "spent": float(amount), "left": 4.0 - amount}
    return {"epsilon": amounts, "charges": 2, "exposures": 1, "alert": "budget is nearly used up"}


def remote_copy(**more):
    facts = {
        "rows": 1200,
        "columns": ["a", "b"],
        "method": "tree",
        "cost": {"epsilon": 0.5, "delta": 1e-9},
        "budget": {
            name: {"epsilon": value, "delta": 0.0}
            for name, value in (("before", 1.0), ("after", 1.5), ("limit", 4.0))
        },
        "free": False,
        "request_id": "x",
        "notices": [],
    }
    return RemoteSynthetic(facts | more, lambda _path: b"")


def test_a_budget_report_is_the_mapping_that_it_was():
    plain = {"datasets": {"census": spent(3)}, "analysts": {}}
    report = BudgetReport(plain)
    assert report == plain
    assert json.dumps(report) == json.dumps(plain)
    assert repr(report).splitlines() == [
        "census       epsilon 3 of 4 spent, 1 left; charges 2; budget is nearly used up",
        "census       releases without a guarantee: 1",
    ]
    assert "no dataset" in repr(BudgetReport(datasets={}))


def test_a_result_of_a_server_says_price_and_size():
    copy = remote_copy(notices=["few rows"])
    assert repr(copy).splitlines() == [
        "synthetic    1,200 rows x 2 columns, method tree",
        "uses         epsilon 0.5, delta 1e-09; leaves 2.5 of 4",
        "note         few rows",
    ]
    assert float(copy.before.epsilon) == 1
    assert float(copy.limit.epsilon) == 4
    assert copy.to_json()["rows"] == 1200


def test_an_audit_says_its_verdict():
    found = Audit("f", "epsilon", 1.25, 1.0, 0.0, 0.95, 10, 9, 10, "x > 1", ("a", "b"), ("slow",))
    assert repr(found).splitlines() == [
        "audit of     f",
        "epsilon      at least 1.25 at 95% confidence; claimed 1, refuted",
        "note         slow",
    ]
    assert issubclass(BoundsTrade, ShownInLines)
