"""Every randomizer's exact law: what it claims is what the encoder does, and at most e^epsilon."""

from fractions import Fraction
from functools import partial
from math import exp, log

import numpy as np
import pytest

from discreet.errors import InternalError, InvalidInput
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.rng import SystemRng
from discreet.survey.audited import AUDITED, WORDS, as_numbers
from discreet.survey.randomizers.base import STEPS, WORD, Draws, check_ratio, coins, truthful_parts
from discreet.survey.randomizers.bits import packed_coins
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.local_hash import LocalHash
from discreet.survey.randomizers.projective import ProjectiveResponse, indices_many, points_many
from discreet.testing.statistics import upper_gamma
from laws_kit import exact_law, index_of_point, kept_law, point
from sittings import FULL
from survey_kit import NUMBERS, VALUES, RecordedBytes, Script, made, outcomes

ALPHA = 1e-9  # chance that a correct sampler fails one of these tests
EPSILONS = ["0.1", "1", "2", "4", "8", "60"] if FULL else ["0.1", "4", "60"]


def laws(name, randomizer):
    """Return the exact laws of whole reports under several values (positions, for numbers).

    Of RAPPOR those of the bits that are kept for ever: what any number of reports tells at most.
    """
    values = [0, 1, STEPS // 2, STEPS] if name in NUMBERS else VALUES[name]
    return [kept_law(randomizer, value) for value in values]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", AUDITED)
def test_the_enumerated_ratio_is_the_stated_one_and_at_most_the_claim(name, epsilon):
    if name in {"local_hash", "projective"} and float(epsilon) > 4:
        pytest.skip("more than twelve bits a report: by the product proof of the note")
    randomizer = made(name, epsilon)
    found = laws(name, randomizer)
    assert all(sum(law) == 1 for law in found)
    assert all(mass > 0 for law in found for mass in law)
    worst = max(max(column) / min(column) for column in zip(*found, strict=True))
    assert worst == randomizer.worst_ratio
    # 1 / ratio >= e^-epsilon, with certified bounds of more digits than the code itself uses
    assert (1 / worst) * (1 << 200) >= exp_bounds(-Fraction(epsilon), 200)[0]


@pytest.mark.parametrize("name", AUDITED)
def test_little_of_the_claim_is_lost_to_rounding(name):
    for epsilon in (0.5, 1, 2, 4):
        assert log(made(name, str(epsilon)).worst_ratio) > epsilon - 2e-5


def test_a_ratio_above_the_claim_is_noticed():
    with pytest.raises(InternalError):
        check_ratio(Fraction(272, 100), Fraction(1))
    check_ratio(Fraction(271, 100), Fraction(1))
    one_more = truthful_parts(Fraction(1), Fraction(1)) + 1
    with pytest.raises(InternalError):
        check_ratio(Fraction(one_more, WORD - one_more), Fraction(1))


@pytest.mark.parametrize("name", [name for name in AUDITED if name not in NUMBERS])
def test_the_encoder_has_exactly_its_law(name):
    randomizer = made(name, "1")
    if name in ("count_mean_sketch", "rappor_sketch"):
        randomizer = type(randomizer).of(Fraction(1), rows=2, buckets=4)
    for value in VALUES[name][:2]:
        law = exact_law(randomizer, value)
        found = [Fraction(0)] * len(law)
        by_branch = [Fraction(0), Fraction(0)]
        longest = 2 + randomizer.dimension - 1 if name == "projective" else 64
        encode = bounded(randomizer, longest)
        ways = [way for way in outcomes(partial(encode, value), longest) if way[0] is not None]
        for _, mass, first in ways:
            by_branch[min(first, 1)] += mass
        for report, mass, first in ways:
            if name == "projective":  # a point 0 is drawn again: the branch keeps its whole mass
                whole = randomizer.own if first else 1 - randomizer.own
                mass *= whole / by_branch[first]  # noqa: PLW2901
            found[number(report, randomizer)] += mass
        assert found == law


class Redrawn(Exception):
    """The encoder draws again from the beginning."""


def bounded(randomizer, longest):
    """Return the encoder, which gives None once it draws more than `longest` times."""

    def encode(value, draws):
        below = draws.below

        def limited(count):
            if len(draws.taken) >= longest:
                raise Redrawn
            return below(count)

        draws.below = limited
        try:
            return randomizer.encode(value, draws)
        except Redrawn:
            return None

    return encode


def number(report, randomizer):
    if isinstance(report, int):
        return report
    bits = "".join(f"{byte:08b}" for byte in report)
    buckets = getattr(randomizer, "buckets", 0)
    if buckets:  # two bytes of row, then the bits
        return int(bits[:16], 2) * 2**buckets + int(bits[16 : 16 + buckets], 2)
    return int(bits[: randomizer.codes], 2)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_encoder_of_numbers_has_exactly_its_law(name):
    randomizer = made(name, "3")
    for value, position in ((0.0, 0), (1.0, STEPS), (0.5, STEPS // 2)):
        found = {}
        for report, mass, _ in branches(name, randomizer, value):
            found[report] = found.get(report, 0) + mass
        law = exact_law(randomizer, position)
        assert all(law[report] == mass for report, mass in found.items())
        assert sum(found.values()) == 1


def branches(name, randomizer, value):
    """Yield outcomes with the many equal ones of a uniform draw explored one by one."""
    yield from outcomes(lambda draws: randomizer.encode(value, Flat(draws)))


class Flat:
    """Draws in which the choice that a coin has ruled out is not explored (it changes nothing)."""

    def __init__(self, draws):
        self.draws, self.kept = draws, None

    def coin(self, parts):
        if parts == 0:  # the rounding coin of a number that lies on the lattice
            return False
        self.kept = self.draws.coin(parts)
        return self.kept

    def below(self, count):
        near = count != STEPS
        return self.draws.below(count) if near == self.kept else 0


@pytest.mark.parametrize("epsilon", ["1", "4"])
@pytest.mark.parametrize("name", AUDITED)
def test_many_at_once_follow_the_same_law(name, epsilon):
    """Chi-square at ALPHA; the law of another value must be rejected, or the test could not fail."""
    randomizer, count = (
        made(name, epsilon),
        100_000 if FULL else 30_000,
    )
    first, second = VALUES[name][:2]
    values = [first] * count if name in WORDS else np.full(count, first)
    reports = randomizer.encode_many(values, SystemRng())
    seen = np.bincount(cells(name, randomizer, reports), minlength=len(laws(name, randomizer)[0]))
    right = law_of(name, randomizer, first)
    wrong = law_of(name, randomizer, second)
    assert chi_square(seen, right) > ALPHA
    assert chi_square(seen, wrong) < ALPHA


def law_of(name, randomizer, value):
    return exact_law(randomizer, round(value * STEPS) if name in NUMBERS else value)


def cells(name, randomizer, reports):
    if reports.ndim == 1:
        return reports
    if name in ("unary", "rappor"):
        return as_numbers(reports) >> (-randomizer.codes % 8)
    return as_numbers(reports)  # eight buckets: the row's bytes, then one byte of bits


def chi_square(seen, law):
    expected = np.array([float(mass) for mass in law]) * seen.sum()
    order = np.argsort(expected)
    merged_seen, merged = [0.0], [0.0]
    for at in order:  # merge small cells until each expects at least 10
        if merged[-1] >= 10:
            merged_seen.append(0.0)
            merged.append(0.0)
        merged_seen[-1] += seen[at]
        merged[-1] += expected[at]
    statistic = sum((s - e) ** 2 / e for s, e in zip(merged_seen, merged, strict=True))
    freedom = len(merged) - 1
    if statistic > freedom + 20 * (2 * freedom) ** 0.5 + 200:  # far below 1e-9, and out of reach
        return 0.0
    return upper_gamma(freedom / 2, statistic / 2)


def test_coins_count_whole_parts():
    assert coins(0, 1000, SystemRng()).sum() == 0
    assert coins(WORD, 1000, SystemRng()).sum() == 1000

    class Tied:  # every first byte ties with parts' own, the rest is just below or just above
        def __init__(self, rest):
            self.first, self.rest = True, rest

        def words(self, count):
            byte = 0x80 if self.first else None
            self.first = False
            if byte is not None:
                return np.full(8 * count, byte, dtype=np.uint8).view(np.uint64)
            return np.full(2 * count, self.rest << 8, dtype=np.uint32).view(np.uint64)

    assert coins(0x80000001, 16, Tied(0)).all()
    assert not coins(0x80000001, 16, Tied(1)).any()


@pytest.mark.parametrize(
    "parts", [0, 1 << 31, 1 << 30, 3 << 30, 1 << 24, 1 << 20, 3 << 22, 0xFF000000, 123_456_789]
)
def test_packed_coins_fall_as_often_as_they_should(parts):
    """Binomial: six standard errors, 2e-9 each; half a part in 64 more would be noticed."""
    words = 20_000
    seen = int(np.bitwise_count(packed_coins(parts, words, SystemRng())).sum())
    share, coins_thrown = parts / WORD, 64 * words
    assert abs(seen - coins_thrown * share) <= 6 * (coins_thrown * share * (1 - share)) ** 0.5
    assert packed_coins(parts, 0, SystemRng()).size == 0


@pytest.mark.parametrize("parts", [1 << 30, 0x80000001, 0x12345678, 0xFFFFFFFF, 1])
def test_packed_coins_compare_whole_numbers(parts):
    """With every digit scripted: a number is told exactly where it is below `parts`."""
    needed = 32 - ((parts & -parts).bit_length() - 1)
    top = parts >> (32 - needed)
    for number in {0, top - 1, top, min(top + 1, 2**needed - 1), 2**needed - 1}:
        below = packed_coins(parts, 1, Scripted(number, needed))
        assert (below == np.uint64(2**64 - 1 if number < top else 0)).all()


class Scripted:
    """Words that spell one number in every lane: bytes from the highest, in each the lowest bit first."""

    def __init__(self, number, width):
        self.number, self.left = number, width

    def words(self, count):
        width = min(8, self.left)
        self.left -= width
        byte = self.number >> self.left & ((1 << width) - 1)
        planes = [0 if byte >> at & 1 else 2**64 - 1 for at in range(width)]  # turned over
        return np.array(planes[:count], dtype=np.uint64)


def test_draws_are_uniform_and_reject_the_uneven_end():
    three = RecordedBytes(bytes.fromhex("fffffffffffffffe00000005"))
    assert Draws(three).below(3) == (WORD - 2) % 3  # 2^32 - 1 is beyond the last full multiple of 3
    assert three.used == 8
    assert Draws(RecordedBytes(b"")).below(1) == 0
    assert Draws(RecordedBytes(bytes.fromhex("00000005"))).coin(6)
    assert not Draws(RecordedBytes(bytes.fromhex("00000005"))).coin(5)
    with pytest.raises(InvalidInput):
        Draws(RecordedBytes(b"123")).word()


def test_points_are_numbered_without_gaps():
    for prime, length in ((2, 4), (3, 3), (5, 3)):
        count = (prime**length - 1) // (prime - 1)
        everything = [point(index, prime, length) for index in range(count)]
        assert len({tuple(each) for each in everything}) == count
        assert [index_of_point(each, prime) for each in everything] == list(range(count))
        twice = [[2 * digit % prime for digit in each] for each in everything]
        if prime > 2:
            assert [index_of_point(each, prime) for each in twice] == list(range(count))
        assert points_many(np.arange(count), prime, length).tolist() == everything
        assert indices_many(np.array(everything), prime).tolist() == list(range(count))


def test_sizes_that_cannot_work_are_refused():
    for wrong in (
        lambda: KaryResponse.of(1, Fraction(1)),
        lambda: KaryResponse.of(1 << 21, Fraction(1)),
        lambda: KaryResponse.of(2, Fraction(1, 10**6)),
        lambda: LocalHash.of(1 << 40, Fraction(1)),
        lambda: ProjectiveResponse.of(1 << 40, Fraction(1)),
        lambda: ProjectiveResponse.of(1, Fraction(1)),
    ):
        with pytest.raises(InvalidInput):
            wrong()


@pytest.mark.parametrize("name", ["warner", "k_ary", "unary", "local_hash", "projective", "rappor"])
def test_a_code_that_no_option_has_is_never_told(name):
    randomizer = made(name, 1)
    for value in (-1, randomizer.codes, 0.0, 48213, "0"):
        with pytest.raises(InvalidInput):
            randomizer.encode(value, Script([]))
        with pytest.raises(InvalidInput):
            randomizer.encode_many([value], SystemRng())


def test_warner_is_the_mission_s_coin():
    randomizer = KaryResponse.of(2, Fraction("1.0986122886"), name="warner")
    assert abs(float(randomizer.own) - 3 / 4) < 1e-9
    assert abs(float(randomizer.own - randomizer.other) - 1 / 2) < 1e-9  # q = tanh(epsilon / 2)
    assert abs(exp(1.0986122886) - 3) < 1e-9
