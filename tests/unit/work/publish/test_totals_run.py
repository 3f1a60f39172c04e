"""Running totals as a paid series: charged once, each day looked at once, late rows and all."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import BudgetExceeded, DiscreetError, InvalidInput
from discreet.work.publish.totals import FrozenDays, TotalsRequest

START = dt.date(2026, 1, 1)
TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.clinic]
epsilon = 40
delta = 1e-6
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "row"
[datasets.clinic.tables.visits.columns]
day = { type = "date", lower = 2026-01-01, upper = 2026-12-31, immutable = true }
moved = { type = "date", lower = 2026-01-01, upper = 2026-12-31 }
"""


def write(folder: Path, counts: list[int]) -> None:
    days = [START + dt.timedelta(days=i) for i, count in enumerate(counts) for _ in range(count)]
    pq.write_table(pa.table({"day": days, "moved": days}), folder / "visits.parquet")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    write(tmp_path, [5, 0, 7, 2, 9])
    (tmp_path / "discreet.toml").write_text(TOML)
    return tmp_path


def asked(**changes: object) -> TotalsRequest:
    options = {
        "dataset": "clinic",
        "table": "visits",
        "column": "day",
        "start": START,
        "days": 30,
        "epsilon": 30,
        "delta": "1e-7",
    }
    return TotalsRequest.of("arrivals", **(options | changes))


def opened(folder: Path) -> Curator:
    return discreet.open(folder / "discreet.toml")


def test_charged_once_and_measured_day_by_day(clinic: Path) -> None:
    with opened(clinic) as curator:
        first = curator.running_totals(asked(), through="2026-01-03")
        assert not first.free
        assert 0 < first.cost.epsilon <= 30
        spent = curator.ledger.spent("clinic").epsilon
        again = curator.running_totals(asked(), through="2026-01-03")
        assert again.free
        assert again.measured == first.measured
    write(clinic, [5, 0, 7, 2, 9, 4])  # a new snapshot, one more day
    with opened(clinic) as curator:
        later = curator.running_totals(asked(), through="2026-01-06")
        assert later.free
        assert later.measured[:3] == first.measured
        assert len(later.days) == 6
        assert curator.ledger.spent("clinic").epsilon == spent
        # What is measured never goes back: fewer days are the same days.
        fewer = curator.running_totals(asked(), through="2026-01-01")
        assert fewer.measured == later.measured
        truth = np.cumsum([5, 0, 7, 2, 9, 4])
        # Six standard deviations of each day: false alarms once in 10^8.
        for total, real, half in zip(later.totals, truth, later.error95, strict=True):
            assert abs(total - real) <= 6 * half / 1.96
        assert curator.ledger.verify() > 0


def test_rows_that_arrive_late_are_not_counted(clinic: Path) -> None:
    with opened(clinic) as curator:
        curator.running_totals(asked(), through="2026-01-03")
    write(clinic, [5, 4000, 7, 2, 9])  # four thousand rows for a day that was looked at
    with opened(clinic) as curator:
        later = curator.running_totals(asked(), through="2026-01-05")
    truth = np.cumsum([5, 0, 7, 2, 9])
    # Six standard deviations of each day: false alarms once in 10^8.
    for total, real, half in zip(later.totals, truth, later.error95, strict=True):
        assert abs(total - real) <= 6 * half / 1.96
    (kept,) = clinic.rglob("arrivals.private")
    assert kept.stat().st_mode & 0o077 == 0


def test_the_owner_alone_is_told_how_many_rows_are_late(clinic: Path) -> None:
    with discreet.open(clinic / "discreet.toml") as curator:
        assert curator.late_rows("arrivals") is None
        first = curator.running_totals(asked(), through="2026-01-03")
        assert curator.late_rows("arrivals") == 0
    write(clinic, [5, 3, 7, 900, 9])  # three rows of a published day, and one day that is not
    with discreet.open(clinic / "discreet.toml") as curator:
        second = curator.running_totals(asked(), through="2026-01-04")
        assert curator.late_rows("arrivals") == 3
    said = "Rows that arrived after their day was published are not in these totals."
    for found in (first, second):  # the same sentence, whether there are such rows or not
        assert found.to_json()["notices"] == [said]
        assert said in repr(found)
    with discreet.open(clinic / "discreet.toml") as curator, pytest.raises(InvalidInput):
        curator.late_rows("../access")


def test_counts_that_an_earlier_version_kept_are_read(clinic: Path) -> None:
    with discreet.open(clinic / "discreet.toml") as curator:
        curator.running_totals(asked(), through="2026-01-03")
        (kept,) = clinic.rglob("arrivals.private")
        kept.write_text("[5, 0, 7]")
        assert curator.late_rows("arrivals") is None
        write(clinic, [1000, 0, 7, 2, 9])
    with discreet.open(clinic / "discreet.toml") as curator:
        later = curator.running_totals(asked(), through="2026-01-05")
        assert later.totals[-1] < 500
        assert curator.late_rows("arrivals") == 995


def test_without_the_kept_counts_late_rows_come_in(clinic: Path) -> None:
    with opened(clinic) as curator:
        curator.running_totals(asked(), through="2026-01-03")
    write(clinic, [5, 4000, 7, 2, 9])
    (kept,) = clinic.rglob("arrivals.private")
    kept.write_text("nonsense")
    with opened(clinic) as curator:
        later = curator.running_totals(asked(), through="2026-01-05")
    assert later.totals[-1] > 1000  # the broken twin: what the test above would see


def test_another_series_under_the_name_is_refused(clinic: Path) -> None:
    with opened(clinic) as curator:
        curator.running_totals(asked(), through="2026-01-01")
        with pytest.raises(DiscreetError):
            curator.running_totals(asked(days=31), through="2026-01-02")


@pytest.mark.parametrize(
    ("changes", "through"),
    [
        ({"column": "moved"}, "2026-01-02"),
        ({"table": "nothing"}, "2026-01-02"),
        ({"column": "nothing"}, "2026-01-02"),
        ({}, "2026-03-01"),
        ({}, "2025-12-31"),
        ({}, "soon"),
        ({"epsilon": 1000}, "2026-01-02"),
    ],
)
def test_what_cannot_be_is_refused_and_free(
    clinic: Path, changes: dict[str, object], through: str
) -> None:
    with opened(clinic) as curator:
        with pytest.raises(DiscreetError):
            curator.running_totals(asked(**changes), through=through)
        assert curator.ledger.spent("clinic").charges == 0


def test_nonsense_is_refused_before_anything() -> None:
    for changes in (
        {"days": 0},
        {"days": 10**6},
        {"start": "2026-13-01"},
        {"delta": 0},
        {"table": "visits; DROP"},
        {"start": dt.date(9999, 12, 1), "days": 100},
    ):
        with pytest.raises(InvalidInput):
            asked(**changes)


def test_a_crash_after_the_charge_loses_the_day_and_not_the_privacy(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.work.publish.totals import RunningTotals

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with opened(clinic) as curator:
        with monkeypatch.context() as patched:
            patched.setattr(RunningTotals, "measure", fail)
            with pytest.raises(KeyboardInterrupt):
                curator.running_totals(asked(), through="2026-01-02")
        with pytest.raises(DiscreetError):
            curator.running_totals(asked(), through="2026-01-02")


def test_a_series_that_does_not_fit_charges_nothing(clinic: Path) -> None:
    with opened(clinic) as curator, pytest.raises(BudgetExceeded):
        curator.running_totals(asked(epsilon=100), through="2026-01-02")


def test_late_rows_are_a_net_count_of_each_day(tmp_path: Path) -> None:
    frozen = FrozenDays(tmp_path, "arrivals")
    # The first day: 3 deleted, 7 late; the second: 2 deleted; the third: 5 late.
    frozen.keep(np.array([100, 50, 20]), np.array([104, 48, 25]))
    assert frozen.late() == 4 + 5
