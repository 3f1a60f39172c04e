from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from discreet.lab.town import Town, town
from discreet.lab.town.people import PeopleChunk, make_people, visit_batch

ALPHA = 1e-9  # chance that a correct law fails; seeds are fixed, so a pass stays a pass
PEOPLE = 250_000


def _chi_square(observed: np.ndarray, shares: np.ndarray) -> float:
    """p-value; bins that expect fewer than 10 are merged, impossible ones must be empty."""
    shares = np.asarray(shares, dtype=float)
    if observed[shares == 0].any():
        return 0.0
    order = np.argsort(shares)
    observed, expected = observed[order], shares[order] / shares.sum() * observed.sum()
    first = int((np.cumsum(expected) < 10).sum()) + 1
    observed = np.concatenate([[observed[:first].sum()], observed[first:]])
    expected = np.concatenate([[expected[:first].sum()], expected[first:]])
    if len(observed) == 1:
        return 1.0  # one possible kind, and nothing else was seen
    return float(stats.chisquare(observed, expected).pvalue)


@pytest.fixture(scope="session")
def assert_shares() -> Callable[..., None]:
    def check(observed, shares, *, wrong) -> None:
        observed = np.asarray(observed)
        assert _chi_square(observed, shares) > ALPHA, "the right law was rejected"
        for law in wrong:
            assert _chi_square(observed, law) < ALPHA, "this test could not have caught a bug"

    return check


@pytest.fixture(scope="session")
def assert_mean() -> Callable[..., None]:
    def check(sample, mean, *, wrong) -> None:
        sample = np.asarray(sample, dtype=float)
        error = sample.std() / np.sqrt(len(sample))
        reach = stats.norm.isf(ALPHA / 2)
        assert abs(sample.mean() - mean) < reach * error, "the right mean was rejected"
        for other in wrong:
            assert abs(sample.mean() - other) > reach * error, "this test could not catch a bug"

    return check


@pytest.fixture(scope="session")
def made() -> PeopleChunk:
    return make_people(7, 0, 0, PEOPLE, town_size=PEOPLE)


@pytest.fixture(scope="session")
def visits(made: PeopleChunk) -> dict[str, np.ndarray]:
    batch = visit_batch(7, 0, made)
    columns = {}
    for name in batch.schema.names:
        column = batch.column(name)
        is_code = pa.types.is_dictionary(column.type)
        columns[name] = (column.indices if is_code else column).to_numpy(zero_copy_only=False)
    return columns


@pytest.fixture(scope="session")
def small_town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    folder = tmp_path_factory.mktemp("town")
    return town(20_000, folder=folder, ratings=200_000, genotypes=600, loci=2_000)
