"""What a result has, whoever made it: the curator here, or a server elsewhere.

`Curator` and `Client` return different classes with these members. Nothing here is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from discreet.base.bill import Spent
from discreet.base.display import ShownLines


class Result(Protocol):
    """What every result has: plain facts, and a few lines for people."""

    def to_json(self) -> dict[str, Any]:
        """Return the object that the command prints."""
        ...

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        ...


class PaidResult(Result, Protocol):
    """A result that was paid for, or had again for nothing."""

    @property
    def cost(self) -> Spent:
        """Return what was paid."""
        ...

    @property
    def free(self) -> bool:
        """Return whether it was had for nothing."""
        ...


class BilledResult(PaidResult, Protocol):
    """A result with the budget around its charge."""

    @property
    def before(self) -> Spent:
        """Return what was spent before."""
        ...

    @property
    def after(self) -> Spent:
        """Return what was spent after."""
        ...

    @property
    def limit(self) -> Spent:
        """Return what may be spent in all."""
        ...


class SyntheticCopy(BilledResult, Protocol):
    """A synthetic copy of one table; using it is free."""

    @property
    def method(self) -> str:
        """Return the method that made it."""
        ...

    @property
    def request_id(self) -> str:
        """Return the id under which the same copy can be had again."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        ...

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy."""
        ...

    @property
    def table(self) -> Any:
        """Return the made-up rows as a pyarrow table."""
        ...

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow table."""
        ...

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream."""
        ...

    def sample(self, rows: int, *, where: str | None = None) -> Any:
        """Return other made-up rows from the same model, free of charge."""
        ...

    def write(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        ...

    def save_model(self, path: str | Path) -> None:
        """Write the model to a .json file."""
        ...


class TrainedModel(BilledResult, Protocol):
    """A trained classifier; using it is free."""

    @property
    def model(self) -> Any:
        """Return the classifier."""
        ...

    @property
    def request_id(self) -> str:
        """Return the id under which the same model can be had again."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        ...


class LearnedRecommender(PaidResult, Protocol):
    """A recommender; using it is free."""

    @property
    def model(self) -> Any:
        """Return the recommender."""
        ...

    @property
    def request_id(self) -> str:
        """Return the id under which the same recommender can be had again."""
        ...


class ChosenValue(PaidResult, Protocol):
    """One chosen value, and how far below the best it may lie."""

    @property
    def choice(self) -> str:
        """Return the value."""
        ...

    @property
    def candidates(self) -> int:
        """Return among how many it was chosen."""
        ...

    @property
    def loss95(self) -> float:
        """Return how far below the best score it lies at most, 95 times in 100."""
        ...


class BoundsBeside(PaidResult, Protocol):
    """Bounds on rows beside each other."""

    @property
    def table(self) -> str:
        """Return the table."""
        ...

    @property
    def now(self) -> int | None:
        """Return the declared bound."""
        ...

    @property
    def best(self) -> int:
        """Return the bound under which a count of all rows is off least."""
        ...


class AnonymousCopy(Result, Protocol):
    """A k-anonymous copy: no guarantee."""

    @property
    def table(self) -> Any:
        """Return the rows as a pyarrow table."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        ...


class PublishedPackage(BilledResult, Protocol):
    """A released, signed package."""

    @property
    def release(self) -> str:
        """Return its name."""
        ...

    @property
    def out(self) -> Path | None:
        """Return where it was written."""
        ...

    @property
    def tables(self) -> Mapping[str, int]:
        """Return the rows of each table."""
        ...

    @property
    def sha256(self) -> str:
        """Return the digest of its bytes."""
        ...

    @property
    def key(self) -> str:
        """Return the public key of who signed it."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        ...


class RehearsedRelease(Result, Protocol):
    """What a release would look like, from made-up rows."""

    @property
    def release(self) -> str:
        """Return its name."""
        ...

    @property
    def epsilon(self) -> float:
        """Return what it would cost."""
        ...

    @property
    def delta(self) -> float:
        """Return the chance that the promise would fail."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        ...


class Report(Protocol):
    """A document of words, figures and tables."""

    def write(self, path: str | Path) -> Path:
        """Return the path after writing it there; its ending says how."""
        ...

    def _repr_html_(self) -> str: ...
