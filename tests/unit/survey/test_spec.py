"""SURVEY.toml: read as written, refused with one sentence, and given the right randomizers."""

import re
from fractions import Fraction

import pytest

from discreet.errors import InvalidInput
from discreet.survey.mechanisms import choose, mechanisms
from discreet.survey.plan import SurveyPlan, value_of
from discreet.survey.specification import QuestionKind, SurveyQuestion, read_survey, survey_of

GOOD = {
    "title": "Smoking at our school",
    "epsilon": 2.0,
    "questions": {
        "smokes": {"kind": "yes-no", "text": "Do you smoke?"},
        "grade": {"kind": "choice", "options": ["9", "10", "11", "12"]},
        "hours": {"kind": "number", "lower": 0, "upper": 12},
        "emoji": {"kind": "open"},
    },
}


def question(**stated):
    return GOOD | {"questions": {"a": stated}}


BAD = {
    "nothing": {},
    "no title": {k: v for k, v in GOOD.items() if k != "title"},
    "no epsilon": {k: v for k, v in GOOD.items() if k != "epsilon"},
    "epsilon of nothing": GOOD | {"epsilon": 0},
    "epsilon true": GOOD | {"epsilon": True},
    "epsilon text": GOOD | {"epsilon": "much"},
    "unknown": GOOD | {"epsilom": 1},
    "no questions": GOOD | {"questions": {}},
    "a list of questions": GOOD | {"questions": [1]},
    "many questions": GOOD | {"questions": {f"q{i}": {"kind": "yes-no"} for i in range(65)}},
    "a question of text": GOOD | {"questions": {"a": "yes-no"}},
    "a name with a blank": GOOD | {"questions": {"a b": {"kind": "yes-no"}}},
    "donations": GOOD | {"donations_per_day": 0},
    "changes": GOOD | {"changes": -1},
    "waves": GOOD | {"waves": 0},
    "waves and changes": GOOD | {"waves": 2, "changes": 1},
    "reports": GOOD | {"most_reports": 0},
    "megabytes": GOOD | {"most_mb": True},
    "no kind": question(),
    "another kind": question(kind="yesno"),
    "a kind that is a list": question(kind=["yes-no"]),
    "options elsewhere": question(kind="yes-no", options=["a", "b"]),
    "no options": question(kind="choice"),
    "one option": question(kind="choice", options=["a"]),
    "options twice": question(kind="choice", options=["a", "a"]),
    "an empty option": question(kind="choice", options=["a", " "]),
    "an option of a list": question(kind="choice", options=["a", ["b"]]),
    "no bounds": question(kind="number"),
    "bounds of text": question(kind="number", lower="a", upper="b"),
    "bounds the wrong way": question(kind="number", lower=2, upper=1),
    "bounds beyond doubles": question(kind="number", lower=0, upper=10**400),
    "an odd sketch": question(kind="open", buckets=1000),
    "another mechanism": question(kind="yes-no", mechanism="hybrid"),
    "text of a number": question(kind="yes-no", text=5),
    "too little": GOOD | {"epsilon": "0.0001"},
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_gets_one_sentence(case):
    with pytest.raises(InvalidInput) as said:
        SurveyPlan.of(survey_of(BAD[case], name="s"))
    assert re.fullmatch(r"[^\n]+[.]", said.value.message)


def test_files_that_are_none(tmp_path):
    for name, content in {
        "a": b"\xff\xfe",
        "b": b"title =",
        "c": b"x" * 5_000_000,
        "d": b"[" * 9999,
    }.items():
        path = tmp_path / f"{name}.toml"
        path.write_bytes(content)
        with pytest.raises(InvalidInput):
            read_survey(path)
    with pytest.raises(InvalidInput):
        read_survey(tmp_path / "none.toml")
    with pytest.raises(InvalidInput):
        read_survey(tmp_path)
    with pytest.raises(InvalidInput):
        survey_of(GOOD, name="../up")


def test_epsilon_is_shared_by_questions_and_changes():
    assert survey_of(GOOD, name="s").question_epsilon == Fraction(1, 2)
    assert survey_of(GOOD | {"changes": 4}, name="s").question_epsilon == Fraction(1, 10)
    thirds = survey_of(GOOD | {"epsilon": 1, "changes": 2}, name="s")
    assert 12 * thirds.question_epsilon <= 1  # rounded down: never more than the whole


@pytest.mark.parametrize(
    ("kind", "options", "epsilon", "name"),
    [
        (QuestionKind.YES_NO, 2, "1", "warner"),
        (QuestionKind.CHOICE, 10, "1", "k-ary"),  # 3 e + 2 = 10.15
        (QuestionKind.CHOICE, 11, "1", "projective"),
        (QuestionKind.CHOICE, 1000, "8", "k-ary"),
        (QuestionKind.OPEN, 0, "1", "count-mean-sketch"),
        (QuestionKind.NUMBER, 0, "0.5", "duchi"),
        (QuestionKind.NUMBER, 0, "1", "hybrid"),
    ],
)
def test_the_chooser_says_why(kind, options, epsilon, name):
    asked = SurveyQuestion("a", kind, "?", tuple(str(i) for i in range(options)))
    found = choose(asked, Fraction(epsilon))
    assert found.randomizer.name == name
    assert found.why.endswith(".")


def test_every_mechanism_can_be_named():
    for kind in QuestionKind:
        for name in mechanisms(kind):
            asked = SurveyQuestion("a", kind, "?", ("a", "b", "c"), mechanism=name)
            if kind is QuestionKind.YES_NO:
                asked = SurveyQuestion("a", kind, "?", ("yes", "no"), mechanism=name)
            assert choose(asked, Fraction(1)).randomizer.name == name


def test_more_respondents_get_more_rows():
    asked = SurveyQuestion("a", QuestionKind.OPEN, "?")
    sizes = [
        choose(asked, Fraction(1), respondents=n).randomizer.rows for n in (0, 10**6, 10**7, 10**9)
    ]
    assert sizes == [1024, 1024, 16384, 16384]


def test_the_document_names_the_survey():
    plan = SurveyPlan.of(survey_of(GOOD, name="s"), nonce="a")
    assert plan.id != SurveyPlan.of(survey_of(GOOD, name="s"), nonce="b").id
    assert plan.id != SurveyPlan.of(survey_of(GOOD | {"title": "x"}, name="s"), nonce="a").id
    assert plan.id == SurveyPlan.of(survey_of(GOOD, name="t"), nonce="a").id
    with pytest.raises(InvalidInput):
        plan.question_index("other")


@pytest.mark.parametrize(("name", "answer"), [("smokes", "maybe"), ("grade", "13"), ("hours", "13"), ("hours", "nan"), ("hours", "x"), ("hours", "1_0"), ("hours", "\uff11"), ("hours", "\u00a05"), ("emoji", "x" * 300), ("emoji", "\ud800")])  # fmt: skip
def test_answers_that_are_none(name, answer):
    questions = {each.name: each for each in survey_of(GOOD, name="s").questions}
    with pytest.raises(InvalidInput) as said:
        value_of(questions[name], answer)
    assert answer not in said.value.message


def test_the_settings_of_earlier_versions_protect_nobody_less():
    earlier = survey_of(GOOD | {"changes": 3, "donations_per_day": 5}, name="s")
    assert earlier.waves == 4
    assert earlier.question_epsilon == survey_of(GOOD | {"waves": 4}, name="s").question_epsilon
    assert earlier.question_epsilon == Fraction(1, 8)
