"""What of src nothing uses: `make lint` fails on something new.

What only tests use is no product. Two searches: `unused` finds functions, methods and classes whose name stands nowhere else;
`unreached` walks from the menu, the commands and the documents over modules and what they define, so that neither another
thing of the same name nor an `__init__` that hands it on hides what is dead. What is called from outside is listed, with why.
"""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path

from reach import Place, Reach, named_in
from vulture.core import Vulture

ROOT = Path(__file__).resolve().parent.parent
CALLED_BY_FRAMEWORKS = [
    "@*router.*",
    "@app.command*",
    "@app.callback*",
    "@property",
]
NAMES = {
    "Python and notebooks call them": {
        "__getattr__", "__dir__", "__format__", "__reduce_ex__", "__init_subclass__", "__deepcopy__", "_repr_html_",
        "_repr_mimebundle_", "readinto", "writable", "create_module",
    },
    "asyncio calls them": {
        "connection_made", "data_received", "eof_received", "connection_lost", "pause_writing",
        "resume_writing",
    },
    "urllib calls them": {"redirect_request", "http_open", "https_open"},
    "scikit-learn's habits": {
        "predict_proba", "set_params", "fit_transform", "inverse_transform", "score",
    },
    "commands, found by the name of their module": {"demo", "synth", "completion", "course"},
    "a template of children calls it, in the module that it is told": {"prepare"},
    "named in the registry of costs": {"LossCost", "EntropyCost"},
    "documented: docs/survey.md": {"to_cbor", "donate", "forget"},
    "documented: docs/packages.md": {"late_rows"},
}  # fmt: skip
FOUND_BY_NAME = {
    "main",
    "app",
    "build",
    "prepare",
    "make",
    "compare",
    "NEIGHBOURS",
    "facts",
    "__getattr__",
    "__dir__",
}
"""In modules that are reached: what child processes, commands, an audit, scripts/course.py and Python itself look for."""

STARTS = {
    r"discreet\.__main__": "what `python -m discreet` runs",
    r"discreet|discreet\.work\.learn": "the menus, which are tables of modules",
    r"discreet\.server\.features\.\w+\.(pages|in_child)": "found by the name of the folder, and jobs by their own",
    r"discreet\.lab\.course\.facts": "scripts/course.py writes the figures of lessons",
    r"discreet\.survey\.audited": "documented: `discreet audit` of docs/survey.md names its file",
    r"discreet\.lab\.town\.(benchmark_tables|uci)": "documented: docs/town.md",
    r"discreet\.data\.engines\.fork_server": "a process of its own, started by its text",
    r"discreet\.testing(\.\w+)?": "kits of the tests, and of who tests mechanisms",
}
"""Modules that count as used with all that they define, and why."""


def unused() -> list[str]:
    """Return every definition that nothing uses, as FILE:LINE name."""
    known = [name for names in NAMES.values() for name in sorted(names)]
    known += [name for _, name in documented()]
    judge = Vulture(ignore_names=known, ignore_decorators=CALLED_BY_FRAMEWORKS)
    judge.scavenge([str(ROOT / "src")])
    found = [*judge.unused_funcs, *judge.unused_methods, *judge.unused_classes]
    return sorted(
        f"{item.filename.relative_to(ROOT)}:{item.first_lineno} {item.name}" for item in found
    )


def unreached() -> list[str]:
    """Return modules, and what they define, that nothing leads to, as FILE:LINE name."""
    reach = Reach(ROOT / "src", FOUND_BY_NAME)
    start: list[Place] = [
        ("discreet.cli", "main"),
        *documented(),
    ]  # the entry point of pyproject.toml
    for name, module in reach.modules.items():
        if any(re.fullmatch(pattern, name) for pattern in STARTS):
            start += [(name, ""), *((name, defined) for defined in module.defined)]
    return [str(Path(line).relative_to(ROOT)) for line in reach.unreached(start)]


def documented() -> list[Place]:
    """Return what documents and lessons import; design notes tell of what was."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md"), ROOT / "README.md"]
    return [*named_in(page for page in pages if page.is_file() and "notes" not in page.parts)]


def main() -> int:
    """Print what is dead; return 1 if anything is."""
    gc.disable()  # a million nodes, none of them garbage: a quarter of the time
    found = sorted({*unused(), *unreached()})
    for line in found:
        print(f"{line}: nothing uses it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
