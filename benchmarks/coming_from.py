"""The other tools' code of docs/coming-from.md, run as it stands there.

python -m benchmarks.coming_from [--peer NAME ...] [--timeout SECONDS]

Each tool runs in a process and an environment of its own (see peers.py). What its block takes for
granted is made beforehand: people.csv of a made-up town, and the names in BEFORE. What its last line
comes to is printed. ARX is a Java program that no package registry has: it is not run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.csv as csv
from benchmarks.peers import ROOT, environment
from benchmarks.synth import PACKAGES

from discreet.lab.town import town

PAGE = ROOT / "docs" / "coming-from.md"
HEADINGS = {
    "opendp": "OpenDP",
    "smartnoise": "SmartNoise",
    "tumult": "Tumult Analytics",
    "datasynthesizer": "DataSynthesizer",
}
BEFORE = {
    "opendp": "rows = open('people.csv').read().splitlines()[1:]",
    "smartnoise": "import pandas; frame = pandas.read_csv('people.csv')",
    "tumult": """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = spark.config("spark.sql.shuffle.partitions", "2").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
spark_frame = spark.read.csv("people.csv", header=True, inferSchema=True)
""",
    "datasynthesizer": "",
}
SHOW = """
import ast, os
were = set(os.listdir())
before, block = (open(name).read() for name in ("before.py", "block.py"))
names = {}
exec(before, names)
*first, last = ast.parse(block).body
exec(compile(ast.Module(first, []), "block", "exec"), names)
value = eval(compile(ast.Expression(last.value), "block", "eval"), names)
if hasattr(value, "toPandas"):
    value = value.toPandas().to_dict("records")
files = [name for name in sorted(set(os.listdir()) - were) if os.path.isfile(name)]
wrote = {name: sum(1 for _ in open(name)) for name in files}
print("\\nit said:", value if value is not None else f"wrote {wrote}")
"""
"""Run a block and show what its last line, an expression, came to, or the lines of the files it wrote."""
PEOPLE = 1_000


def blocks_of(peer: str, page: str) -> list[str]:
    """Return the blocks of another tool on the page: what it reads, and then its code."""
    section = next(
        part for part in page.split("\n## ")[1:] if part.startswith(f"{HEADINGS[peer]}:")
    )
    return re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def tried(peer: str, *, timeout: int) -> str | None:
    """Return what a tool's block came to; None where the tool cannot be installed here."""
    python = environment(peer)
    if python is None:
        return None
    *files, code = blocks_of(peer, PAGE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        people = town(PEOPLE, folder=folder / "town", tables=("people",)).load("people")
        csv.write_csv(people.select(["age", "sex", "region"]), folder / "people.csv")
        for text in files:
            (folder / text.partition("\n")[0].removeprefix("# ")).write_text(text)
        (folder / "before.py").write_text(BEFORE[peer])
        (folder / "block.py").write_text(code)
        alone = os.environ | {"PYTHONPATH": "", "PYSPARK_PYTHON": str(python)}
        done = subprocess.run(
            [python, "-W", "ignore", "-c", SHOW],
            cwd=folder,
            env=alone,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{peer}: {done.stderr[-2_000:]}")
    return done.stdout.rpartition("it said: ")[2].strip()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", nargs="*", choices=list(HEADINGS), default=list(HEADINGS))
    parser.add_argument("--timeout", type=int, default=900)
    options = parser.parse_args(arguments)
    for peer in options.peer:
        said = tried(peer, timeout=options.timeout)
        pins = " ".join(pins_of(peer))
        print(f"{pins}: {'does not install here' if said is None else said}", flush=True)
    return 0


def pins_of(peer: str) -> tuple[str, ...]:
    """Return the versions that a tool is run with."""
    return PACKAGES[peer]


if __name__ == "__main__":
    sys.exit(main())
