"""Adult as the anonymization literature uses it, where the shared folder has it."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from discreet.anonymize.risk import ClassSizes

SHARED = Path(__file__).parents[4] / "shared" / "data"
QUASI = "sex,age,race,marital-status,education,native-country,workclass,occupation"  # peers' order


@pytest.fixture(scope="session")
def adult():
    """Return the path of Adult with its hierarchies beside it, or skip."""
    path = SHARED / "adult_complete.csv"
    if not path.is_file():
        pytest.skip("the folder shared/data is not there")
    return path


@pytest.fixture(scope="session")
def adult_sizes(adult):
    with adult.open(newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))[1:]
    return ClassSizes.of(list(Counter(tuple(row[:8]) for row in rows).values()))
