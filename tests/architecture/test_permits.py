"""Pay before you look is a type: who may make a permit, and who may read without one, each with the reason."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rooms

import discreet

HOUSE = Path(discreet.__file__).resolve().parent

MAY_MINT = {
    "privacy/ledger/outcomes.py": "a charge was begun: the mark is durable, and nobody else gets it",
    "privacy/ledger/ledger.py": "the owner's look, or an exposure, was written down",
}
MAY_READ_UNPAID = {
    "data/catalog/profile.py": "the owner's own file, before anything is declared",
    "privacy/kernel/losses.py": "what declarations leave out, shown to the owner alone",
    "anonymize/source.py": "the owner's measures; a copy leaves only once its exposure is written down",
    "anonymize/run.py": "the same: the one GROUP BY of a copy",
    "survey/columns.py": "reports that are noisy already",
    "ask/release/public_rows.py": "public tables, which hold nobody's rows",
    "server/jobs/watched.py": "hands on the reader of what it watches",
    "data/engines/spark/held.py": "the engine itself, below the readers",
    "testing/engine.py": "the same, of a made-up engine",
}
MAY_OPEN = {
    "ask/release/paid.py": "what was charged and begun",
    "work/publish/run.py": "exact facts, once their exposure is written down",
    "measure/learned_types.py": "the same rows once more, read as another type, for the same permit",
    "work/synth/report/make_reports.py": "the owner's comparison, once the look is written down",
    "lab/attacks/package.py": "the owner's attack on a package, once the look is written down",
    "server/jobs/watched.py": "hands on the reader of what it watches",
}
MAY_PASS_ON = {
    "ask/release/pipeline.py": "one time limit for all SELECTs of a question",
    "server/jobs/watched.py": "tells of steps and takes turns",
}
UNPAID = {"owner_reader", "public_reader"}
RAW = {"_run", "_keep"}
"""The methods behind the readers, which only readers and engines call."""
READERS = {"PaidReader", "UnpaidReader", "RunSql"}


def unlisted_mints(root: Path) -> list[str]:
    """Return files that import what makes permits, or the mint itself."""
    return [
        f"{file}:{each.line}"
        for path, file in rooms.files(root)
        for each in rooms.imports(path, file)
        if (each.name in {"permit_for", "_MINT"} or _is_permit_module(each))
        and file not in MAY_MINT
    ]


def _is_permit_module(each: rooms.Import) -> bool:
    whole = each.module == "discreet.base.proof" and not each.name
    return whole or (each.module, each.name) == ("discreet.base", "proof")


def unlisted_reads(root: Path) -> list[str]:
    """Return where rows are read beside the paid reader."""
    found = []
    for path, file in rooms.files(root):
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in (*UNPAID, *RAW, ".paid(", ".through(")):
            continue
        for node in ast.walk(rooms.parsed(path)):
            opens = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "paid"
            if opens and file not in MAY_OPEN:
                found.append(f"{file}:{node.lineno} opens rows for a permit of its own")
            passes = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "through"
            if passes and file not in MAY_PASS_ON:
                found.append(f"{file}:{node.lineno} reads through something else")
            if not isinstance(node, ast.Attribute):
                continue
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if node.attr in UNPAID and file not in MAY_READ_UNPAID:
                found.append(f"{file}:{node.lineno} reads unpaid")
            if node.attr in RAW and not own:
                found.append(f"{file}:{node.lineno} reads behind the readers")
    return found


def public_runs(root: Path) -> list[str]:
    """Return classes of engines that read under a public name."""
    return [
        f"{file}:{node.lineno} {node.name}.{method.name}"
        for path, file in rooms.files(root)
        if rooms.room_of(file) in {"data/engines", "testing"}
        for node in ast.walk(rooms.parsed(path))
        if isinstance(node, ast.ClassDef) and node.name not in READERS
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name in {"run", "keep"}
    ]


CHECKS = [unlisted_mints, unlisted_reads, public_runs]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_nobody_reads_without_a_permit(check):
    assert check(HOUSE) == []


def test_who_is_listed_does_it():
    """A name that is no longer needed is taken off the lists."""
    lists = (
        (MAY_MINT, {"permit_for"}),
        (MAY_READ_UNPAID, UNPAID),
        (MAY_OPEN, {".paid"}),
        (MAY_PASS_ON, {".through"}),
    )
    for listed, names in lists:
        for file in listed:
            text = (HOUSE / file).read_text(encoding="utf-8")
            assert any(f"{name}(" in text for name in names), file


BAD = {
    "a mint": ("work/synth/x.py", "from discreet.base.proof import permit_for"),
    "the mint itself": ("ask/release/x.py", "from discreet.base.proof import _MINT"),
    "the mint's module": ("work/learn/x.py", "import discreet.base.proof"),
    "the module by name": ("work/learn/x.py", "def f():\n    from discreet.base import proof"),
    "the owner's reader": (
        "work/publish/x.py",
        "def f(desk):\n    return desk.engine.owner_reader()",
    ),
    "a reader handed on": ("work/learn/x.py", "def f(engine):\n    return g(engine.owner_reader)"),
    "a public reader": ("work/synth/x.py", "def f(held):\n    return held.public_reader('t')"),
    "a look of its own": ("work/learn/x.py", "def f(held, permit):\n    return held.paid(permit)"),
    "a reader of one's own": (
        "work/learn/x.py",
        "def f(reader, run):\n    return reader.through(lambda _: run)",
    ),
    "behind an engine": ("ask/release/x.py", "def f(engine):\n    return engine._run('SELECT 1')"),
    "behind a held state": (
        "work/synth/x.py",
        "def f(self):\n    return self.held._keep('SELECT 1')",
    ),
    "a public run": ("data/engines/x.py", "class E:\n    def run(self, sql):\n        return sql"),
    "a public keep": (
        "data/engines/duckdb/x.py",
        "class H:\n    def keep(self, sql):\n        return sql",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_the_inspector_notices(tmp_path, what):
    file, text = BAD[what]
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert [found for check in CHECKS for found in check(tmp_path)], what


@pytest.mark.parametrize(
    "text",
    [
        "class Held:\n    def run(self, sql):\n        return self._run(sql)",
        "from discreet.ask.release.paid import paid\n\ndef f(reader):\n    return paid(reader.permit)",
    ],
)
def test_and_is_content_with_the_rest(tmp_path, text):
    (tmp_path / "work" / "synth").mkdir(parents=True)
    (tmp_path / "work" / "synth" / "x.py").write_text(text)
    assert [found for check in CHECKS for found in check(tmp_path)] == []
