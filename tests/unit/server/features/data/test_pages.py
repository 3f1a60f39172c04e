"""The owner's views: limits as the form needs them, and deeds in words."""

import pytest

from discreet.server.access.audit_log import COMMAND_LINE, STRANGER, Actor, AuditAction, Line
from discreet.server.features.data.pages import SHOWN_LINES, audit_view, limits_view

OWNER = Actor("owner", "abc")
EPSILON = {"limit": 1.0, "spent": 0.25, "left": 0.75}
DELTA = {"limit": 0.0, "spent": 0.0, "left": 0.0}


def line(deed, who=OWNER, *, position=0, time="2026-11-15T03:44:06.123+00:00", **facts):
    said = deed if isinstance(deed, str) else deed.value
    return Line(position, time, who.name, who.token, said, facts)


def words(deed, **facts):
    [found] = audit_view([line(deed, **facts)])
    return found["what"]


def test_every_deed_has_words():
    facts = {
        "survey": "smoking",
        "id": "f00",
        "role": "owner",
        "address": "::1",
        "route": "GET /data",
        "why": "role",
        "dataset": "town",
        "name": "village",
        "columns": "age, sex",
        "period": "2026-Q4",
        "analyst": "zoe",
        "epsilon": "1",
        "epsilon_after": "0.5",
        "delta_after": "0",
        "table": "people",
        "way": "page",
        "version": "3",
    }
    for deed in AuditAction:
        found = words(deed, **facts)
        assert found
        assert found != f"{deed.value} " + " ".join(f"{k} {v}" for k, v in sorted(facts.items()))


@pytest.mark.parametrize(
    ("deed", "facts", "said"),
    [
        (
            AuditAction.TOKEN_MADE,
            {"id": "f0", "role": "analyst", "analyst": "zoe", "until": "2026-12-01"},
            "made a token for zoe, valid until 2026-12-01 (f0)",
        ),
        (
            AuditAction.TOKEN_MADE,
            {"id": "f0", "role": "owner"},
            "made a token for the role owner (f0)",
        ),
        (
            AuditAction.SIGN_IN_FAILED,
            {"address": "10.0.0.9", "unwritten_before": "1234"},
            "could not sign in, from 10.0.0.9; 1,234 more before that",
        ),
        (
            AuditAction.REFUSED,
            {"route": "GET /data", "why": "role"},
            "was refused GET /data, not with this role",
        ),
        (
            AuditAction.REFUSED,
            {"route": "PUT /x", "why": "csrf"},
            "was refused PUT /x, not without the session's own form",
        ),
        (
            AuditAction.BUDGET_CHANGED,
            {
                "dataset": "town",
                "epsilon_before": "1",
                "epsilon_after": "0.5",
                "delta_before": "0",
                "delta_after": "1e-09",
            },
            "changed the budget of town from ε 1.00 to 0.50 and from δ 0 to 1e-09",
        ),
        (
            AuditAction.SHARE_CHANGED,
            {"dataset": "town", "analyst": "zoe", "epsilon_after": "0.5", "delta_after": "0"},
            "set the share of zoe in town to ε 0.50",
        ),
        (
            AuditAction.SHARE_CHANGED,
            {
                "dataset": "town",
                "analyst": "zoe",
                "epsilon_before": "0.5",
                "epsilon_after": "0.5",
                "delta_after": "0",
            },
            "set the share of zoe in town to what it was",
        ),
        (AuditAction.UPLOAD_REMOVED, {"upload": "f0"}, "threw a file away"),
        (
            AuditAction.UPLOAD_REMOVED,
            {"upload": "f0", "why": "nobody confirmed it"},
            "threw a file away: nobody confirmed it",
        ),
        ("dreamt", {"of": "sheep"}, "dreamt of sheep"),
    ],
)
def test_words(deed, facts, said):
    assert words(deed, **facts) == said


def test_what_is_usual_is_one_line_a_day_and_what_is_not_never_is():
    day, other = "2026-11-15T10:00:00+00:00", "2026-11-14T10:00:00+00:00"
    found = audit_view(
        [
            line(AuditAction.SIGNED_IN, time=day),
            line(AuditAction.TOKENS_LISTED, time=day),
            line(AuditAction.SIGNED_IN, time=day),
            line(AuditAction.SIGNED_IN, STRANGER, time=day),
            line(AuditAction.SIGNED_IN, time=day),
            line(AuditAction.SIGNED_IN, time=other),
            line(AuditAction.TOKEN_REVOKED, COMMAND_LINE, time=other, id="a"),
            line(AuditAction.TOKEN_REVOKED, COMMAND_LINE, time=other, id="a"),
        ]
    )
    assert [(item["who"], item["what"] + item["times"]) for item in found] == [
        ("owner", "signed in, 3 times that day"),
        ("owner", "looked at the list of tokens"),
        ("somebody", "signed in"),
        ("owner", "signed in"),
        ("command line", "revoked the token a"),
        ("command line", "revoked the token a"),
    ]
    assert found[0]["when"] == "2026-11-15 10:00"


def test_the_list_is_short():
    many = [line(AuditAction.TOKEN_REVOKED, id=str(i)) for i in range(100)]
    assert len(audit_view(many)) == SHOWN_LINES


def test_limits_name_shares_and_who_shares_the_budget():
    facts = {"epsilon": EPSILON, "delta": DELTA, "charges": 1}
    report = {
        "datasets": {
            "town": facts | {"budget": "people"},
            "films": facts | {"budget": "people"},
            "clinic": facts | {"budget": "clinic"},
        },
        "analysts": {"zoe": {"town": facts}, "amy": {}},
    }
    found = {item["name"]: item for item in limits_view(report)}
    assert found["town"]["others"] == ["films"]
    assert found["clinic"]["others"] == []
    assert found["town"]["shares"] == [{"analyst": "zoe", "epsilon": EPSILON}]
    assert found["films"]["shares"] == []
