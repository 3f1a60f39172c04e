from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.errors import BudgetExceeded
from discreet.lab.attacks.curator import (
    BOOLEAN,
    AttackTable,
    curated,
    curator_over,
    part_of,
    synthetic_copy,
    temporary_town,
    whole_numbers,
)

BITS = AttackTable(
    pa.table({"place": list(range(40)), "secret": [True, False] * 20}),
    {"place": whole_numbers(0, 39), "secret": BOOLEAN},
)


def test_a_real_curator_answers_charges_and_stops():
    with curator_over({"people": BITS}, epsilon=1) as ask:
        answer = ask("SELECT COUNT(*) AS n FROM people WHERE secret", "0.75")
        assert float(answer.cost.epsilon) == 0.75
        assert answer.provenance.private
        with pytest.raises(BudgetExceeded):
            ask("SELECT COUNT(*) AS n FROM people WHERE secret AND place > 0", "0.5")


def test_a_public_table_multiplies_the_noise_by_its_copies():
    subsets = AttackTable(
        pa.table({"place": [0, 0, 1], "subset": [0, 1, 0]}),
        {"place": whole_numbers(0, 39), "subset": whole_numbers(0, 1)},
        public_copies=2,
    )
    sql = (
        "SELECT s.subset, COUNT(*) AS n FROM people AS p JOIN subsets AS s ON p.place = s.place "
        "GROUP BY s.subset"
    )
    with curator_over({"people": BITS, "subsets": subsets}, epsilon=1) as ask:
        assert "scale 2" in ask(sql, 1).provenance.mechanisms[0]


def test_parts_never_add_up_to_more_than_the_whole():
    for parts in range(1, 30):
        assert parts * part_of(0.7, parts) <= Fraction("0.7")
        assert part_of(0.7, parts) > Fraction("0.7") / parts - Fraction(1, 10**6)


def test_a_synthetic_copy_has_the_columns_and_rows_of_the_table():
    copy = synthetic_copy(BITS, epsilon=1, delta="1e-9")
    assert copy.column_names == ["place", "secret"]
    assert copy.num_rows == 40


def test_the_town_is_gone_afterwards_and_its_budget_is_real():
    with temporary_town(300, tables=("people",)) as made:
        folder = made.folder
        with curated(made.toml, epsilon=2.5) as curator:
            answer = curator.query("SELECT COUNT(*) AS n FROM people", epsilon=2.0)
            assert abs(answer.rows[0][0] - 300) < 30
            assert float(answer.limit.epsilon) == 2.5
            with pytest.raises(BudgetExceeded):
                curator.query("SELECT COUNT(*) AS n FROM people WHERE age > 20", epsilon=1.0)
    assert not folder.exists()
