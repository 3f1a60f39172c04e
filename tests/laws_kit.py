"""The exact law of every randomizer, written down beside it: the probability of each report of a value.

Reports are numbered: bits by their first one foremost, behind the row where there is one.
"""

from fractions import Fraction
from functools import singledispatch

import numpy as np

from discreet.survey.randomizers.base import STEPS, WORD
from discreet.survey.randomizers.bits import BitReports
from discreet.survey.randomizers.count_mean import CountMeanSketch, bucket, word_bytes
from discreet.survey.randomizers.hadamard import HadamardSketch
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.local_hash import LocalHash
from discreet.survey.randomizers.numbers import DuchiResponse, HybridResponse, PiecewiseResponse
from discreet.survey.randomizers.prefix_tree import PrefixTree, prefix
from discreet.survey.randomizers.projective import (
    ProjectiveResponse,
    digits_many,
    points_before,
    points_many,
)
from discreet.survey.randomizers.rappor import Rappor, RapporSketch


def point(index, prime, length):
    """Return a point of the projective space, one by one: what `points_many` is held against."""
    free = 0
    while points_before(free + 1, prime) <= index:
        free += 1
    rest = digits_many(np.array([index - points_before(free, prime)]), prime, free)
    return [0] * (length - 1 - free) + [1, *rest[0].tolist()]


def index_of_point(vector, prime):
    """Return the number of the point on the line through a vector: what `indices_many` is held against."""
    pivot = next(place for place, digit in enumerate(vector) if digit)
    found = 0
    for digit in vector[pivot + 1 :]:
        found = found * prime + digit * pow(vector[pivot], -1, prime) % prime
    return points_before(len(vector) - pivot - 1, prime) + found


@singledispatch
def exact_law(randomizer, value):
    """Return the probability of every report of a value (of a position, for numbers)."""
    raise NotImplementedError(type(randomizer))


def kept_law(randomizer, value):
    """Return the law of all that a device ever reports: for RAPPOR that of its permanent bits."""
    if isinstance(randomizer, RapporSketch | Rappor):
        lie = Fraction(randomizer.lie, WORD)
    if isinstance(randomizer, RapporSketch):
        return _law_of_rows(randomizer, value, 1 - lie, lie)
    if isinstance(randomizer, Rappor):
        return product_law([1 - lie if c == value else lie for c in range(randomizer.codes)])
    return exact_law(randomizer, value)


def product_law(ones):
    """Return the probability of every string of independent bits that are set with these probabilities."""
    found = [Fraction(1)]
    for one in ones:
        found = [mass * share for mass in found for share in (1 - one, one)]
    return found


@exact_law.register
def _(kary: KaryResponse, value):
    return [kary.own if code == value else kary.other for code in range(kary.codes)]


@exact_law.register
def _(bits: BitReports, value):
    return product_law([bits.own if code == value else bits.other for code in range(bits.codes)])


@exact_law.register
def _(hashing: LocalHash, value):
    maps = np.arange(hashing.prime**hashing.digits)
    hashed = hashing._hashes(maps, np.full(maps.size, value)).tolist()
    lie = (1 - hashing.own) / (hashing.prime - 1)
    return [
        Fraction(1, maps.size) * (hashing.own if told == hashed[m] else lie)
        for m in range(maps.size)
        for told in range(hashing.prime)
    ]


@exact_law.register
def _(projective: ProjectiveResponse, value):
    prime, dimension = projective.prime, projective.dimension
    everything = points_many(np.arange(projective.points), prime, dimension)
    on = projective.own / projective.plane
    off = (1 - projective.own) / (projective.points - projective.plane)
    products = everything @ np.array(point(value, prime, dimension)) % prime
    return [on if product == 0 else off for product in products]


@exact_law.register
def _(duchi: DuchiResponse, position):
    one = Fraction(duchi.base + position * duchi.rise, WORD)
    return [1 - one, one]


@exact_law.register
def _(piecewise: PiecewiseResponse, position):
    near = Fraction(piecewise.keep, WORD * piecewise.window)
    far = Fraction(WORD - piecewise.keep, WORD * STEPS)
    inside = range(position, position + piecewise.window)
    return [near if output in inside else far for output in range(piecewise.shape.cells)]


@exact_law.register
def _(hybrid: HybridResponse, position):
    share = Fraction(hybrid.share, WORD)
    near = [share * mass for mass in exact_law(hybrid.piecewise, position)]
    return near + [(1 - share) * mass for mass in exact_law(hybrid.duchi, position)]


@exact_law.register
def _(sketch: CountMeanSketch, word):
    return _law_of_rows(sketch, word, sketch.own, sketch.told(Fraction(sketch.lie, WORD)))


def _law_of_rows(sketch, word, own, other):
    """Return the law of a row and its bits, the word's own one and any other set with these chances."""
    found = []
    for row in range(sketch.rows):
        mine = bucket(word_bytes(word), row, sketch.buckets)
        bits = [own if place == mine else other for place in range(sketch.buckets)]
        found += [mass / sketch.rows for mass in product_law(bits)]
    return found


@exact_law.register
def _(sketch: HadamardSketch, word):
    written = word if isinstance(word, bytes) else word_bytes(word)
    each, found = Fraction(1, sketch.rows * sketch.buckets), []
    for row in range(sketch.rows):
        own = bucket(written, row, sketch.buckets)
        for column in range(sketch.buckets):
            one = sketch.own if (column & own).bit_count() % 2 == 0 else 1 - sketch.own
            found += [each * (1 - one), each * one]
    return found


@exact_law.register
def _(tree: PrefixTree, word):
    written = word_bytes(word)
    laws = [exact_law(tree.sketch, prefix(written, level)) for level in range(tree.levels)]
    return [mass / tree.levels for each in laws for mass in each]
