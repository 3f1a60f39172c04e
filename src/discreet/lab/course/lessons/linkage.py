"""The lesson 'linkage': why taking out names is not enough.

Exercise: how many people are alone in a crowd of pigeonholes.
Figures: the linkage attack with more and more columns, and the Netflix attack with more and more ratings.
"""

from __future__ import annotations

from discreet.lab.course.facts import attack_sweep, facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, judged, near

PEOPLE, YEARS, SEXES = 10_000, 80, 2
SUBSCRIBERS, SEEN_BY = 480_000, 500


def alone(people: int, holes: float) -> float:
    """Return the chance that nobody else of `people` is in a given person's pigeonhole."""
    return float((1 - 1 / holes) ** (people - 1))


def _films(given: float) -> GradedAnswer:
    left = [SUBSCRIBERS / SEEN_BY**films for films in range(10)]
    needed = next(films for films, people in enumerate(left) if people < 1)
    return judged(
        given == needed,
        f"Yes: after {needed} films {left[needed]:.3f} other subscribers are left on average.",
        "Each such film divides the crowd by 500. When is less than one person left?",
    )


QUESTIONS = (
    LessonQuestion(
        "alone",
        "A ZIP code has 10,000 people. Birth dates are spread evenly over 80 years of 365.25 days, and half of the "
        "people are women. What is the chance that a person is alone with ZIP code, birth date and sex?",
        near(
            lambda: alone(PEOPLE, YEARS * 365.25 * SEXES),
            "Yes: (1 - 1/58,440)^9,999 is {:.3f}. The other columns of the file are then theirs.",
            "How many pigeonholes are there, and what is the chance that 9,999 others all miss yours?",
            within=0.01,
        ),
        "0.843",
        "80 x 365.25 x 2 = 58,440 pigeonholes; (1 - 1/58,440)^9,999, about e^(-0.171).",
        "A share such as 0.5, or 50%.",
    ),
    LessonQuestion(
        "films",
        "Of 480,000 subscribers one in 500 has seen a certain film, whatever else they saw. How many such films must "
        "an attacker know of you until on average less than one other person is left?",
        _films,
        "3",
        "480,000 / 500^2 is 1.9, and / 500^3 is 0.004.",
        "A whole number.",
    ),
)


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
