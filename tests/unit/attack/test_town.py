import pytest

from discreet.attack.town import curated, staged
from discreet.errors import BudgetExceeded

COUNT = "SELECT COUNT(*) AS n FROM people"


def test_the_town_is_gone_afterwards_and_its_budget_is_real():
    with staged(300, tables=("people",)) as made:
        folder = made.folder
        with curated(made.toml, epsilon=2.5) as curator:
            answer = curator.query(COUNT, epsilon=2.0)
            assert abs(answer.rows[0][0] - 300) < 30
            assert float(answer.limit.epsilon) == 2.5
            with pytest.raises(BudgetExceeded):
                curator.query("SELECT COUNT(*) AS n FROM people WHERE age > 20", epsilon=1.0)
    assert not folder.exists()
