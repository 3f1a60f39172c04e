"""`town()`: write the made-up town into a folder, with its discreet.toml and what is true of its population, or find it there."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.base.arrays import Floats
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.files import write_whole
from discreet.data.catalog.edits import ColumnSettings
from discreet.data.catalog.toml_text import (
    Setting,
    composed,
    dataset_lines,
    engine_and_ledger,
    setting,
    table_lines,
)
from discreet.errors import InvalidInput, UnknownName
from discreet.lab.town import parameters as p
from discreet.lab.town.columns import ParquetFile, at_age, bands, chunks, write_parquet
from discreet.lab.town.people import (
    AGE,
    DIAGNOSES,
    JOB,
    JOBS,
    REGION,
    REGIONS,
    SEX,
    SEXES,
    diagnosis_shares,
    make_people,
    people_batch,
    visit_batch,
    voter_batch,
    zip_count,
    zip_values,
)
from discreet.lab.town.studies import (
    CYP2C9,
    RACES,
    allele_frequencies,
    dosing_batch,
    rating_batches,
    write_genotypes,
)

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


_Column: TypeAlias = tuple[str, ColumnSettings]
_NO_MORE: ColumnSettings = {}
MAX_VISITS = 20
MAX_RATINGS = 200

_HEAD = (
    "# The made-up town, written by discreet.lab.town.town. Nobody in it exists; treat it as if they did.",
    "# Its domains come from the published recipe (docs/town.md), not from the rows.",
    "# voters.parquet is left out on purpose: it is what an attacker has.",
)
_ROW: ColumnSettings = {"unit": "row"}
_PUBLIC = "nobody in it exists, so a class may rehearse; never for real people"


def policy_text(people: int, tables: Collection[str]) -> str:
    """Return the text of discreet.toml for a town of this size with these tables."""
    parts = [_HEAD, engine_and_ledger()]
    if "people" in tables or "visits" in tables:
        parts.append(_dataset("town", "the people of the town and their hospital visits"))
    if "people" in tables:
        # Alone, a row is a person. Beside the visits, both tables must protect the same unit.
        shared = "visits" in tables
        unit: ColumnSettings = {"unit": "person_id", "max_rows": 1} if shared else _ROW
        constant: ColumnSettings = {"constant": True} if shared else {}
        parts.append(_table("town", "people", unit, _people_columns(people, constant)))
        parts.append(
            _table("town", "regions", {"public": True, "key_copies": 1}, _region_columns())
        )
    if "visits" in tables:
        unit = {"unit": "person_id", "max_rows": MAX_VISITS}
        parts.append(_table("town", "visits", unit, _visit_columns()))
    if "ratings" in tables:
        parts.append(_dataset("films", "members of a film club; none of them lives in the town"))
        unit = {"unit": "user_id", "max_rows": MAX_RATINGS}
        parts.append(_table("films", "ratings", unit, _rating_columns()))
    if "dosing" in tables:
        parts.append(_dataset("clinic", "patients of a clinic elsewhere, one row each"))
        parts.append(_table("clinic", "dosing", _ROW, _dosing_columns()))
    return composed(*parts)


def _dataset(name: str, what: str) -> list[str]:
    promise = dataset_lines(name, {"epsilon": Decimal(1), "delta": Decimal("1e-9")})
    return [f"# {what}", *promise, setting("public_rows", True, _PUBLIC)]


def _table(dataset: str, table: str, unit: ColumnSettings, columns: Iterator[_Column]) -> list[str]:
    facts = {"source": f"{table}.parquet", **unit}
    return table_lines(dataset, table, facts, dict(columns))


def _people_columns(people: int, constant: ColumnSettings) -> Iterator[_Column]:
    yield _plain("person_id", "identifier")
    yield _span("age", "integer", 0, 120, constant)
    first = dt.date(p.REFERENCE_DAY.year - 120, 1, 1)
    immutable: ColumnSettings = {**constant, "immutable": True}
    yield _span("birth_date", "date", first, p.REFERENCE_DAY, immutable)
    yield _choice("sex", SEXES, constant)
    yield _choice("region", REGIONS, constant)
    yield _choice("zip", zip_values(people), constant)
    yield _choice("education", p.EDUCATIONS, constant)
    yield _choice("job", JOBS, constant)
    yield _span("income", "integer", 0, p.INCOME_UPPER, constant)
    yield _plain("married", "boolean", constant)
    yield _span("household_size", "integer", 1, 8, constant)
    yield _plain("smoker", "boolean", constant)
    yield _span("height", "integer", 30, 230, constant)


def _region_columns() -> Iterator[_Column]:
    yield _choice("region", REGIONS)
    yield _choice("county", p.COUNTIES)


def _visit_columns() -> Iterator[_Column]:
    yield _plain("person_id", "identifier")
    yield _span("date", "date", p.VISIT_FIRST_DAY, p.VISIT_LAST_DAY)
    yield _choice("ward", p.WARDS)
    yield _choice("diagnosis", DIAGNOSES)
    yield _span("days", "integer", 0, p.DAYS_MOST)
    yield _span("cost", "number", 0, p.COST_UPPER, _stepped("0.01"))


def _rating_columns() -> Iterator[_Column]:
    yield _plain("user_id", "identifier")
    yield _span("film_id", "integer", 1, p.FILMS)
    yield _span("rating", "integer", 1, 5)
    yield _span("date", "date", p.RATING_FIRST_DAY, p.RATING_LAST_DAY)


def _dosing_columns() -> Iterator[_Column]:
    yield _plain("patient_id", "identifier")
    yield _span("age", "integer", p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER)
    yield _choice("sex", SEXES)
    yield _choice("race", RACES)
    yield _span("height", "integer", p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER)
    yield _span("weight", "number", p.DOSING_WEIGHT_LOWER, p.DOSING_WEIGHT_UPPER, _stepped("0.1"))
    yield _choice("vkorc1", p.VKORC1)
    yield _choice("cyp2c9", CYP2C9)
    yield _plain("amiodarone", "boolean")
    yield _plain("inducer", "boolean")
    yield _span("dose", "number", p.DOSE_LOWER, p.DOSE_UPPER, _stepped("0.5"))


def _plain(name: str, kind: str, more: ColumnSettings = _NO_MORE) -> _Column:
    return name, {"type": kind, **more}


def _span(
    name: str,
    kind: str,
    lower: Setting | float,
    upper: Setting | float,
    more: ColumnSettings = _NO_MORE,
) -> _Column:
    return name, {"type": kind, "lower": _end(lower), "upper": _end(upper), **more}


def _end(value: Setting | float) -> Setting:
    return Decimal(repr(value)) if isinstance(value, float) else value


def _choice(name: str, values: Sequence[str], more: ColumnSettings = _NO_MORE) -> _Column:
    return name, {"type": "category", "values": tuple(values), **more}


def _stepped(step: str) -> ColumnSettings:
    return {"step": Decimal(step)}


def population_truth(people: int) -> Mapping[str, Any]:
    """Return exact shares, means and effects of the population that `people` rows are drawn from.

    These are public constants of the recipe, never counts of the rows.
    """
    by_age = AGE.shares[0]
    return MappingProxyType(
        {
            "age_shares": tuple(by_age.tolist()),
            "female_share": float(by_age @ _female(len(by_age))),
            "region_shares": dict(zip(REGIONS, REGION.shares[0].tolist(), strict=True)),
            "job_shares": dict(zip(JOBS, _job_shares().tolist(), strict=True)),
            "smoker_share": float(by_age @ _smokers(len(by_age))),
            "married_share": float(by_age @ at_age(p.MARRIED_SHARES_FROM_AGE)[: len(by_age)]),
            "missing_shares": {"education": p.EDUCATION_MISSING, "income": p.INCOME_MISSING},
            "income_female_log": p.INCOME_FEMALE_LOG,
            "income_log_spread": p.INCOME_LOG_SPREAD,
            "income_medians": dict(p.INCOME_MEDIANS),
            "zip_codes": zip_count(people),
            "unique_share": _unique_share(people),
            "mean_visits": float(by_age @ at_age(p.VISIT_MEANS_FROM_AGE)[: len(by_age)]),
            "smoking_relative_risks": dict(p.SMOKING_RELATIVE_RISKS),
            "diagnoses": DIAGNOSES,
            "diagnosis_shares": diagnosis_shares(),
            "voter_share_of_adults": p.VOTER_SHARE,
            "dose_vkorc1": dict(p.DOSE_VKORC1),
            "dose_cyp2c9": dict(p.DOSE_CYP2C9),
            "dose_spread": p.DOSE_SPREAD,
        }
    )


def _female(ages: int) -> Floats:
    women: Floats = SEX.shares[:, 0][bands(p.FEMALE_SHARE_FROM_AGE)[:ages]]
    return women


def _smokers(ages: int) -> Floats:
    shares = at_age(p.SMOKER_SHARES_FROM_AGE)[:ages]
    women = _female(ages)
    smokers: Floats = women * shares[:, 0] + (1 - women) * shares[:, 1]
    return smokers


def _job_shares() -> Floats:
    by_age = AGE.shares[0]
    education = at_age(p.EDUCATION_SHARES_FROM_AGE)[: len(by_age)]
    jobs = JOB.shares.reshape(-1, len(p.EDUCATIONS), len(JOBS))
    jobs = jobs[bands(p.OUTSIDE_WORK_SHARES_FROM_AGE)[: len(by_age)]]
    shares: Floats = np.einsum("a,ae,aej->j", by_age, education, jobs)
    return shares


def _unique_share(people: int) -> float:
    """Return the expected share of people whom ZIP, birth date and sex single out."""
    ages = len(AGE.shares[0])
    women = _female(ages)
    by_sex = AGE.shares[0] * np.stack([women, 1 - women])
    # Everybody else must miss this person's ZIP code, day of birth and sex.
    cell = by_sex / 365.25 / zip_count(people)
    return float((by_sex * (1 - cell) ** (people - 1)).sum())
