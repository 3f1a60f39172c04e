"""Estimates: unbiased, intervals that cover, consistency, cross tables, plans and the shuffle bound."""

import math
from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.privacy.noise.rng import SystemRng
from discreet.survey.audited import AUDITED, WORDS
from discreet.survey.command import rehearse_survey
from discreet.survey.estimators import (
    estimate_mean,
    expected_error,
    norm_sub,
    poisoning_gain,
    respondents_needed,
    shares_from,
    unit_variance,
    variance,
    worst_variance,
)
from discreet.survey.randomizers.base import NumberRange
from discreet.survey.randomizers.bits import column_sums
from discreet.survey.randomizers.count_mean import CountMeanSketch
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.local_hash import LocalHash
from discreet.survey.randomizers.numbers import HybridResponse
from discreet.survey.randomizers.prefix_tree import PrefixTree, prefix
from discreet.survey.randomizers.projective import ProjectiveResponse
from discreet.survey.randomizers.rappor import Rappor
from discreet.survey.results import EstimateRequest, cross_table, shuffled_epsilon
from discreet.testing.statistics import assert_frequency
from laws_kit import exact_law
from survey_kit import NUMBERS, made

REPEATS = 400
# Chance that correct intervals fail: of 400 draws at 0.95 fewer than 0.88 or, for the upper side,
# more than 0.999 happen with probability below 1e-7 each (binomial).
LEAST, MOST = 0.88, 0.9999


def test_the_mission_s_numbers():
    """p = 2A - 1/2 at ln 3; in general p = (A - (1-q)/2) / q with q = tanh(epsilon / 2)."""
    coin = KaryResponse.of(2, Fraction("1.098612288668"), name="warner")
    found = shares_from(coin, coin.supporters(np.array([40, 60]), [0, 1]), reports=100)
    assert found.value == pytest.approx([2 * 0.4 - 0.5, 2 * 0.6 - 0.5], abs=1e-8)
    two = KaryResponse.of(2, Fraction(2), name="warner")
    q = np.tanh(1.0)
    found = shares_from(two, two.supporters(np.array([40, 60]), [0]), reports=100)
    assert found.value[0] == pytest.approx((0.4 - (1 - q) / 2) / q, abs=1e-8)


@pytest.mark.parametrize("name", [name for name in AUDITED if name not in NUMBERS])
def test_the_expected_estimate_is_the_share(name):
    """Exactly: the law of each value supports it with `own`, others (hashes aside) with `other`."""
    randomizer = made(name, "1")
    if name in WORDS:
        return  # over all hashes only; covered below
    values = range(randomizer.codes)
    for value in values:
        law = exact_law(randomizer, value)
        for asked in values:
            mass = sum(
                share for report, share in enumerate(law) if supported(randomizer, report, asked)
            )
            assert mass == (randomizer.own if asked == value else randomizer.other)


def supported(randomizer, report, value):
    if randomizer.shape.length:
        rows = np.frombuffer(bytes([report << (-randomizer.codes % 8)]), dtype=np.uint8)
        return bool(randomizer.supports(rows.reshape(1, 1), [value])[0, 0])
    return bool(randomizer.supports(np.array([report]), [value])[0, 0])


@pytest.mark.parametrize("name", NUMBERS)
def test_the_expected_number_is_the_value(name):
    randomizer = made(name, "1")
    values, spread = randomizer.unbiased(), randomizer.variances()
    for position in (0, 1, 700, 2048):
        law = np.array([float(mass) for mass in exact_law(randomizer, position)])
        assert law @ values == pytest.approx(position / 2048, abs=1e-9)
        assert law @ (values - position / 2048) ** 2 == pytest.approx(spread[position], rel=1e-9)


SHARES = {
    "warner": lambda: KaryResponse.of(2, Fraction(1), name="warner"),
    "k-ary": lambda: KaryResponse.of(5, Fraction(2)),
    "precise": lambda: KaryResponse.of(3, Fraction(8)),
    "local-hash": lambda: LocalHash.of(20, Fraction(1)),
    "projective": lambda: ProjectiveResponse.of(40, Fraction(1)),
    "rappor": lambda: Rappor.of(4, Fraction(3)),
}


def repeated(randomizer, truth, repeats):
    """Return how many reports support value 0 in each of many repetitions."""
    told = randomizer.encode_many(np.tile(truth, repeats), SystemRng())
    return randomizer.supports(told, [0])[:, 0].reshape(repeats, len(truth)).sum(axis=1)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("name", SHARES)
def test_intervals_hold_the_respondents_own_share(name, share):
    randomizer, people = SHARES[name](), 90
    truth = np.array([0] * round(share * people) + [1] * (people - round(share * people)))
    found = shares_from(randomizer, repeated(randomizer, truth, REPEATS), reports=people)
    assert np.all((found.low <= found.value) & (found.value <= found.high))
    held = int(((found.low <= share) & (share <= found.high)).sum())
    assert_frequency(held, REPEATS, LEAST, 1.0)


def test_intervals_are_not_much_too_wide():
    """At 2,000 respondents the correction is small: coverage of 95% intervals is below 98.5%."""
    randomizer, people = SHARES["warner"](), 2000
    supporters = repeated(randomizer, np.array([0] * 600 + [1] * 1400), 2000)
    for confidence, least, most in ((0.95, 0.925, 0.985), (0.5, 0.42, 0.62)):
        found = shares_from(randomizer, supporters, reports=people, confidence=confidence)
        held = int(((found.low <= 0.3) & (found.high >= 0.3)).sum())
        assert_frequency(held, 2000, least, most)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_intervals_hold_the_respondents_own_mean(name, epsilon):
    span = NumberRange.of(-3.0, 7.0)
    randomizer = type(made(name, "1")).of(span, Fraction(epsilon))
    truth = np.linspace(-3, 1, 200)
    reports = randomizer.encode_many(np.tile(truth, REPEATS), SystemRng()).reshape(REPEATS, 200)
    found = [estimate_mean(randomizer, randomizer.tally(each), span) for each in reports]
    assert_frequency(sum(each.low <= -1 <= each.high for each in found), REPEATS, LEAST, 1.0)
    values = np.array([each.value for each in found])
    error = np.sqrt(worst_variance(randomizer) / 200 / REPEATS) * 10
    assert abs(values.mean() + 1) < 6 * error  # six standard errors: 2e-9


def test_one_report_has_a_wide_interval_not_a_certain_one():
    span = NumberRange.of(0.0, 1.0)
    for name in NUMBERS:
        randomizer = made(name, "1")
        found = estimate_mean(randomizer, randomizer.tally(np.array([0])), span)
        assert found.high - found.low > 1


def test_sketches_find_words_and_allow_for_collisions():
    sketch, people = CountMeanSketch.of(Fraction(4), rows=64, buckets=64), 20_000
    words = ["tea"] * 12_000 + ["coffee"] * 6_000 + ["milk"] * 2_000
    tally = sketch.tally(sketch.encode_many(words, SystemRng()))
    found = shares_from(
        sketch, sketch.supporters(tally, ["tea", "coffee", "milk", "water"]), reports=people
    )
    truth = np.array([0.6, 0.3, 0.1, 0.0])
    # Six standard errors, hashes and noise together.
    error = np.sqrt(variance(sketch, truth, reports=people))
    assert np.all(np.abs(found.value - truth) < 6 * error)
    assert np.all(variance(sketch, truth, reports=10**12) >= sketch.hash_variance)


def test_tallies_of_parts_add_up():
    for name in AUDITED:
        randomizer = made(name, "1")
        values = ["0", "1"] * 500 if name in WORDS else np.array([0, 1] * 500)
        reports = randomizer.encode_many(values, SystemRng())
        parts = randomizer.tally(reports[:300]) + randomizer.tally(reports[300:])
        assert np.array_equal(parts, randomizer.tally(reports))


def test_adding_words_is_counting_bits():
    noise = np.frombuffer(SystemRng().words(20_000 * 5).tobytes(), dtype=np.uint8)
    for count, length, width in (
        (20_000, 5, 37),
        (1, 5, 40),
        (0, 3, 20),
        (31, 8, 64),
        (7906, 16, 128),
        (20_000, 1, 8),
        (40_000, 12, 95),  # eight bytes of four reports, and a strip that is not full
        (400, 1250, 10_000),
    ):
        rows = noise[: count * length].reshape(count, length)
        sums = np.unpackbits(rows, axis=1)[:, :width].sum(axis=0)
        assert np.array_equal(column_sums(rows, width), sums)


def test_norm_sub_keeps_large_shares_where_clipping_shrinks_them():
    truth = np.zeros(1000)
    truth[0], truth[1:] = 0.18, 0.82 / 999
    randomizer = LocalHash.of(1000, Fraction(1))
    codes = np.repeat(np.arange(1000), np.round(truth * 100_000).astype(int))
    tally = randomizer.tally(randomizer.encode_many(codes, SystemRng()))
    noisy = shares_from(
        randomizer, randomizer.supporters(tally, range(1000)), reports=codes.size
    ).value
    kept = norm_sub(noisy)
    clipped = np.maximum(noisy, 0) / np.maximum(noisy, 0).sum()
    assert kept.sum() == pytest.approx(1)
    assert kept.min() >= 0
    assert abs(kept[0] - 0.18) < abs(clipped[0] - 0.18)
    assert norm_sub(np.array([0.25, 0.75])) == pytest.approx([0.25, 0.75])


def test_cross_tables_are_unbiased_and_cover():
    one, two = KaryResponse.of(2, Fraction(2)), KaryResponse.of(3, Fraction(2))
    first = np.array([0] * 600 + [1] * 400)
    second = np.array([0] * 500 + [1] * 100 + [2] * 400)
    held, sums = np.zeros((2, 3)), np.zeros((2, 3))
    truth = np.array([[0.5, 0.1, 0.0], [0.0, 0.0, 0.4]])
    for _ in range(REPEATS):
        told = (one.encode_many(first, SystemRng()), two.encode_many(second, SystemRng()))
        found = cross_table((one, told[0], [0, 1]), (two, told[1], [0, 1, 2]))
        held += (found.low <= truth) & (truth <= found.high)
        sums += found.value
    for each in held.ravel():
        assert_frequency(int(each), REPEATS, LEAST, MOST + 1e-4)
    assert np.all(np.abs(sums / REPEATS - truth) < 0.02)
    with pytest.raises(InvalidInput):
        cross_table((one, told[0][:0], [0]), (two, told[1][:0], [0]))
    with pytest.raises(InvalidInput):
        cross_table((one, told[0], range(200)), (two, told[1], range(200)))


def test_how_many_are_needed_is_what_the_error_says():
    for name in AUDITED:
        randomizer = made(name, "1")
        if name in WORDS:
            randomizer = type(randomizer).of(Fraction(1))
        needed = respondents_needed(randomizer, 0.05)
        assert expected_error(randomizer, needed) <= 0.05 < expected_error(randomizer, needed - 1)
        assert unit_variance(randomizer) > 0
    with pytest.raises(InvalidInput):
        respondents_needed(made("warner", "1"), 0)
    with pytest.raises(InvalidInput):
        respondents_needed(made("count_mean_sketch", "1"), 0.05)


def test_liars_weigh_as_much_as_said():
    assert poisoning_gain(KaryResponse.of(1000, Fraction(1))) == pytest.approx(582, abs=1)
    assert poisoning_gain(LocalHash.of(1000, Fraction(1))) < 3.5
    assert poisoning_gain(ProjectiveResponse.of(1000, Fraction(1))) < 3.5
    randomizer = ProjectiveResponse.of(20, Fraction(1))
    honest = randomizer.tally(randomizer.encode_many(np.arange(20).repeat(500), SystemRng()))
    before = shares_from(randomizer, randomizer.supporters(honest, [3]), reports=10_000).value[0]
    best = next(
        r for r in range(randomizer.points) if randomizer.supports(np.array([r]), [3])[0, 0]
    )
    lies = randomizer.tally(np.full(100, best))
    after = shares_from(
        randomizer, randomizer.supporters(honest + lies, [3]), reports=10_100
    ).value[0]
    # What is said is the way up from 0: an estimate that noise put elsewhere has the rest of the way.
    gain = poisoning_gain(randomizer)
    assert after - before == pytest.approx(100 / 10_100 * (gain - before), rel=1e-9)


def brute_shuffle(epsilon, reports, central):
    """Return delta at `central` by adding up every number of clones and coins."""
    share, truth = exp(-epsilon), 1 / (1 + exp(-epsilon))
    total = 0.0
    for clones in range(reports):
        mass = comb(reports - 1, clones) * share**clones * (1 - share) ** (reports - 1 - clones)
        coin = [comb(clones, a) / 2**clones for a in range(clones + 1)]
        first = [truth * b + (1 - truth) * a for a, b in zip([*coin, 0], [0, *coin], strict=True)]
        second = [truth * a + (1 - truth) * b for a, b in zip([*coin, 0], [0, *coin], strict=True)]
        total += mass * sum(
            max(0, f - exp(central) * s) for f, s in zip(first, second, strict=True)
        )
    return total


@pytest.mark.parametrize(("epsilon", "reports"), [(0.5, 60), (1.0, 100), (2.0, 100)])
def test_the_shuffle_bound_is_the_brute_force_one(epsilon, reports):
    for delta in (1e-3, 1e-6):
        found = shuffled_epsilon(epsilon, reports, delta=delta)
        assert brute_shuffle(epsilon, reports, found) <= delta * (1 + 1e-6)
        if found < epsilon * 0.99:
            assert brute_shuffle(epsilon, reports, found * 0.98) > delta


def test_shuffling_helps_as_much_as_is_known():
    assert shuffled_epsilon(1.0, 100_000, delta=1e-6) < 0.0165
    assert shuffled_epsilon(1.0, 1, delta=1e-6) == 1.0
    assert shuffled_epsilon(1.0, 10, delta=1e-6) <= 1.0


def test_hybrid_beats_both_at_the_worst():
    span = NumberRange.of(0.0, 1.0)
    hybrid = HybridResponse.of(span, Fraction(1))
    assert worst_variance(hybrid) < worst_variance(hybrid.duchi)
    assert worst_variance(hybrid) < worst_variance(hybrid.piecewise)


def test_words_that_are_cut_in_a_letter_or_at_a_blank_keep_their_share(tmp_path):
    toml, answers = tmp_path / "w.toml", tmp_path / "a.csv"
    question = '[questions.w]\nkind = "open"\nmechanism = "prefix-tree"\n'
    toml.write_text(f'title = "t"\nepsilon = 8\n{question}', encoding="utf-8")
    answers.write_text(
        "w\n" + "tea and milk\na\u00e4\u00e4\u00e4\u00e4\u00e4\n" * 6000, encoding="utf-8"
    )
    found = rehearse_survey(toml, answers)["questions"]["w"]["estimates"]
    said = {"tea and ", "a\u00e4\u00e4\u00e4..."}
    assert all(abs(found[word]["value"] - 0.5) < 0.15 for word in said)
    assert len(found) <= 4  # a false word in a thousand: three of them in 6e9


@pytest.mark.parametrize("word", [b" ", b"\xff\xfe", b"\t\n"], ids=["blank", "no text", "blanks"])
def test_forged_words_that_no_device_could_tell_are_left_out(word):
    tree, rng = PrefixTree.of(Fraction(8)), SystemRng()
    levels = [level for level in range(8) for _ in range(1000)]
    told = tree.sketch.encode_many([prefix(word, level) for level in levels], rng)
    reports = np.array(levels) * tree.sketch.shape.cells + told
    assert tree.discover(tree.tally(reports)) == {}


@pytest.mark.parametrize(
    "mechanism", ["count-mean-sketch", "hadamard-sketch", "prefix-tree", "rappor-sketch"]
)
def test_an_open_question_that_nobody_answered(tmp_path, mechanism):
    toml, answers = tmp_path / "w.toml", tmp_path / "a.csv"
    question = f'[questions.o]\nkind = "open"\nmechanism = "{mechanism}"\n'
    head = 'title = "t"\nepsilon = 2\n[questions.a]\nkind = "yes-no"\n'
    toml.write_text(head + question, encoding="utf-8")
    answers.write_text("a,o\nyes,\nno,\n", encoding="utf-8")
    assert rehearse_survey(toml, answers)["questions"]["o"]["answers"] == 0
    for cross in (("a", "o"), ("a", "a")):
        with pytest.raises(InvalidInput):
            rehearse_survey(toml, answers, wanted=EstimateRequest(cross=cross))


@pytest.mark.parametrize("error", [1e-160, 1e200, 0.0, math.inf, math.nan])
def test_errors_that_no_number_of_respondents_gives(error):
    with pytest.raises(InvalidInput):
        respondents_needed(KaryResponse.of(2, Fraction(1)), error)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1 - 2**-53, math.nan])
def test_a_confidence_that_is_certain_is_refused(confidence):
    with pytest.raises(InvalidInput):
        EstimateRequest(confidence=confidence)


def test_what_is_wanted_is_checked_once_for_command_and_body():
    wanted = EstimateRequest.of(candidates={"o": ["tea", "milk", "tea"]}, cross=["a", "o"])
    assert (wanted.candidates, wanted.cross) == ({"o": ["tea", "milk"]}, ("a", "o"))
    assert EstimateRequest.of() == EstimateRequest()
    for cross in (["a"], ["a", "a"], ["a", "b", "c"]):
        with pytest.raises(InvalidInput, match="two questions"):
            EstimateRequest.of(cross=cross)
    with pytest.raises(InvalidInput, match="confidence"):
        EstimateRequest.of(confidence=1)


def test_frequent_words_are_found_without_a_list():
    tree = PrefixTree.of(Fraction(6))
    words = ["tea"] * 20_000 + ["coffee"] * 15_000 + ["\U0001f600"] * 10_000
    words += [f"rare {i}" for i in range(5_000)]
    tally = tree.tally(tree.encode_many(words, SystemRng()))
    assert {"tea", "coffee", "\U0001f600"} <= set(tree.discover(tally))
    assert len(tree.discover(tally)) < 10
    deepest = int(tree.deepest(tally).sum())
    found = shares_from(tree, tree.supporters(tally, ["tea", "milk"]), reports=deepest)
    error = np.sqrt(variance(tree, np.array([0.4, 0.0]), reports=deepest))
    assert np.all(np.abs(found.value - [0.4, 0.0]) < 6 * error)
    assert tree.discover(np.zeros_like(tally)) == {}
    assert poisoning_gain(tree) == 8 * poisoning_gain(tree.sketch)


def test_longer_words_are_found_by_more_levels(tmp_path):
    toml, answers = tmp_path / "w.toml", tmp_path / "a.csv"
    question = '[questions.w]\nkind = "open"\nmechanism = "prefix-tree"\nlevels = 16\n'
    toml.write_text(f'title = "t"\nepsilon = 8\n{question}', encoding="utf-8")
    answers.write_text("w\n" + "tea and milk\ninternationally known\n" * 8000, encoding="utf-8")
    found = rehearse_survey(toml, answers)["questions"]["w"]["estimates"]
    # A thousand reports on the deepest level: six standard errors are below 0.2.
    assert all(
        abs(found[word]["value"] - 0.5) < 0.2 for word in ("tea and milk", "internationally ")
    )
    assert len(found) <= 4  # a false word in a thousand: three of them in 6e9


REACHES = [
    ("yes-no", ""),
    ("choice", 'options = ["a", "b", "c", "d", "e"]'),
    ("number", "lower = 0\nupper = 10"),
]
GIVEN = {"yes-no": ("yes", "no"), "choice": ("a", "b"), "number": ("10", "0")}


@pytest.mark.parametrize(("kind", "more"), REACHES)
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
@pytest.mark.parametrize("answers", [6, 40, 400])
def test_no_interval_reaches_further_than_is_said(tmp_path, kind, more, epsilon, answers):
    spec = f'title = "t"\nepsilon = {epsilon}\n[questions.a]\nkind = "{kind}"\n{more}\n'
    (tmp_path / "s.toml").write_text(spec)
    for held in (0, answers // 10, answers // 2):
        lines = [GIVEN[kind][0]] * held + [GIVEN[kind][1]] * (answers - held)
        (tmp_path / "a.csv").write_text("\n".join(["a", *lines]) + "\n")
        for _ in range(4):
            result = rehearse_survey(tmp_path / "s.toml", tmp_path / "a.csv")["questions"]["a"]
            every = [result["mean"]] if kind == "number" else result["estimates"].values()
            for each in every:
                reach = max(each["value"] - each["low"], each["high"] - each["value"])
                assert reach <= result["error95"] * (1 + 1e-9)


@pytest.mark.parametrize("name", ["warner", "k_ary", "local_hash", "projective", "unary"])
def test_the_expected_error_is_the_reach_of_the_widest_interval(name):
    """For every number of supporters, and not further than the widest of them by more than a hundredth."""
    randomizer = made(name, "1")
    for reports in (6, 40, 1000):
        found = shares_from(randomizer, np.arange(reports + 1), reports=reports)
        widest = float(np.maximum(found.high - found.value, found.value - found.low).max())
        said = expected_error(randomizer, reports)
        assert widest <= said * (1 + 1e-9)
        assert widest >= said * 0.99
