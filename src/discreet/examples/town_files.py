"""`town()`: write the made-up town into a folder, or find it there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.core.arrays import Floats
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.core.system.atomic_file import write_whole
from discreet.errors import InvalidInput, UnknownName
from discreet.examples import parameters as p
from discreet.examples.columns import ParquetFile, write_parquet
from discreet.examples.dosing import dosing_batch
from discreet.examples.draw import chunks
from discreet.examples.genotypes import allele_frequencies, write_genotypes
from discreet.examples.people import REGIONS, make_people, people_batch, zip_values
from discreet.examples.policy import policy_text
from discreet.examples.ratings import rating_batches
from discreet.examples.truth import population_truth
from discreet.examples.visits import visit_batch
from discreet.examples.voters import voter_batch

TABLES = ("people", "visits", "voters", "ratings", "genotypes", "dosing")
RECIPE = 1
"""Raised when the same options would give other rows."""
_MANIFEST = "town.json"
_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class TownRecipe:
    """Everything that decides what is written."""

    people: int
    seed: int
    tables: tuple[str, ...]
    ratings: int
    genotypes: int
    loci: int
    patients: int
    recipe: int = RECIPE

    def __post_init__(self) -> None:
        for name in ("people", "ratings", "genotypes", "loci", "patients"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"A town needs at least 1 of '{name}'.")
        if self.seed < 0:
            raise InvalidInput("seed must be 0 or more.")
        unknown = [name for name in self.tables if name not in TABLES]
        if unknown or not self.tables:
            raise InvalidInput(
                f"The town has no table '{', '.join(unknown)}'.",
                hint=f"It has: {', '.join(TABLES)}.",
            )

    @property
    def manifest(self) -> str:
        """Return the recipe as the text of town.json."""
        return json.dumps(asdict(self), indent=2) + "\n"


@dataclass(frozen=True, slots=True, repr=False)
class Town(ShownInLines):
    """A town on disk: its folder, its discreet.toml, its files by table, and what is true of it."""

    folder: Path
    recipe: TownRecipe

    @property
    def toml(self) -> Path:
        """Return the path of the ready discreet.toml."""
        return self.folder / "discreet.toml"

    @property
    def tables(self) -> Mapping[str, Path]:
        """Return the file of each Parquet table; `voters_key` names each voter's person_id."""
        names = [name for name in self.recipe.tables if name != "genotypes"]
        names += ["regions"] if "people" in names else []
        names += ["voters_key"] if "voters" in names else []
        return {name: self.folder / f"{name}.parquet" for name in names}

    @property
    def truth(self) -> Mapping[str, Any]:
        """Return the exact parameters of the population that the rows were drawn from."""
        return population_truth(self.recipe.people)

    def load(self, name: str) -> pa.Table:
        """Return one table, read when asked for."""
        try:
            path = self.tables[name]
        except KeyError:
            known = ", ".join(self.tables)
            raise UnknownName(
                f"This town has no table '{name}'.", hint=f"It has: {known}."
            ) from None
        return pq.read_table(path)

    def genotypes(self) -> npt.NDArray[np.int8]:
        """Return the people x loci matrix of minor alleles, mapped from its file."""
        if "genotypes" not in self.recipe.tables:
            raise UnknownName("This town was written without genotypes.")
        matrix: npt.NDArray[np.int8] = np.load(self.folder / "genotypes.npy", mmap_mode="r")
        return matrix

    def allele_frequencies(self) -> Floats:
        """Return the frequency of the minor allele at each locus in the whole population."""
        return allele_frequencies(self.recipe.seed, self.recipe.loci)

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        said = f"{self.recipe.people:,} made-up people, seed {self.recipe.seed}"
        return [("town", said), ("tables", ", ".join(self.tables)), ("in", str(self.folder))]


def town(
    people: int = 20_000,
    *,
    folder: str | Path,
    seed: int = 0,
    tables: Sequence[str] = TABLES,
    ratings: int = 1_000_000,
    genotypes: int = 2_000,
    loci: int = 10_000,
    patients: int = 5_000,
) -> Town:
    """Return the town in `folder`, written there if it is not there yet.

    The same options always give the same rows. Memory holds one chunk of 250,000 people at a time.
    `ratings` come from one film lover for each 200; `genotypes` is how many people have theirs read
    at `loci` places; `patients` are in the dosing table. A folder that holds anything else's
    discreet.toml is refused and left alone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = town(1_000, folder=folder, tables=("people", "voters"))
    ...     rows = made.load("people").num_rows
    >>> rows, made.truth["smoking_relative_risks"]["J44 Chronic lung disease"]
    (1000, 3.0)
    """
    wanted = tuple(name for name in TABLES if name in tables)
    unknown = tuple(name for name in tables if name not in TABLES)
    recipe = TownRecipe(people, seed, wanted + unknown, ratings, genotypes, loci, patients)
    made = Town(Path(folder), recipe)
    if _is_there(made):
        return made
    made.folder.mkdir(parents=True, exist_ok=True)
    _write_people(made)
    _write_others(made)
    write_whole(made.toml, policy_text(people, recipe.tables), mode=_READABLE)
    # Last: only a complete town has one.
    write_whole(made.folder / _MANIFEST, recipe.manifest, mode=_READABLE)
    return made


def _is_there(made: Town) -> bool:
    """Return whether this very town is in its folder; refuse a folder with something else."""
    manifest = made.folder / _MANIFEST
    if manifest.exists():
        if manifest.read_text() == made.recipe.manifest:
            return True
    elif not made.toml.exists() or made.toml.read_text() == policy_text(
        made.recipe.people, made.recipe.tables
    ):
        return False
    raise InvalidInput(
        f"The folder '{made.folder}' already holds another discreet.toml.",
        hint="Choose an empty folder.",
    )


def _write_people(made: Town) -> None:
    """Write people, visits and voters, which are drawn together, one chunk at a time."""
    recipe, files = made.recipe, made.tables
    if not {"people", "visits", "voters"} & set(recipe.tables):
        return
    zips = zip_values(recipe.people)
    names = [n for n in ("people", "visits", "voters", "voters_key") if n in files]
    writers = {name: ParquetFile(files[name]) for name in names}
    try:
        for chunk, (start, count) in enumerate(chunks(recipe.people)):
            some = make_people(recipe.seed, chunk, start, count, town_size=recipe.people)
            if "people" in writers:
                writers["people"].write(people_batch(some, zips))
            if "visits" in writers:
                writers["visits"].write(visit_batch(recipe.seed, chunk, some))
            if "voters" in writers:
                roll = voter_batch(recipe.seed, chunk, some, zips)
                writers["voters"].write(roll.drop_columns(["person_id"]))
                writers["voters_key"].write(roll.select(["person_id"]))
    finally:
        for writer in writers.values():
            writer.close()
    for writer in writers.values():
        writer.keep()


def _write_others(made: Town) -> None:
    recipe, files = made.recipe, made.tables
    if "people" in files:
        write_parquet(_regions(), files["regions"])
    if "ratings" in files:
        write_parquet(rating_batches(recipe.seed, recipe.ratings), files["ratings"])
    if "dosing" in files:
        write_parquet([dosing_batch(recipe.seed, recipe.patients)], files["dosing"])
    if "genotypes" in recipe.tables:
        path = made.folder / "genotypes.npy"
        write_genotypes(recipe.seed, recipe.genotypes, recipe.loci, path)


def _regions() -> Iterator[pa.RecordBatch]:
    counties = [p.COUNTIES[i % len(p.COUNTIES)] for i in range(len(REGIONS))]
    yield pa.RecordBatch.from_pydict({"region": list(REGIONS), "county": counties})
