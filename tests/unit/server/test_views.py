import pytest

from discreet.server.views import (
    CountNoise,
    amount,
    budget_view,
    datasets_view,
    first_question,
    part_left,
    questions_left,
)

DELTA = {"limit": 1e-9, "spent": 0.0, "left": 1e-9}
LEFT = {"epsilon": {"limit": 1.0, "spent": 0.25, "left": 0.75}, "delta": DELTA, "charges": 1}
CATALOG = {
    "datasets": {
        "town": {
            "protects": "each person in person_id",
            "neighbours": "add-remove",
            "public_rows": False,
            "left": LEFT,
            "tables": {
                "regions": {"public": True, "columns": {}},
                "people": {
                    "public": False,
                    "columns": {
                        "person_id": {"domain": "identifier"},
                        "age": {"domain": "0 to 120", "lower": 0, "upper": 120},
                        "sex": {"domain": "2 values", "values": ["Female", "Male"], "size": 2},
                        "job": {
                            "domain": "3 values",
                            "values": ["Factory worker", "Shop assistant", "Engineer"],
                            "size": 3,
                        },
                        "cost": {"domain": "", "lower": 0.5, "upper": 99999.5},
                    },
                },
            },
        }
    }
}
BUDGET = {"datasets": {"town": LEFT}}
CHARGE = {
    "kind": "charge",
    "time": "2026-11-15T03:44:06+00:00",
    "analyst": None,
    "dataset": "town",
    "sql": "SELECT\n  COUNT(*) FROM people",
    "epsilon": 0.25,
    "asker": "owner",
    "request_id": "r1",
    "outcome": "paid",
}


def test_domains_are_told_shortly_in_plain_words():
    people = datasets_view(CATALOG)[0]["tables"][1]
    short = {column["name"]: column["short"] for column in people["columns"]}
    assert short == {
        "person_id": "identifier",
        "age": "0 to 120",
        "sex": "Female, Male",
        "job": "3 values",
        "cost": "0.5 to 99,999.5",
    }


def test_the_first_question_asks_a_private_table_by_groups():
    assert first_question(datasets_view(CATALOG)) == (
        "SELECT sex, COUNT(*) AS n\nFROM people\nWHERE age >= 65\nGROUP BY sex"
    )
    assert first_question([]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.75, "0.75"),
        (1, "1.00"),
        (0.125, "0.125"),
        (1e-7, "1e-7"),
        (0.0001, "0.0001"),
        (0.00012345, "0.00012345"),
        (1.00004, "1.00004"),
        (1 - 0.9, "0.10"),
        (0, "0.00"),
        (2500, "2,500.00"),
    ],
)
def test_amounts_have_two_digits_or_as_many_as_they_need(value, text):
    assert amount(value) == text


NOISE = CountNoise("people", {"0.1": 30.0, "0.5": 6.0})


def test_what_is_left_is_told_in_questions():
    told = questions_left(0.75, NOISE)
    assert "7 counts of people with noise ± 30 (ε 0.1), or 1 count of people with noise" in told
    assert "3 counts" in questions_left(0.1 + 0.2, NOISE)  # 0.30000000000000004
    assert "or" not in questions_left(0.3, NOISE).split(",")[1]
    assert "last question with ε up to 0.05" in questions_left(0.05, NOISE)
    assert "Nothing is left" in questions_left(0, NOISE)
    assert "Nothing is left" in questions_left(9e-7, NOISE)
    assert "noise" not in questions_left(0.75, None), "what is not known is not said"


def test_the_part_that_is_left_stays_between_nothing_and_all():
    assert part_left({"limit": 2.0, "left": 0.5}) == 0.25
    assert part_left({"limit": 0.0, "left": 0.0}) == 0.0
    assert part_left({"limit": 1.0, "left": 3.0}) == 1.0


def test_a_purse_shows_history_and_hides_what_it_was_not_told():
    purse = budget_view(BUDGET, CATALOG, [CHARGE], {})[0]
    assert (purse["left"], purse["limit"], purse["delta_words"]) == (
        "0.75",
        "1.00",
        "δ 1e-9, untouched",
    )
    assert purse["history"] == [
        {
            "when": "2026-11-15 03:44",
            "who": "owner",
            "payer": "owner",
            "used": "0.25",
            "sql": "SELECT COUNT(*) FROM people",
            "what": "SELECT COUNT(*) FROM people",
            "again": "sql=SELECT%0A++COUNT%28%2A%29+FROM+people&epsilon=0.25",
        }
    ]
    assert purse["worst"] == ""
    assert purse["analysts"] == []


def test_what_was_paid_and_not_delivered_says_so():
    lost = CHARGE | {"outcome": "lost", "ending": "paid, not delivered: lost"}
    told, answered = budget_view(BUDGET, CATALOG, [lost, CHARGE], {})[0]["history"]
    assert told["ending"] == "paid, not delivered: lost"
    assert "ending" not in answered


def test_changes_of_limits_and_exposures_are_part_of_the_history():
    limit = {"kind": "limit", "time": CHARGE["time"], "who": "owner", "budget": "town"}
    entries = [
        limit | {"analyst": None, "old": None, "new": {"epsilon": "1/2", "delta": "0"}},
        limit | {"analyst": "alice", "old": {"epsilon": "1"}, "new": None},
        {"kind": "exposure", "time": CHARGE["time"], "dataset": "town", "reason": "k-anonymous"},
        {"kind": "restore", "time": CHARGE["time"], "dataset": "town"},
    ]
    said = [entry["what"] for entry in budget_view(BUDGET, CATALOG, entries, {})[0]["history"]]
    assert said == [
        "set the limit to 0.50",
        "changed the share of alice",
        "released without a guarantee: k-anonymous",
        "restore",
    ]


def test_an_answer_is_opened_again_and_says_who_asked_and_who_paid():
    by_owner = CHARGE | {"analyst": "alice", "asker": "owner", "outcome": "answered"}
    entry = budget_view(BUDGET, CATALOG, [by_owner], {})[0]["history"][0]
    assert (entry["who"], entry["payer"]) == ("owner", "alice")
    assert entry["again"] == "answer=r1&analyst=alice"


def test_only_questions_can_be_asked_again():
    copy = CHARGE | {"sql": "synthetic copy of people by tree", "analyst": "zoe"}
    entry, question = budget_view(BUDGET, CATALOG, [copy, CHARGE], {})[0]["history"]
    assert (entry["what"], entry["sql"]) == ("synthetic copy of people by tree", "")
    assert "again" not in entry
    assert question["again"].startswith("sql=SELECT")
    asked = budget_view(BUDGET, CATALOG, [CHARGE | {"analyst": "zoë", "epsilon": None}], {})[0]
    assert asked["history"][0]["again"].endswith("&analyst=zo%C3%AB")


def test_what_is_typed_is_promised_with_the_delta_of_the_data_set():
    assert datasets_view(CATALOG)[0]["delta"] == DELTA["limit"]
