"""The linkage attack with more and more columns, and the Netflix attack with more and more ratings."""

from __future__ import annotations

from discreet.course.facts import attack_sweep, facts_json


def facts() -> str:
    """Return both sweeps, run on the town."""
    columns = {
        "sex": "sex",
        "ZIP code and sex": "zip,sex",
        "birth date": "birth_date",
        "birth date and sex": "birth_date,sex",
        "ZIP code, birth date and sex": "zip,birth_date,sex",
    }
    ratings = {f"{n} rating{'s' if n > 1 else ''}": n for n in (1, 2, 3, 5, 8)}
    return facts_json(
        {
            "columns": attack_sweep(
                "linkage",
                "columns",
                columns,
                label="the attacker joins on",
                settings={"people": 20_000},
                start=4,
            ),
            "ratings": attack_sweep(
                "netflix",
                "known",
                ratings,
                label="the attacker knows, with dates to 14 days,",
                settings={"wrong": 0, "people": 2_000, "targets": 200},
                start=2,
                private="told from noisy counts whether the person is there",
            ),
        }
    )
