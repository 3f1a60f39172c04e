"""The JavaScript device, audited as it is shipped: a fresh device for each report, WebCrypto and all; and
every randomizer of the module by itself, whole reports, at what it claims and close to it.

False alarms: each law is rejected at ALPHA, each audited bound exceeds the truth with at most AUDIT_ALPHA.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import run_node

from discreet.audit.bounds import epsilon_from_shares
from discreet.survey.plan import SurveyPlan
from discreet.survey.randomizers.base import STEPS
from discreet.survey.specification import survey_of
from discreet.testing.statistics import upper_gamma
from laws_kit import exact_law, kept_law

ALPHA = 1e-9
AUDIT_ALPHA = 1e-9
LEAST_EXPECTED = 10
SHIFT = 1 << 27  # the broken twin tells the truth 1/32 more often than it says
CODES = {"kind": "choice", "options": list("abcd")}
QUESTIONS = {
    "warner": ({"kind": "yes-no"}, ("yes", "no"), (0, 1)),
    "k-ary": (CODES, ("a", "d"), (0, 3)),
    "unary": (CODES | {"mechanism": "unary"}, ("a", "b"), (0, 1)),
    "local-hash": (CODES | {"mechanism": "local-hash"}, ("a", "b"), (0, 1)),
    "projective": (CODES | {"mechanism": "projective"}, ("a", "b"), (0, 1)),
    "count-mean-sketch": ({"kind": "open", "rows": 4, "buckets": 8}, ("0", "1"), ("0", "1")),
    "hadamard-sketch": (
        {"kind": "open", "mechanism": "hadamard-sketch", "rows": 4, "buckets": 8},
        ("0", "1"),
        ("0", "1"),
    ),
    "prefix-tree": (
        {"kind": "open", "mechanism": "prefix-tree", "rows": 4, "buckets": 8},
        ("0", "1"),
        ("0", "1"),
    ),
    "rappor": (CODES | {"mechanism": "rappor"}, ("a", "b"), (0, 1)),
    "rappor-sketch": (
        {"kind": "open", "mechanism": "rappor-sketch", "rows": 4, "buckets": 8},
        ("0", "1"),
        ("0", "1"),
    ),
    "duchi": ({"kind": "number", "mechanism": "duchi"}, ("0", "1"), (0, STEPS)),
    "piecewise": ({"kind": "number", "mechanism": "piecewise"}, ("0", "1"), (0, STEPS)),
    "hybrid": ({"kind": "number", "mechanism": "hybrid"}, ("0", "1"), (0, STEPS)),
}


def plan_of(name, epsilon="1"):
    stated, answers, values = QUESTIONS[name]
    question = stated | ({"lower": 0, "upper": 1} if stated["kind"] == "number" else {})
    survey = survey_of({"title": "t", "epsilon": epsilon, "questions": {"q": question}}, name="s")
    return SurveyPlan.of(survey, nonce="00"), answers, values


def counted(plan, answers, times, *, broken=0):
    given = {"document": plan.document.decode(), "answers": answers, "times": times}
    return run_node("audit.mjs", given | {"broken": broken})


def number_of(name, report):
    """Return a report's place in `law`: numbers as they are, bits as rows and then bits."""
    if name in ("unary", "rappor"):
        return int(report, 16) >> 4  # four bits and four zeros
    if name in ("count-mean-sketch", "rappor-sketch"):
        row, bits = divmod(int(report, 16), 256)
        return row * 2**8 + bits
    return int(report)


def p_value(name, counts, law, times):
    """Return how surprising the counts are under the exact law (chi-square, rare neighbours merged)."""
    seen = {number_of(name, report): often for report, often in counts.items()}
    assert set(seen) <= set(range(len(law)))
    pairs = [(float(mass) * times, seen.get(at, 0)) for at, mass in enumerate(law)]
    bins, expected, found = [], 0.0, 0
    for wanted, got in pairs:
        expected, found = expected + wanted, found + got
        if expected >= LEAST_EXPECTED:
            bins.append((expected, found))
            expected, found = 0.0, 0
    if bins:
        bins[-1] = (bins[-1][0] + expected, bins[-1][1] + found)
    statistic = sum((got - wanted) ** 2 / wanted for wanted, got in bins)
    return upper_gamma((len(bins) - 1) / 2, statistic / 2)


def check_law(name, times):
    plan, answers, values = plan_of(name)
    randomizer = plan.choices[0].randomizer
    assert randomizer.name == name
    laws = [exact_law(randomizer, value) for value in values]
    for counts, law in zip(counted(plan, answers, times), laws, strict=True):
        assert p_value(name, counts, law, times) > ALPHA
        other = laws[1] if law is laws[0] else laws[0]
        assert p_value(name, counts, other, times) < ALPHA, "the test can tell laws apart"


@pytest.mark.parametrize(
    ("name", "times"),
    [("warner", 300), ("projective", 300), ("hadamard-sketch", 1_000), ("rappor", 1_700)],
)
def test_reports_follow_the_exact_law(name, times):
    """So many that laws of other answers are rejected but for one run in 10^9 at most."""
    check_law(name, times)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_reports_of_every_randomizer_follow_the_exact_law(name):
    check_law(name, 20_000)


def bound(counts, times):
    """Return a lower bound on epsilon from the event that the first answer is told."""
    first, second = counts
    return epsilon_from_shares(first["0"], second["0"], (times, times), delta=0.0, alpha=ALPHA)


def audited(name, epsilon, times):
    """Return a lower bound on what whole reports of the module's randomizer lose.

    The event is the law's: the reports that are likeliest to come from the first answer. Of RAPPOR all that
    its reports ever show is looked at, the permanent bits.
    """
    plan, answers, values = plan_of(name, epsilon)
    randomizer = plan.choices[0].randomizer
    kept = name.startswith("rappor")
    laws = [kept_law(randomizer, value) for value in values]
    ratios = [float(one / two) if two else 0.0 for one, two in zip(*laws, strict=True)]
    telling = {at for at, ratio in enumerate(ratios) if ratio > 0.99 * max(ratios)}
    given = {"document": plan.document.decode(), "answers": answers, "times": times, "bare": kept}
    first, second = (
        sum(often for told, often in counts.items() if number_of(name, told) in telling)
        for counts in run_node("randomizers.mjs", given)
    )
    return epsilon_from_shares(first, second, (times, times), delta=0.0, alpha=AUDIT_ALPHA)


def check_audit(name, epsilon, times=500_000):
    assert 0.95 * epsilon < audited(name, str(epsilon), times) <= epsilon
    assert audited(name, str(1.15 * epsilon), times) > epsilon, "a broken twin is caught"


@pytest.mark.parametrize("name", ["warner", "hadamard-sketch"])
def test_at_most_the_claim_and_within_a_twentieth_of_it(name):
    check_audit(name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 2])
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_randomizer_at_most_the_claim_and_within_a_twentieth_of_it(name, epsilon):
    check_audit(name, epsilon)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_million_reports_lose_what_is_claimed_and_not_more():
    plan, answers, _ = plan_of("warner")
    times = 500_000
    lost = bound(counted(plan, answers, times), times)
    assert 0.95 <= lost <= 1.0
    some = 50_000
    assert bound(counted(plan, answers, some, broken=SHIFT), some) > 1.0, "a broken twin is caught"
