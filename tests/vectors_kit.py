"""Test vectors: what any second implementation of a device must reproduce byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from typing import Any

from discreet.survey.device import Device
from discreet.survey.plan import SurveyPlan, value_of
from discreet.survey.randomizers.base import Draws
from discreet.survey.specification import survey_of
from survey_kit import RecordedBytes

_FILE = "vectors.json"
_SURVEYS: tuple[tuple[str, int, dict[str, dict[str, Any]]], ...] = (
    (
        "1.0986",
        0,
        {"smokes": {"kind": "yes-no", "text": "Do you smoke?"}},
    ),
    (
        "8.0",
        0,
        {
            "smokes": {"kind": "yes-no"},
            "grade": {"kind": "choice", "options": ["9", "10", "11", "12"]},
            "street": {"kind": "choice", "options": [f"street {i}" for i in range(300)]},
            "hours": {"kind": "number", "lower": 0, "upper": 12},
            "emoji": {"kind": "open"},
        },
    ),
    (
        "6",
        1,
        {
            "unary": {"kind": "choice", "options": list("abcdefghijk"), "mechanism": "unary"},
            "hash": {
                "kind": "choice",
                "options": [str(i) for i in range(1000)],
                "mechanism": "local-hash",
            },
            "small": {"kind": "number", "lower": -5, "upper": 5, "mechanism": "duchi"},
            "steps": {"kind": "number", "lower": 0.1, "upper": 0.9, "mechanism": "piecewise"},
            "word": {"kind": "open", "mechanism": "hadamard-sketch", "rows": 32, "buckets": 64},
            "tiny": {"kind": "open", "rows": 16, "buckets": 32},
        },
    ),
    ("2", 0, {"found": {"kind": "open", "mechanism": "prefix-tree"}}),
    (
        "4",
        0,
        {
            "letter": {"kind": "choice", "options": list("abcdefghijk"), "mechanism": "rappor"},
            "phrase": {"kind": "open", "mechanism": "rappor-sketch", "rows": 16, "buckets": 32},
        },
    ),
)
_ANSWERS: dict[str, tuple[str, ...]] = {
    "smokes": ("yes", "no"),
    "grade": ("9", "12"),
    "street": ("street 0", "street 7", "street 299"),
    "hours": ("0", "2.5", "7.3", "12"),
    "emoji": ("\U0001f600", "cafe\u0301"),
    "unary": ("a", "k"),
    "hash": ("0", "999"),
    "small": ("-5", "-1.7", "5"),
    "steps": ("0.1", "0.37", "0.9"),
    "word": ("tea",),
    "tiny": ("tea", "  tea "),
    "found": ("tea", "internationally"),
    "letter": ("a", "k"),
    "phrase": ("tea", "two words"),
}


def stored_vectors() -> dict[str, Any]:
    """Return the vectors that are shipped with the package."""
    text = files("discreet.survey").joinpath(_FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def make_vectors() -> dict[str, Any]:
    """Return the vectors as this implementation makes them."""
    return {
        "about": "See docs/survey-reports.md. Bytes are hexadecimal; reports stand as in the JSON twin.",
        "surveys": [_survey(*stated) for stated in _SURVEYS],
    }


def _survey(epsilon: str, more: int, questions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    stated = {"title": "Vectors", "epsilon": epsilon, "waves": 1 + more, "questions": questions}
    plan = SurveyPlan.of(survey_of(stated, name="vectors"), nonce="00112233")
    return {
        "document": plan.document.decode(),
        "id": plan.id.hex(),
        "reports": [case for index in range(len(plan.choices)) for case in _reports(plan, index)],
        "donations": [_donation(plan, turn) for turn in range(2)],
    }


def _reports(plan: SurveyPlan, index: int) -> Iterator[dict[str, Any]]:
    question, randomizer = plan.survey.questions[index], plan.choices[index].randomizer
    for answer in _ANSWERS[question.name]:
        value = value_of(question, answer)
        for turn in range(3):
            source = RecordedBytes(_recorded(f"{question.name} {answer} {turn}"))
            report = randomizer.encode(value, Draws(source))
            used = source.used
            yield {
                "question": index,
                "answer": answer,
                "random": _recorded(f"{question.name} {answer} {turn}")[:used].hex(),
                "report": report.hex() if isinstance(report, bytes) else report,
            }


def _donation(plan: SurveyPlan, turn: int) -> dict[str, Any]:
    answers = {each.name: _ANSWERS[each.name][-1 - turn % 2 :][0] for each in plan.survey.questions}
    answers = {name: answer for name, answer in answers.items() if turn == 0 or name != "grade"}
    recorded = _recorded(f"donation {turn}")
    coins = RecordedBytes(recorded)
    donation = Device().donate(plan, answers, coins=coins)
    assert donation is not None
    return {
        "random": recorded[: coins.used].hex(),
        "answers": answers,
        "cbor": donation.to_cbor().hex(),
        "json": donation.to_json(),
    }


def _recorded(name: str) -> bytes:
    return b"".join(sha256(f"{name} {block}".encode()).digest() for block in range(400))
