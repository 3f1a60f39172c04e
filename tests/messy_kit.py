"""A hospital's file as hospitals have it, and what is true in it."""

from __future__ import annotations

import csv
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

PATIENTS, ROWS = 1478, 3060
COLUMNS = (
    "patient_id", "patient_name", "email", "sex", "age", "department", "admitted", "cost", "remarks",
)  # fmt: skip
SEXES = {
    "Female": ("Female", "F", "f", "female", "FEMALE "),
    "Male": ("Male", "M", "m", "male", " Male"),
}
DEPARTMENTS = ("Cardiology", "Oncology", "Surgery", "Pediatrics")


@dataclass(frozen=True)
class Truth:
    """What a careful clerk would count."""

    rows: int
    patients: int
    by_sex: dict[str, int]
    by_department: dict[str, int]
    cost: float
    costs: int


def hospital(path: Path) -> Truth:
    """Write the file (mark, mixed case, spaces, two kinds of dates, 1,234.50, repeats); tell the truth."""
    dice = random.Random(7)
    rows, sexes, departments, cost = [], Counter(), Counter(), []
    for i in range(ROWS):
        patient = i if i < PATIENTS else dice.randrange(PATIENTS)
        sex = "Female" if patient % 2 else "Male"
        department = dice.choice(DEPARTMENTS)
        amount = round(dice.gammavariate(2, 900), 2)
        said = dice.choice(
            (f"{amount:,.2f}", f"$ {amount:,.2f}", "n/a" if i % 50 == 0 else f"{amount}")
        )
        sexes[sex] += 1
        departments[department] += 1
        if said != "n/a":
            cost.append(amount)
        rows.append(
            (
                f"P{patient:05}",
                f"{dice.choice(('Ann', 'Bob', 'Cid'))} {dice.choice(('Smith', 'Kerr'))}",
                f"u{i}@mail.example.org",
                dice.choice(SEXES[sex]),
                dice.randrange(100),
                dice.choice((department, department.upper(), f"{department} ")),
                _day(dice),
                said,
                f"The patient came in with pain number {i} today",
            )
        )
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return Truth(ROWS, PATIENTS, dict(sexes), dict(departments), sum(cost), len(cost))


def _day(dice: random.Random) -> str:
    month, day = dice.randint(1, 12), dice.randint(1, 28)
    return f"2024-{month:02}-{day:02}" if dice.random() < 0.6 else f"{day}/{month}/2024"
