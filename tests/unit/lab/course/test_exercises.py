"""Every exercise accepts its solution and other right answers, and rejects wrong ones, by computation."""

import pytest

from discreet.errors import InvalidInput
from discreet.lab.course import all_lessons, grade, lesson_named

ALL = [(lesson.name, question) for lesson in all_lessons() for question in lesson.questions]
RIGHT = {
    ("linkage", "alone"): ["84.3%", "exp(-9999/58440)"],
    ("aggregates", "single"): [
        "select count(*) as c from people where age = 77 and sex = 'Female'"
    ],
    ("randomized_response", "epsilon"): ["1.0986", "ln 3".replace(" ", "(") + ")"],
    ("promise", "holds"): ["d,a"],
    ("noise", "epsilon"): ["0.291"],
    ("sensitivity", "moves"): [
        "SELECT SUM(age) AS x FROM people WHERE smoker AND region = 'Kingsmead'",
        "SELECT SUM(15 * household_size) AS s FROM people",
        "SELECT SUM(CASE WHEN smoker THEN 120 ELSE 0 END) AS s FROM people",
        "SELECT 120 * COUNT(*) AS s FROM people",
    ],
    ("composition", "fifth"): [
        "SELECT COUNT(*) AS n FROM people WHERE age < 18",
        "SELECT job, COUNT(*) AS n FROM people WHERE age BETWEEN 3 AND 20 GROUP BY job",
    ],
    ("consistency", "four"): ["2,004.2; 1,006; 998.2", "2004.2,1006.0,998.2"],
}
WRONG = {
    ("linkage", "alone"): ["0.157", "0.5", "1"],
    ("linkage", "films"): ["2", "4"],
    ("k_anonymity", "left"): ["0", "2"],
    ("k_anonymity", "agree"): ["0.41", "0.9"],
    ("aggregates", "single"): [
        "SELECT COUNT(*) AS n FROM people",
        "SELECT 1 AS n FROM people",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex",
        "SELECT * FROM people",
        "drop table people",
        "SELECT COUNT(*)/COUNT(*) AS n FROM people",
        "SELECT COUNT(*) - COUNT(*) + 1 AS n FROM people",
        "SELECT COUNT(*)/1000 AS n FROM people",
        "SELECT LEAST(COUNT(*), 1) AS n FROM people",
        "SELECT MIN(household_size) AS n FROM people",
        "SELECT COUNT(DISTINCT sex) - 1 AS n FROM people",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) AS n FROM people WHERE age = 83 AND sex = 'Female'",
    ],
    ("aggregates", "last"): ["52000", "2000"],
    ("aggregates", "noise"): ["100", "2.5"],
    ("refusing", "refused"): ["1", "3", "4"],
    ("refusing", "careful"): ["2", "0"],
    ("refusing", "seconds"): ["40", "2^40"],
    ("randomized_response", "epsilon"): ["3", "ln(2)", "ln(4)"],
    ("randomized_response", "truth"): ["0.5", "0.73", "1", "-1"],
    ("randomized_response", "estimate"): ["0.45", "0.2"],
    ("randomized_response", "crowd"): ["384", "0", "-5", "1e-320", "1e308"],
    ("promise", "belief"): ["0.01", "0.0272", "2.7"],
    ("promise", "attribute"): ["0.731", "0.74", "0.5", "1"],
    ("promise", "double"): ["2", "0.5", "0", "-1"],
    ("promise", "holds"): ["A", "A B D", "A D E", "none", "B C"],
    ("noise", "names"): ["12.2", "13", "11"],
    ("noise", "epsilon"): ["0.2", "1", "0", "1e9"],
    ("noise", "variance"): ["10", "25"],
    ("noise", "from"): ["10", "12", "2.5", "1"],
    ("sensitivity", "moves"): [
        "SELECT COUNT(*) AS n FROM people",
        "SELECT SUM(income) AS s FROM people",
        "SELECT SUM(income - income + 120) AS s FROM people",
        "SELECT 119 * COUNT(*) AS s FROM people",
        "SELECT COUNT(*) + 120 AS s FROM people",
        "SELECT AVG(age) AS a FROM people",
        "SELECT MAX(age) AS a FROM people",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=4166.6666666666667) SUM(income) AS t FROM people",
    ],
    ("sensitivity", "groups"): ["5", "0.002"],
    ("sensitivity", "deviation"): ["1/400", "1"],
    ("choosing", "price"): ["3.01", "3.02", "0.99"],
    ("choosing", "loss"): ["12.2", "10000"],
    ("choosing", "chance"): ["1", "0.33"],
    ("composition", "sum"): ["1.25", "1.0"],
    ("composition", "worst"): ["1.2", "0.95"],
    ("composition", "fifth"): [
        "SELECT COUNT(*) AS n FROM people WHERE age >= 20 AND smoker",
        "SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'",
        "SELECT AVG(income) AS i FROM people",
    ],
    ("composition", "hundred"): ["10", "1"],
    ("groups", "family"): ["4", "1.65"],
    ("groups", "largest"): ["3", "5", "0.5"],
    ("groups", "visits"): ["0.1", "20"],
    ("groups", "delta"): ["1e-5", "1e-6"],
    ("consistency", "equal"): ["100 40 50", "90 40 50", "95 45 50", "96.667 43.333"],
    ("consistency", "four"): ["2002 1004 998", "2005 1001 995"],
    ("consistency", "both"): ["100", "200", "2200"],
    ("synthetic", "scale"): ["0.0002", "0.001"],
    ("synthetic", "rho"): ["1", "0.5", "0"],
    ("synthetic", "round"): ["1", "105"],
    ("local", "flip"): ["0.018", "0.5"],
    ("local", "debias"): ["1", "1.04"],
    ("local", "dearer"): ["1", "100", "50"],
    ("local", "year"): ["0.5", "365"],
    ("learning", "area"): ["0.5", "1", "0.632"],
    ("learning", "guarded"): ["0.6", "1", "0"],
    ("learning", "tuning"): ["0.0069", "13.8"],
    ("learning", "products"): ["5", "10", "625"],
    ("fairness", "size"): ["30", "60", "6000"],
    ("fairness", "group"): ["1", "2.7"],
    ("fairness", "above"): ["70.8", "20.8", "0"],
    ("consent", "told"): ["1.5", "0.5"],
    ("consent", "believes"): ["0.155", "0.1"],
    ("consent", "three"): ["1", "2"],
    ("mistakes", "first"): ["A C E", "C", "none", "A B C D E"],
    ("mistakes", "second"): ["B D", "none", "A D"],
    ("mistakes", "sigma"): ["10000", "1"],
}


@pytest.mark.parametrize(("lesson", "question"), ALL, ids=lambda v: getattr(v, "name", v))
def test_the_solution_is_right(lesson, question):
    found = grade(lesson, question.name, question.solution)
    assert found.right, found.words
    assert question.why
    for other in RIGHT.get((lesson, question.name), ()):
        found = grade(lesson, question.name, other)
        assert found.right, (other, found.words)


@pytest.mark.parametrize(("lesson", "question"), ALL, ids=lambda v: getattr(v, "name", v))
def test_wrong_answers_are_not(lesson, question):
    wrong = WRONG[lesson, question.name]
    assert len(wrong) >= 2
    for answer in (*wrong, "", "?", "nan", "x" * 300):
        found = grade(lesson, question.name, answer)
        assert not found.right, (answer, found.words)
        assert found.words


def test_right_and_wrong_answers_are_those_of_questions():
    known = {(lesson, question.name) for lesson, question in ALL}
    assert set(WRONG) == known
    assert set(RIGHT) <= known


def test_an_answer_has_an_end():
    with pytest.raises(InvalidInput):
        grade("linkage", "alone", "1" * 3_000)


def test_graders_do_not_compare_texts():
    """A checker gets a value, never the text of a number: three ways to write it are one answer."""
    for text in ("60000", "60,000", "6e4", "5*52000 - 4*50000"):
        assert grade("aggregates", "last", text).right
    assert lesson_named("aggregates").question().name == "single"
