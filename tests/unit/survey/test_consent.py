"""What respondents are told before they answer follows from the exact laws of the randomizers."""

from fractions import Fraction

import pytest

from discreet.survey.audited import AUDITED
from discreet.survey.mechanisms import ChosenRandomizer
from discreet.survey.plan import ConsentFacts, QuestionFacts, SurveyPlan, promise_of
from discreet.survey.randomizers.base import STEPS
from discreet.survey.specification import survey_of
from laws_kit import kept_law
from survey_kit import NUMBERS, VALUES, made


def plan_of(epsilon, **more):
    stated = {"title": "t", "epsilon": epsilon, "questions": {"a": {"kind": "yes-no"}}, **more}
    return SurveyPlan.of(survey_of(stated, name="s"))


def surest(laws):
    """Return how sure of one of two equally likely answers the worst report makes anyone."""
    return max(max(c) / (max(c) + min(c)) for c in zip(*laws, strict=True))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "4"])
@pytest.mark.parametrize("name", AUDITED)
def test_facts_are_those_of_the_exact_law(name, epsilon):
    randomizer = made(name, epsilon)
    one = plan_of(epsilon)
    plan = SurveyPlan(one.survey, (ChosenRandomizer(randomizer, ""),))
    (facts,) = ConsentFacts.of(plan).questions
    values = [0, 1, STEPS // 2, STEPS] if name in NUMBERS else VALUES[name]
    laws = [kept_law(randomizer, value) for value in values]
    assert facts.sure == surest(laws)
    if name in ("warner", "k_ary"):
        assert [law[value] for value, law in zip(values, laws, strict=True)] == [facts.truth] * len(
            laws
        )
    else:
        assert facts.truth is None


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [("0.01", "some"), ("2.999", "some"), ("3", "little"), ("5.999", "little"), ("6", "hardly"), ("20", "hardly")],
)  # fmt: skip
def test_the_word_for_the_protection_follows_from_epsilon(epsilon, word):
    plan = plan_of(epsilon)
    assert ConsentFacts.of(plan).protection == word
    promise = " ".join(promise_of(plan))
    assert ("protects their answers little" in promise) == (word == "little")
    assert ("hardly protects their answers" in promise) == (word == "hardly")


def test_two_waves_tell_more_than_one_of_them():
    (facts,) = ConsentFacts.of(plan_of("2", waves=2)).questions
    (single,) = ConsentFacts.of(plan_of("1")).questions
    odds = facts.sure / (1 - facts.sure)
    assert odds == (single.sure / (1 - single.sure)) ** 2
    assert facts.truth == single.truth < Fraction(3, 4)


@pytest.mark.parametrize(("parts", "above"), [(998, False), (999, False), (999.0001, True)])
def test_above_what_is_told_as_a_number_there_is_no_upper_bound(parts, above):
    assert QuestionFacts(None, Fraction(parts) / 1000).nearly_certain == above
