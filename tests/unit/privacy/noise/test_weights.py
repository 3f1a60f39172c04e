from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from discreet.privacy.noise.certified import GaussianSides, GeometricDigits, GeometricSides

BITS = 200


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def check(weights, expected, bits=BITS):
    brackets = weights.brackets(bits)
    assert len(brackets) == len(expected)
    for (low, high), truth in zip(brackets, expected, strict=True):
        assert low <= truth * Decimal(2) ** bits <= high
        assert high - low <= 4


@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(2), Fraction(12), Fraction(10**12)])
def test_geometric_weights(scale):
    with localcontext() as context:
        context.prec = 150
        t = (-1 / decimal(scale)).exp()
        check(GeometricDigits(scale, 16), [t**k for k in range(16)])
        step = Fraction(1, 7)
        side = [*(t**k for k in range(7)), t**7 / (1 - t)]
        mirrored = [weight * decimal(-step).exp() for weight in side]
        if scale < 100:  # the tail of a very wide law is never tabled
            check(GeometricSides(scale, 7, step), side + mirrored)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(2), Fraction(50)])
def test_gaussian_weights(variance):
    with localcontext() as context:
        context.prec = 150
        # Far enough that what is left out is below 10^-100.
        terms = [(-k * k / (2 * decimal(variance))).exp() for k in range(220)]
        side = [*terms[:15], sum(terms[15:])]
        other = [*terms[1:16], sum(terms[16:])]
        check(GaussianSides(variance, 15, (0,)), side)
        check(GaussianSides(variance, 15, (0, 1)), side + other)


@pytest.mark.parametrize("variance", [Fraction(9), Fraction(7, 3)])
@pytest.mark.parametrize("bits", [8, 600])
def test_gaussian_weights_at_any_precision(variance, bits):
    with localcontext() as context:
        context.prec = 250
        terms = [(-k * k / (2 * decimal(variance))).exp() for k in range(150)]
        for last in (1, 15):
            side = [*terms[:last], sum(terms[last:])]
            other = [*terms[1 : last + 1], sum(terms[last + 1 :])]
            check(GaussianSides(variance, last, (0, 1)), side + other, bits)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(12)])
@pytest.mark.parametrize("bits", [8, 600])
def test_geometric_weights_at_any_precision(scale, bits):
    with localcontext() as context:
        context.prec = 250
        t = (-1 / decimal(scale)).exp()
        for last in (1, 15):
            side = [*(t**k for k in range(last)), t**last / (1 - t)]
            mirrored = [weight * t for weight in side]
            check(GeometricSides(scale, last, 1 / scale), side + mirrored, bits)
