"""What a region is called means the same as the region."""

import re
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.base.event import NULL, Positions, Region
from discreet.base.schema import CategoryDomain, Column, Dataset, IntegerDomain, NumberDomain, Table
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.catalog.axes import MAX_LISTED, axis_name, describe

SIZE = 13
LETTERS = tuple("abcdefghijklm")
AGE = Column("age", IntegerDomain(10, 10 + SIZE - 1))
PAY = Column("pay", NumberDomain(Fraction(0), Fraction(SIZE - 1), Fraction(1)))
JOB = Column("job", CategoryDomain(LETTERS))
TABLE = Table("t", "t.csv", PrivacyUnit(), (AGE, PAY, JOB))
DATASET = Dataset("d", (TABLE,), Neighbours.ADD_REMOVE, "d")
SETS = st.sets(st.integers(NULL, SIZE - 1), min_size=1)


def words(column, positions):
    axis = axis_name(DATASET, TABLE, column, "v")
    return describe(Region.of({axis: Positions.points(positions)}), {"d": DATASET})


def holds(phrase, value):
    """Whether a number, or None, is what one of our phrases says; None if it lists no ranges."""
    if phrase == "everyone":
        return True
    if phrase.endswith("is missing"):
        return value is None
    if phrase.endswith("is known"):
        return value is not None
    parts = phrase.strip("()").split(" or ")
    return any(_holds_range(part, value) for part in parts)


def _holds_range(part, value):
    if part == "unknown":
        return value is None
    if value is None:
        return False
    between = re.fullmatch(r"\w+ (\d+) to (\d+)", part)
    if between:
        return int(between[1]) <= value <= int(between[2])
    _, sign, bound = part.split()
    number = int(bound)
    return {"=": value == number, ">": value > number, "<=": value <= number}.get(
        sign, value >= number
    )


@given(SETS, st.sampled_from([(AGE, 10), (PAY, 0)]))
def test_ranges_mean_what_they_say(positions, column):
    column, first = column
    phrase = words(column, positions)
    if "ranges" in phrase:
        known = Positions.points(positions - {NULL})
        assert f"in {len(known.spans)} ranges" in phrase
        assert len(known.spans) > MAX_LISTED
        return
    for position in range(NULL, SIZE):
        value = None if position == NULL else first + position
        assert holds(phrase, value) == (position in positions), phrase


@given(SETS)
def test_lists_mean_what_they_say(positions):
    phrase = words(JOB, positions)
    listed = set(re.findall(r"'(\w)'", phrase))
    known = {LETTERS[p] for p in positions if p != NULL}
    if "more" in phrase:
        shown = set(LETTERS) - known if "other than" in phrase else known
        assert listed < shown
    elif "other than" in phrase:
        assert listed == set(LETTERS) - known
        assert NULL in positions
    elif listed:
        assert listed == known
        assert ("or unknown" in phrase) == (NULL in positions)
    else:
        assert phrase in {"everyone", "job is known", "job is missing"}
