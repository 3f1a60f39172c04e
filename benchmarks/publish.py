"""A made-up nation published down a hierarchy, and errors beside other ways to publish it.

python -m benchmarks.publish nation [--areas N] [--people N] [--levels 4] [--folder F]
python -m benchmarks.publish crossed [--cells N]
python -m benchmarks.publish errors [--runs N]
python -m benchmarks.publish coverage [--runs N]

nation: rows are drawn, written as Parquet, declared, published (4 or 6 levels, each by 2,016 cells of
sex x age x origin x household), signed and verified by its sums; wall seconds of each step and the
greatest memory of this process and of its children. crossed: three tables that are no tree, least
squares alone. errors: at equal epsilon, the root mean squared error of every level for noise on each
table alone, top-down scaling, least squares and the published whole numbers, on the made-up town and,
where ../shared/data is there, on two excerpts of the American Community Survey. coverage: how often the
published intervals hold the truth, on the same.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.descendants import Descendants
from benchmarks.figures import figure

CELLS = {"sex": 2, "age": 18, "origin": 8, "household": 7}
CHUNK = 5_000_000


def levels_of(areas: int, levels: int) -> dict[str, np.ndarray]:
    """Return the class of every area at each level between the nation and the areas."""
    names = [f"level{i + 1}" for i in range(levels - 2)]
    found: dict[str, np.ndarray] = {}
    finer, count = np.arange(areas), areas
    for number in reversed(range(levels - 2)):
        size = max(1, round(areas ** ((number + 1) / (levels - 1))))
        # Of the next finer classes, so that each level refines the one above.
        finer, count = finer * size // count, size
        found[names[number]] = finer
    return {name: found[name] for name in names}


def write_nation(folder: Path, areas: int, people: int, levels: int) -> None:
    """Write the rows, the public hierarchy, the catalog and the spec."""
    dice = np.random.default_rng(0)
    weights = 1 / (1 + np.arange(areas)) ** 0.3
    edges = np.cumsum(weights / weights.sum())
    names = pa.array([f"a{i:06d}" for i in range(areas)])
    kinds = {key: pa.array([f"{key[0]}{i}" for i in range(size)]) for key, size in CELLS.items()}
    writer = None
    for start in range(0, people, CHUNK):
        count = min(CHUNK, people - start)
        place = np.minimum(np.searchsorted(edges, dice.random(count)), areas - 1)
        columns = {"area": pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), names)}
        for key, size in CELLS.items():
            skewed = (dice.random(count) ** 1.5 * size).astype(np.int32)
            columns[key] = pa.DictionaryArray.from_arrays(pa.array(skewed), kinds[key])
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(folder / "people.parquet", table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    hierarchy = levels_of(areas, levels)
    public = {"area": names}
    public |= {n: pa.array([f"{n[0]}{n[-1]}_{i:05d}" for i in c]) for n, c in hierarchy.items()}
    pq.write_table(pa.table(public), folder / "areas.parquet")
    for name, column in public.items():
        values = "\n".join(dict.fromkeys(column.to_pylist()))
        (folder / f"{name}.csv").write_text(f"{name}\n{values}\n")
    _write_texts(folder, list(hierarchy), {k: v.to_pylist() for k, v in kinds.items()})


def _write_texts(folder: Path, levels: list[str], kinds: dict[str, list[str]]) -> None:
    area = 'area = { type = "category", values_from = "area.csv" }\n'
    people = area + "".join(
        f'{key} = {{ type = "category", values = {json.dumps(values)} }}\n'
        for key, values in kinds.items()
    )
    public = area + "".join(
        f'{name} = {{ type = "category", values_from = "{name}.csv" }}\n' for name in levels
    )
    head = '[engine]\nurl = "duckdb:"\n[ledger]\nurl = "sqlite:ledger.db"\n[datasets.nation]\n'
    tables = '[datasets.nation.tables.people]\nsource = "people.parquet"\nunit = "row"\n'
    tables += f"[datasets.nation.tables.people.columns]\n{people}"
    tables += (
        '[datasets.nation.tables.areas]\nsource = "areas.parquet"\npublic = true\nkey_copies = 1\n'
    )
    tables += f"[datasets.nation.tables.areas.columns]\n{public}"
    (folder / "discreet.toml").write_text(f"{head}epsilon = 10\ndelta = 1e-6\n{tables}")
    keys = ", ".join(f"p.{key}" for key in kinds)
    spec = '[release]\nname = "nation"\ndataset = "nation"\nepsilon = 1.0\ndelta = 1e-9\n'
    spec += f'[tables.nation]\nsql = "SELECT {keys}, COUNT(*) AS people FROM people p GROUP BY {keys}"\n'
    for name in levels:
        by = f"a.{name}, {keys}"
        spec += (
            f'[tables.{name}]\nsql = "SELECT {by}, COUNT(*) AS people FROM people p JOIN areas a '
            f'ON p.area = a.area GROUP BY {by}"\n'
        )
    by = f"p.area, {keys}"
    spec += f'[tables.areas]\nsql = "SELECT {by}, COUNT(*) AS people FROM people p GROUP BY {by}"\n'
    (folder / "SPEC.toml").write_text(spec)


def nation(areas: int, people: int, levels: int, folder: Path) -> None:
    """Print the seconds of every step and the memory."""
    import discreet
    from discreet.work.publish.specification import spec_of

    started = time.monotonic()
    if not (folder / "SPEC.toml").exists():
        write_nation(folder, areas, people, levels)
    print(f"{areas:,} areas x 2,016 cells, {people:,} people, {levels} levels")
    print(f"made up in {time.monotonic() - started:.1f} s; from here on it is the release")
    steps: list[tuple[float, str]] = []
    begun, busy = time.monotonic(), time.process_time()

    def tell(_done: int, _of: int, what: str) -> None:
        steps.append((time.monotonic() - begun, what))

    with Descendants() as others, discreet.open(folder / "discreet.toml") as curator:
        out = folder / "RELEASE.zip"
        found = curator.publish(spec_of(folder / "SPEC.toml"), out=out, progress=tell)
    whole = time.monotonic() - begun
    used = time.process_time() - busy
    used += others.seconds
    for (at, what), (end, _) in zip(steps, [*steps[1:], (whole, "")], strict=True):
        print(f"  {at:7.1f} s  {what}: {end - at:.1f} s")
    figure(f"whole release, {areas:,} areas x 2,016 cells, {people:,} people", whole, "s")
    print(
        f"whole release {whole:.1f} s, {used:.1f} s of processor time; package {out.stat().st_size / 1e9:.2f} GB"
    )
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    child = others.gigabytes
    figure("its greatest memory, here and in the engine", own + child, "GB")
    print(f"memory {own:.2f} GB here, {child:.2f} GB in the largest child; free: {found.free}")


def crossed(cells: int) -> None:
    """Print the seconds of least squares and whole numbers for three crossed tables."""
    from discreet.work.publish.reconcile.problem import GridProblem, Sums, add_up
    from discreet.work.publish.reconcile.solve import least_squares, reconcile

    counties = max(1, cells // (2 * 100 * 25))
    leaf = (counties, 2, 100, 25)
    dice = np.random.default_rng(0)
    truth = dice.poisson(20, leaf)
    same = [np.arange(size) for size in leaf]
    ones = [np.zeros(size, dtype=np.int64) for size in leaf]
    groupings = [
        (same[0], same[1], ones[2], ones[3]),
        (same[0], ones[1], same[2], ones[3]),
        (ones[0], same[1], same[2], same[3]),
    ]
    measured = []
    for maps in groupings:
        shape = tuple(int(m.max()) + 1 for m in maps)
        exact = add_up(truth, maps, shape)
        noise = np.rint(dice.normal(0, 10, shape)).astype(np.int64)
        measured.append(Sums(maps, shape, exact + noise, 100.0))
    problem = GridProblem(leaf, tuple(measured))
    begun = time.monotonic()
    least_squares(problem)
    middle = time.monotonic()
    list(reconcile(problem))
    cells = int(np.prod(leaf))
    figure(f"least squares over {cells:,} leaf cells", middle - begun, "s")
    figure("the same with whole numbers", time.monotonic() - middle, "s")
    print(
        f"county x sex, county x age, sex x age x job: {int(np.prod(leaf)):,} leaf cells; least "
        f"squares {middle - begun:.2f} s, with whole numbers {time.monotonic() - middle:.2f} s"
    )


def main() -> None:
    """Run one of the four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["nation", "crossed", "errors", "coverage"])
    parser.add_argument("--areas", type=int, default=1000)
    parser.add_argument("--people", type=int, default=2_000_000)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.what == "crossed":
        crossed(asked.cells)
    elif asked.what == "errors":
        from benchmarks.publish_errors import errors

        errors(asked.runs)
    elif asked.what == "coverage":
        from benchmarks.publish_coverage import coverage

        coverage(asked.runs)
    elif asked.folder is not None:
        asked.folder.mkdir(parents=True, exist_ok=True)
        nation(asked.areas, asked.people, asked.levels, asked.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            nation(asked.areas, asked.people, asked.levels, Path(folder))


if __name__ == "__main__":
    main()
