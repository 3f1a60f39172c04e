"""Every package that is not in the run set is asked for in one sentence, wherever it is wanted."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from discreet.base.packages import needs
from discreet.errors import MissingExtra

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "src" / "discreet"
OPTIONAL = {"jax", "pandas", "psycopg", "pyspark", "scipy", "vl_convert"}
IMPORTS = re.compile(rf"\b(?:import|from)\b.*\b(?:{'|'.join(OPTIONAL)})\b")
"""A line that may import one of them: most files have none and need not be parsed."""
GUARDED_BY_ITS_CALLER = {
    "work/synth/methods/rap_descent.py",
    # Only work/publish/reconcile/answers.py imports these, after it has asked.
    "work/publish/reconcile/constrained_least_squares.py",
    # Only data/engines/postgres/engine.py and data/engines/spark/engine.py import these, after they have asked.
    "data/engines/spark/sources.py",
    "data/engines/postgres/sources.py",
    "data/engines/postgres/held.py",
    "data/engines/postgres/session.py",
}

# What a user does, the package that is not there, and the extra that has it.
WANTED = {
    "import discreet.data.engines.postgres.engine": ("psycopg", "postgres"),
    "from discreet.privacy.ledger.postgres import PostgresStore as S; S('postgresql://x', folder=None)": (
        "psycopg",
        "postgres",
    ),
    "import discreet.data.engines.spark.jvm": ("pyspark", "spark"),
    "from discreet.work.synth.methods.registry import *; refuse_missing(find_method('rap'))": (
        "jax",
        "rap",
    ),
    "from discreet.work.synth.methods.rap import _relaxed; _relaxed(None, 1)": ("jax", "rap"),
    "from discreet.lab.attacks.counts.reconstruction import optimizer; optimizer()": (
        "scipy",
        "lab",
    ),
    "from discreet.base.answer import _converter; _converter()": (
        "vl_convert",
        "plot",
    ),
    "from discreet.show.document import _converter; _converter()": ("vl_convert", "plot"),
    "from discreet.server.features.frame.charts import chart_bundle; chart_bundle(None)": (
        "vl_convert",
        "server",
    ),
    "from discreet.base.answer import Answer; Answer.to_pandas(None)": ("pandas", "pandas"),
    "from discreet.cli.serve import server_parts; server_parts()": ("fastapi", "server"),
}

CHILD = """
import json, sys
from discreet.errors import MissingExtra

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

GONE, WANTED = json.loads(sys.argv[1])
sys.meta_path.insert(0, Gone())
said = {}
for code in WANTED:
    try:
        exec(code, {})
    except MissingExtra as error:
        said[code] = [error.extra, str(error)]
    except Exception as error:
        said[code] = [type(error).__name__, str(error)]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said():
    gone = sorted({package for package, _ in WANTED.values()})
    argument = json.dumps([gone, list(WANTED)])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, argument], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("code", WANTED)
def test_what_is_absent_is_named_with_the_extra_that_brings_it(code, said):
    package, extra = WANTED[code]
    found, sentence = said[code]
    assert found == extra, sentence
    assert package.replace("_", "-") in sentence.replace("_", "-")
    assert f"pip install 'discreet[{extra}]'" in sentence
    assert "make setup" in sentence


def test_every_extra_that_is_named_exists():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {extra for _, extra in WANTED.values()} <= set(declared["optional-dependencies"])


def test_another_failure_passes():
    with pytest.raises(MissingExtra), needs("nothing", extra="lab"):
        raise ImportError
    with pytest.raises(ZeroDivisionError), needs("nothing", extra="lab"):
        raise ZeroDivisionError


def bare_imports(text):
    """Lines that import an optional package outside of a `with needs(...)`."""
    if not any(name in text for name in OPTIONAL):
        return
    if not IMPORTS.search(text.replace("\\\n", " ")):
        return
    tree = ast.parse(text)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        and any(
            getattr(getattr(i.context_expr, "func", None), "id", "") == "needs" for i in node.items
        )
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        if id(node) not in guarded and any(name.partition(".")[0] in OPTIONAL for name in names):
            yield node.lineno


def test_no_optional_package_is_imported_without_saying_so():
    found = {
        f"{path.relative_to(SOURCE)}:{line}"
        for path in SOURCE.rglob("*.py")
        if str(path.relative_to(SOURCE)) not in GUARDED_BY_ITS_CALLER
        for line in bare_imports(path.read_text())
    }
    assert not found


def test_the_search_for_bare_imports_finds_one():
    assert list(bare_imports("import os\nimport scipy.stats\n")) == [2]
    assert not list(bare_imports("with needs('scipy', extra='lab'):\n    import scipy\n"))


def unused_extras(extras):
    """Return the packages of extras that no file of ours imports."""
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    listed = {re.split(r"[\[<>=; ]", line)[0] for lines in extras.values() for line in lines}
    modules = {name: re.sub("_(py|python)$", "", name.replace("-", "_")) for name in listed}
    del modules["discreet"]  # the extra of all extras
    found = {
        name
        for name, module in modules.items()
        if re.search(rf"^\s*(?:import|from) {module}\b", text, re.MULTILINE)
    }
    return modules.keys() - found


def test_every_extra_is_imported():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert unused_extras(extras) == set()
    assert unused_extras({**extras, "pgm": ["mbi==2.0.0"]}) == {"mbi"}, "the broken twin"
