"""How often a private classifier is right for some groups of the town, at each price."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from discreet.api import open as open_curator
from discreet.catalog.edits import with_totals
from discreet.catalog.writer import change_file
from discreet.course.facts import Sweep, SweepBar, SweepStep, epsilons, facts_json
from discreet.examples import Town, town
from discreet.learn.evaluation.predict import predicted

FEATURES = ["age", "sex", "education", "household_size", "job"]
TARGET = "married"
TRAINED, TESTED = 4_000, 40_000
TOTALS = {"epsilon": Decimal(1000), "delta": Decimal("1e-3")}
GROUPS = {
    "everybody": None,
    "aged 30 to 59": (30, 59),
    "aged 18 to 24": (18, 24),
    "aged 75 and over": (75, 120),
}


def facts() -> str:
    """Return the sweep, trained on one town and tested on another."""
    with TemporaryDirectory() as folder:
        made = town(TRAINED, folder=Path(folder) / "train", tables=("people",))
        other = town(TESTED, folder=Path(folder) / "test", tables=("people",), seed=1)
        change_file(made.toml, lambda text: with_totals(text, TOTALS))
        prices = epsilons((0.02, 0.1, 0.5, 4.0))
        steps = [_step(made, other, label, each) for label, each in prices.items()]
    sweep = Sweep("price of the model:", "share of people for whom it is right", tuple(steps), 1)
    return facts_json({"": sweep})


def _step(made: Town, other: Town, label: str, epsilon: float) -> SweepStep:
    with open_curator(made.toml) as curator:
        trained = curator.learn(
            "people", target=TARGET, epsilon=epsilon, delta=1e-6, features=FEATURES
        )
    rows = predicted(trained.model, other.tables["people"])
    said = rows.column(f"predicted_{TARGET}")
    right = pc.equal(pc.utf8_lower(said), pc.cast(rows.column(TARGET), pa.string()))
    bars = tuple(_bar(name, rows, right, span) for name, span in GROUPS.items())
    worst = min(bars, key=lambda bar: bar.value)
    words = f"Least often right for people {worst.name}: {worst.value:.0%}, where everybody has {bars[0].value:.0%}."
    return SweepStep(label, bars, words)


def _bar(
    name: str, rows: pa.Table, right: pa.ChunkedArray, span: tuple[int, int] | None
) -> SweepBar:
    if span is None:
        chosen = right
        married = rows.column(TARGET)
    else:
        age = rows.column("age")
        inside = pc.and_(pc.greater_equal(age, span[0]), pc.less_equal(age, span[1]))
        chosen, married = right.filter(inside), rows.column(TARGET).filter(inside)
    share = pc.mean(pc.cast(chosen, pa.float64())).as_py()
    common = pc.mean(pc.cast(married, pa.float64())).as_py()
    half = 1.96 * math.sqrt(share * (1 - share) / len(chosen))
    return SweepBar(name, share, share - half, share + half, max(common, 1 - common))
