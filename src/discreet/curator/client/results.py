"""What a server made and keeps: the facts it sent, and files that are fetched when they are asked for.

Each has the members of what a curator here returns; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from discreet.base import display
from discreet.base.bill import Bill, Billed, Spent
from discreet.base.display import ShownInLines, ShownLines, framed_page
from discreet.base.packages import needs
from discreet.errors import InvalidInput

if TYPE_CHECKING:
    from discreet.work.synth.model_file import Saved

Fetch = Callable[[str], bytes]


@dataclass(frozen=True, repr=False, eq=False)
class RemoteResult(ShownInLines):
    """The facts that a server sent about what it made."""

    facts: dict[str, Any]
    _fetch: Fetch = field(default=lambda _path: b"")

    def to_json(self) -> dict[str, Any]:
        """Return the facts, as the command prints them with --json."""
        return dict(self.facts)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        return tuple(self.facts.get("notices", ()))


@dataclass(frozen=True, repr=False, eq=False)
class RemotePaid(RemoteResult):
    """What was paid for, or had again for nothing."""

    @property
    def cost(self) -> Spent:
        """Return what was paid."""
        return Spent.from_json(self.facts["cost"])

    @property
    def free(self) -> bool:
        """Return whether it was had for nothing."""
        return bool(self.facts["free"])

    @property
    def request_id(self) -> str:
        """Return the id under which the same can be had again, free."""
        return str(self.facts["request_id"])


@dataclass(frozen=True, repr=False, eq=False)
class RemoteBilled(RemotePaid, Billed):
    """What was paid for, and the budget around its charge."""

    @cached_property
    def bill(self) -> Bill:
        """Return the price, and the budget before and after."""
        return Bill.from_json(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteSynthetic(RemoteBilled):
    """A synthetic copy that a server keeps; its files are fetched when they are asked for."""

    @property
    def method(self) -> str:
        """Return the method that made it."""
        return str(self.facts["method"])

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy; the model says so."""
        return bool(self._saved.facts.get("private", True))

    @cached_property
    def table(self) -> Any:
        """Return the made-up rows as a pyarrow table."""
        return _rows_in(self.read("rows.parquet"))

    @cached_property
    def _saved(self) -> Saved:
        from discreet.work.synth.model_file import from_text

        return from_text(self.read("model.json").decode("utf-8"))

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow table."""
        return self.table

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        with needs("pandas", extra="pandas"):
            return self.table.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream: `polars.DataFrame(synthetic)`, `pyarrow.table(synthetic)`."""
        return self.table.__arrow_c_stream__(requested_schema)

    def sample(self, rows: int, *, where: str | None = None) -> Any:
        """Return other made-up rows, drawn on this machine from the copy's model: free of charge."""
        from discreet.work.synth.synthetic import sample_rows

        return sample_rows(self._saved, rows, where=where).table

    def write(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        self._write(path, "rows", (".csv", ".parquet"))

    def save_model(self, path: str | Path) -> None:
        """Write the model to a .json file, from which rows can be drawn anywhere, free."""
        self._write(path, "model", (".json",))

    def write_report(self, path: str | Path) -> None:
        """Write the publishable report to a .html or .json file."""
        self._write(path, "report", (".html", ".json"))

    def read(self, file: str) -> bytes:
        """Return one of the copy's files, such as "rows.csv" or "report.html"."""
        return self._fetch(f"/synth/{self.facts['copy']}/{quote(file, safe='')}")

    def _write(self, path: str | Path, name: str, endings: tuple[str, ...]) -> None:
        target = Path(path)
        target.write_bytes(self.read(name + _ending(target, endings)))

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.synthetic_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteTrained(RemoteBilled):
    """A classifier that a server trained and keeps; `model` is fetched, and used on this machine."""

    @cached_property
    def model(self) -> Any:
        """Return the classifier."""
        return _model_in(self._fetch(f"/models/{self.facts['model_id']}/model.zip"))

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.classifier_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteRecommending(RemotePaid):
    """A recommender that a server learned and keeps; `model` is fetched, and used on this machine."""

    @cached_property
    def model(self) -> Any:
        """Return the recommender."""
        kept = self.facts["recommender_id"]
        return _model_in(self._fetch(f"/recommenders/{kept}/recommender.zip"))

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.recommender_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteSelected(RemotePaid):
    """A value that a server chose."""

    @property
    def choice(self) -> str:
        """Return the value."""
        return str(self.facts["choice"])

    @property
    def kind(self) -> str:
        """Return whether it is the most common value or the best price."""
        return str(self.facts["kind"])

    @property
    def candidates(self) -> int:
        """Return among how many it was chosen."""
        return int(self.facts["candidates"])

    @property
    def loss95(self) -> float:
        """Return how far below the best score it lies at most, 95 times in 100."""
        return float(self.facts["loss95"])

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.choice_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteBounds(RemotePaid):
    """Bounds on rows beside each other, from a paid look."""

    @property
    def table(self) -> str:
        """Return the table."""
        return str(self.facts["table"])

    @property
    def now(self) -> int | None:
        """Return the declared bound."""
        found: int | None = self.facts["max_rows"]
        return found

    @property
    def best(self) -> int:
        """Return the bound under which a count of all rows is off least."""
        return int(self.facts["best"])

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.bounds_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteAnonymized(RemoteResult):
    """A k-anonymous copy that a server keeps: no guarantee; its files are fetched when they are asked for."""

    @cached_property
    def table(self) -> Any:
        """Return the rows as a pyarrow table."""
        return _rows_in(self.read("rows.parquet"))

    def read(self, file: str) -> bytes:
        """Return one of the copy's files, such as "rows.csv" or "report.html"."""
        return self._fetch(f"/anonymize/{self.facts['release']}/{quote(file, safe='')}")

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.anonymized_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemotePublication(RemoteBilled):
    """A package that a server has released and signed."""

    @property
    def release(self) -> str:
        """Return its name."""
        return str(self.facts["release"])

    @property
    def out(self) -> Path | None:
        """Return where it was written on this machine."""
        return None if self.facts["out"] is None else Path(self.facts["out"])

    @property
    def tables(self) -> Mapping[str, int]:
        """Return the rows of each table."""
        return {name: int(facts["rows"]) for name, facts in self.facts["tables"].items()}

    @property
    def sha256(self) -> str:
        """Return the digest of its bytes."""
        return str(self.facts["sha256"])

    @property
    def key(self) -> str:
        """Return the public key of who signed it."""
        return str(self.facts["key"])

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.publication_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteRehearsal(RemoteResult):
    """What a release would look like, from made-up rows; nothing was spent."""

    @property
    def release(self) -> str:
        """Return its name."""
        return str(self.facts["release"])

    @property
    def epsilon(self) -> float:
        """Return what it would cost."""
        return float(self.facts["cost"]["epsilon"])

    @property
    def delta(self) -> float:
        """Return the chance that the promise would fail."""
        return float(self.facts["cost"]["delta"])

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.rehearsal_lines(self.facts)


@dataclass(frozen=True, repr=False, eq=False)
class RemoteReport:
    """A document that a server made."""

    page: bytes

    def write(self, path: str | Path) -> Path:
        """Return the path after writing the document there, as a .html file."""
        target = Path(path)
        _ending(target, (".html",))
        target.write_bytes(self.page)
        return target

    def __repr__(self) -> str:
        return f"RemoteReport({len(self.page):,} bytes of HTML)"

    def _repr_html_(self) -> str:
        return framed_page(self.page.decode("utf-8"))


def _ending(target: Path, endings: tuple[str, ...]) -> str:
    ending = target.suffix.lower()
    if ending not in endings:
        raise InvalidInput(
            f"'{target.name}' has no ending that says how to write it.",
            hint=f"Use {' or '.join(endings)}.",
        )
    return ending


def _rows_in(content: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(content))


def _model_in(content: bytes) -> Any:
    from discreet.work.learn.model_files import read_model

    with TemporaryDirectory(prefix="discreet-model-") as folder:
        place = Path(folder) / "model.zip"
        place.write_bytes(content)
        return read_model(place)
