"""What the JavaScript device tells respondents of a survey is what Python works out, for every mechanism."""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import MODULE, run_node

from consent_kit import question_text
from discreet.server.features.survey.pages import LANGUAGES, words_in
from discreet.survey.mechanisms import MECHANISMS
from discreet.survey.plan import ConsentFacts, SurveyPlan
from discreet.survey.specification import survey_of
from respondent_kit import every_mechanism

EPSILONS = ("0.1", "1.0986", "2.999", "3", "5.999", "6", "12", "20", "40", "90", "200")


def plans():
    """Return surveys with one question a mechanism, at many epsilons, in one wave and in four."""
    for epsilon in EPSILONS:
        for waves in (1, 4):
            stated = every_mechanism(epsilon, waves=waves)
            yield SurveyPlan.of(survey_of(stated, name="s"))


def share(pair):
    return None if pair is None else Fraction(int(pair[0]), int(pair[1]))


WORDS = [words_in(each) for each in LANGUAGES]
CONSENT = MODULE.parent / "consent.js"


def told_by_the_device(given, words):
    """Return what the device tells respondents of each survey, in the words of each language."""
    documents = [plan.document.decode() for plan in given]
    return run_node(
        "facts.mjs", {"consent": str(CONSENT), "languages": words, "documents": documents}
    )


def test_facts_and_sentences_are_those_of_python():
    given, seen = list(plans()), set()
    for plan, told in zip(given, told_by_the_device(given, WORDS), strict=True):
        facts = ConsentFacts.of(plan)
        assert len(facts.questions) == len(MECHANISMS)
        assert told["protection"] == facts.protection
        assert [(share(truth), share(sure), above) for truth, sure, above in told["questions"]] == [
            (each.truth, each.sure, each.nearly_certain) for each in facts.questions
        ]
        for words, sentences in zip(WORDS, told["sentences"], strict=True):
            assert sentences == [question_text(each, words) for each in facts.questions]
        seen |= {each.nearly_certain for each in facts.questions}
    assert seen == {False, True}


BOUNDS = {
    "en": ("at most", "more than"),
    "de": ("höchstens", "mehr als"),
    "fr": ("au plus", "plus de "),
}
"""What is said of a number that is an upper bound, and of one that is exceeded."""


def bounded_twice(every_words):
    """Return the languages and sentences that respondents would read with an upper bound that is exceeded."""
    return [
        (words["language"], said)
        for told in told_by_the_device(plans(), every_words)
        for words, sentences in zip(every_words, told["sentences"], strict=True)
        for said in sentences
        if all(bound in said for bound in BOUNDS[words["language"]])
    ]


def test_nobody_reads_that_something_is_at_most_more_than_a_number():
    assert bounded_twice(WORDS) == []


def test_without_a_sentence_of_its_own_they_do():
    """The twin: the words as they were."""
    before = [
        words
        | {"nearly_certain": words["sure"].replace("{share}", words["more_than"].format(number=99))}
        for words in WORDS
    ]
    assert {language for language, _ in bounded_twice(before)} == set(LANGUAGES)
