"""Docs are tests: every fenced example runs, and so does every example in a docstring."""

import datetime as dt
import doctest
import importlib
import shlex
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT, fences

from discreet.cli.app import run
from discreet.testing import SeededRng

PAGES = sorted((ROOT / "docs").glob("*.md"))  # README.md is one sequence: test_readme.py
EXAMPLES = [fence for page in PAGES for fence in fences(page)]
# "# skip: needs a server" in an example says why it cannot run here.
RUNNABLE = [fence for fence in EXAMPLES if "# skip:" not in fence.text]
PYTHON = [fence for fence in RUNNABLE if fence.language == "python"]
SHELL = [fence for fence in RUNNABLE if fence.language == "sh"]
SOURCES = ROOT / "src" / "discreet"
TEXTS = {
    "discreet." + path.relative_to(SOURCES).with_suffix("").as_posix().replace("/", "."): text
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in (text := path.read_text(encoding="utf-8"))
}
MODULES = [
    pytest.param(name, marks=pytest.mark.jax) if "\nimport jax" in text else name
    for name, text in TEXTS.items()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the catalog of docs/sql.md and a few rows for it."""
    base = tmp_path_factory.mktemp("docs")
    (toml,) = [f.text for f in fences(ROOT / "docs" / "sql.md") if f.language == "toml"]
    (base / "discreet.toml").write_text(toml, encoding="utf-8")
    day = dt.date(2024, 1, 1)
    tables = {
        "people": {
            # Enough that no example fails by the noise: a count is off by hundreds once in e^50.
            "age": [30, 40] * 5000,
            "sex": ["Female", "Male"] * 5000,
            "income": [10.5] * 10_000,
            "born": [dt.date(1990, 5, 17)] * 10_000,
            "member": [True] * 10_000,
        },
        "patients": {"person": [1, 2], "sex": ["Female", "Male"]},
        "visits": {
            "person": [1, 2],
            "ward": ["A", "B"],
            "cost": [1.0, 2.0],
            "day": [day] * 2,
            "diagnosis": ["x"] * 2,
        },
        "wards": {"ward": ["A"], "beds": [5]},
    }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), base / f"{name}.parquet")
    return base


@pytest.mark.parametrize("fence", PYTHON, ids=str)
def test_python_examples(fence, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code = compile(fence.text, str(fence), "exec")
    exec(code, {"rng": SeededRng(1), "__name__": "docs"})


@pytest.mark.parametrize("fence", SHELL, ids=str)
def test_shell_examples(fence, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for line in fence.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        assert words[0] == "discreet", f"{fence}: only our own command can be shown as runnable"
        assert run(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name.removesuffix(".__init__"))
    failed, tried = doctest.testmod(module)
    assert tried or "+SKIP" in TEXTS[name]
    assert not failed


def test_fences_are_found():
    assert len(PYTHON) >= 3
    assert len(SHELL) >= 1
    assert len(MODULES) >= 10
