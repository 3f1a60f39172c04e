"""What only the kernel finds too wide for 64 bits is refused in a sentence, before any charge."""

import pytest

import discreet
from discreet.errors import QueryRefused

TOML = """
[datasets.bank]
epsilon = 10
[datasets.bank.tables.accounts]
source = "accounts.csv"
unit = "row"
[datasets.bank.tables.accounts.columns]
bal = { type = "integer", lower = -1000000000, upper = 1000000000 }
"""


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT SUM(SQRT(ABS(bal)) * SQRT(ABS(bal))) FROM accounts", "too large"),
        ("SELECT SUM(LOG10(bal) * LOG10(bal)) FROM accounts", "too large"),
        ("SELECT SUM(POWER(bal, 6)) FROM accounts", "numbers from 0 on|too large"),
        ("SELECT SUM(POWER(bal, -2)) FROM accounts", "numbers from 0 on"),
    ],
)
def test_it_is_refused_and_nothing_is_charged(tmp_path, sql, why):
    (tmp_path / "discreet.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "accounts.csv").write_text("bal\n-5\n7\n", encoding="utf-8")
    with discreet.open(tmp_path / "discreet.toml") as curator:
        with pytest.raises(QueryRefused, match=why):
            curator.query(sql, epsilon=1)
        assert curator.budget_report()["datasets"]["bank"]["charges"] == 0
