"""What the JavaScript device tells respondents of a survey is what Python works out, for every mechanism."""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import run_node

from discreet.survey.spec.consent import ConsentFacts
from discreet.survey.spec.mechanisms import MECHANISMS
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import survey_of
from respondent_kit import every_mechanism

EPSILONS = ("0.1", "1.0986", "2.999", "3", "5.999", "6", "12", "20", "40")


def plans():
    """Return surveys with one question a mechanism, at many epsilons, in one wave and in four."""
    for epsilon in EPSILONS:
        for waves in (1, 4):
            stated = every_mechanism(epsilon, waves=waves)
            yield SurveyPlan.of(survey_of(stated, name="s"))


def share(pair):
    return None if pair is None else Fraction(int(pair[0]), int(pair[1]))


def test_facts_are_those_of_python():
    given = list(plans())
    found = run_node("facts.mjs", {"documents": [plan.document.decode() for plan in given]})
    for plan, told in zip(given, found, strict=True):
        facts = ConsentFacts.of(plan)
        assert len(facts.questions) == len(MECHANISMS)
        assert told["protection"] == facts.protection
        assert [(share(truth), share(sure)) for truth, sure in told["questions"]] == [
            (each.truth, each.sure) for each in facts.questions
        ]
