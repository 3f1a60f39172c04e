"""The tables of src/discreet/privacy/README.md: files in reading order with their lines, and who else may open rows.

`make reference` writes them; `tests/architecture/test_trusted_base.py` holds them true.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "src" / "discreet" / "privacy"
ORDER = {
    "noise": "rng certified coins alias_tables tails laws/law laws/laplace laws/gaussian laws/registry additive select "
    "random_response error_bars",
    "account": "tally convert price composition discrete_gaussian batch pld pld_laws explain",
    "ledger": "entry budget store sqlite_file sqlite postgres head history session accounts worst/worst_hit worst/grid "
    "worst/small_grids worst/search charge refusal ledger outcomes answers checkpoint checkpoint_records backup reports",
    "kernel": "nodes read_duckdb read_sqlglot scalars functions patterns sources cells canonical rows facts mechanism seal "
    "look rehearsal losses odd_values",
}
"""What a file needs is read before it, as far as that goes."""
WITHOUT_PROMISE = {
    *("noise/error_bars.py", "account/explain.py", "kernel/losses.py", "kernel/odd_values.py"),
    "ledger/reports.py",
}
EXCEPTIONS = {
    "MAY_MINT": "make a permit",
    "MAY_OPEN": "open rows with a permit of their own",
    "MAY_PASS_ON": "hand a reader on",
    "MAY_READ_UNPAID": "read without a charge",
}


def listed() -> list[str]:
    """Return the files in reading order."""
    return [f"{room}/{name}.py" for room, names in ORDER.items() for name in names.split()]


def rounded(file: str) -> int:
    """Return how many lines a file has, to tens."""
    return max(10, round((PLACE / file).read_text(encoding="utf-8").count("\n"), -1))


def files_table(lines: dict[str, int]) -> str:
    """Return the files as a table, the sum of each folder first."""
    rows = ["| file | lines | what it must get right |", "|---|---|---|"]
    for room in ORDER:
        mine = [file for file in listed() if file.startswith(f"{room}/")]
        whole = sum(lines[file] for file in mine)
        promise = sum(lines[file] for file in mine if file not in WITHOUT_PROMISE)
        rows.append(f"| **{room}/** | **{whole:,}** | of which {promise:,} carry the promise |")
        rows += [f"| `{file}` | {lines[file]:,} | {said(PLACE / file)} |" for file in mine]
    whole = sum(lines.values())
    promise = sum(count for file, count in lines.items() if file not in WITHOUT_PROMISE)
    rows.append(f"| **in all** | **{whole:,}** | of which **{promise:,}** carry the promise |")
    return "\n".join(rows)


def said(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    first = re.match(r'"""(.*?)(?:\n|""")', path.read_text(encoding="utf-8"))
    assert first is not None, path
    return first.group(1).rstrip(".").replace("|", "\\|")


def exceptions_table() -> str:
    """Return who may do without a reader that was paid for, with the reasons."""
    sys.path.insert(0, str(ROOT / "tests" / "architecture"))
    import test_permits

    rows = ["| may | file | because |", "|---|---|---|"]
    for name, what in EXCEPTIONS.items():
        for file, why in getattr(test_permits, name).items():
            rows.append(f"| {what} | `{file}` | {why} |")
    return "\n".join(rows)


def written(page: str, lines: dict[str, int]) -> str:
    """Return the page with both tables."""
    for name, table in (("files", files_table(lines)), ("exceptions", exceptions_table())):
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, _, rest = page.partition(start)
        page = f"{before}{start}\n{table}\n{end}{rest.partition(end)[2]}"
    return page


def lines_said(page: str) -> dict[str, int]:
    """Return the lines of each file that a page says."""
    return {
        file: int(count.replace(",", ""))
        for file, count in re.findall(r"^\| `([\w/]+\.py)` \| ([\d,]+) \|", page, re.MULTILINE)
    }


def wrong(page: str) -> list[str]:
    """Return what a page says that is not so: files that are missing or gone, and lines off by over a tenth."""
    there = {path.relative_to(PLACE).as_posix() for path in PLACE.rglob("*.py")}
    there = {file for file in there if not file.endswith("__init__.py")}
    told = lines_said(page)
    found = [f"{file}: in one of the two" for file in sorted(there ^ set(told))]
    found += [
        f"{file}: {told[file]} lines said, {rounded(file)} there"
        for file in sorted(there & set(told))
        if abs(rounded(file) - told[file]) > max(10, told[file] / 10)
    ]
    if not found and page != written(page, told):
        found.append("the tables differ from the code: make reference")
    return found


def main() -> None:
    """Write both tables; counts that are still true within a tenth stay."""
    path = PLACE / "README.md"
    page = path.read_text(encoding="utf-8")
    told = lines_said(page)
    lines = {}
    for file in listed():
        now = rounded(file)
        kept = told.get(file, 0)
        lines[file] = kept if kept and abs(now - kept) <= max(10, kept / 10) else now
    path.write_text(written(page, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
