"""The reference pages, written from the code: `make reference`; a test fails when they are stale.

Each page is one function below or in reference_settings.py: it returns Markdown made of docstrings,
help texts and routes.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import reference_settings as settings
from reference_results import result_types

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
MENUS = ("discreet", "discreet.work.learn", "discreet.survey")
"""The modules whose `__all__` is the public Python menu."""
ROOMS_ONLY = {"discreet.survey"}
"""Folders of code on the menu, which have a section of their own."""
RESULTS = (
    "What the functions above return, and what is in it. They make these; their constructors may change.\n"
    "Each prints in a few lines, and is a table in a notebook."
)
WRITTEN = "<!-- Written by `make reference` from the code: change the docstrings instead. -->"


def python_page() -> str:
    """Return every public Python name: how it is called, and what its docstring says; then what these return."""
    parts = [_head("Python", "Every public name; the rest of the package may change at any time.")]
    public = {}
    for menu in MENUS:
        module = import_module(menu)
        names = [name for name in sorted(module.__all__) if f"{menu}.{name}" not in ROOMS_ONLY]
        parts.append(f"## {menu}")
        here = {f"{menu}.{name}": _found(module, name) for name in names}
        parts.extend(_named(name, thing) for name, thing in here.items())
        public |= here
    parts.append(f"## Results\n\n{RESULTS}")
    parts.extend(_named(name, kind) for name, kind in sorted(result_types(public).items()))
    return "\n\n".join(parts) + "\n"


def _found(module: Any, name: str) -> Any:
    """Return a name where it is defined: a room of the same name may stand in front of it."""
    home = getattr(module, "_HOMES", {}).get(name)
    return getattr(import_module(home) if home else module, name)


def commands_page() -> str:
    """Return every command with its arguments and options."""
    from discreet.cli.app import COMMANDS, command_of

    parts = [_head("Commands", "`discreet COMMAND --help` prints the same.")]
    for name, (_, line) in COMMANDS.items():
        parts.append(f"## discreet {name}\n\n{line}")
        parts.extend(_command_parts(f"discreet {name}", command_of(name)))
    return "\n\n".join(parts) + "\n"


def errors_page() -> str:
    """Return every error that is raised on purpose, and what it means."""
    from discreet import errors

    found = [one for one in vars(errors).values() if inspect.isclass(one)]
    rows = [f"| `{one.__name__}` | `{one.__mro__[1].__name__}` | {_line(one)} |" for one in found]
    table = "\n".join(["| error | is a | what it means |", "|---|---|---|", *rows])
    first = "A command prints one sentence and ends with status 1; HTTP sends the same as JSON."
    return _head("Errors", first) + "\n\n" + table + "\n"


def endpoints_page() -> str:
    """Return every HTTP endpoint of the server, without its pages."""
    rows = [f"| `{method} {path}` | {text} |" for path, method, text in sorted(set(_routes()))]
    table = "\n".join(["| endpoint | what it does |", "|---|---|", *rows])
    parts = [_head("HTTP endpoints", "`docs/server.md` says how to sign in."), table, *_bodies()]
    return "\n\n".join(parts) + "\n"


def _bodies() -> Iterator[str]:
    """Yield the fields of each body that is made of a request, with the endpoints that take it."""
    from discreet.server.bodies import RequestBody

    taken: dict[Any, list[str]] = {}
    for route in _api_routes():
        for each in route.dependant.body_params:
            kind = each.field_info.annotation
            if inspect.isclass(kind) and issubclass(kind, RequestBody):
                taken.setdefault(kind, []).append(f"`{sorted(route.methods)[0]} {route.path}`")
    for kind, routes in sorted(taken.items(), key=lambda pair: pair[0].__name__):
        rows = [f"| `{name}` | {_field_words(each)} |" for name, each in kind.model_fields.items()]
        table = "\n".join(["| field | |", "|---|---|", *rows])
        yield f"## Body of {', '.join(sorted(set(routes)))}\n\n{_line(kind)}\n\n{table}"


def _field_words(each: Any) -> str:
    words = (each.description or "").replace("|", "\\|")
    if each.is_required():
        return f"{words} (required)".strip()
    default = each.get_default(call_default_factory=True)
    return words if default in (None, [], {}, "") else f"{words} `{default!r}` unless given."


_FORMS: dict[str, tuple[str, ...]] = {
    "numbers": (
        *("LEAST(x, y)", "GREATEST(x, y)", "CLAMP(x, 0, 10)", "CLIP(x, 0, 10)"),
        "WIDTH_BUCKET(x, 0, 100, 10)",
    ),
    "on results, or small domains": ("PI()",),
    "choices": ("CASE WHEN a THEN x ELSE y END", "IF(a, x, y)", "COALESCE(x, y)", "NULLIF(x, y)"),
    "texts": ("CONCAT(s, t)",),
    "dates": (
        *("EXTRACT(YEAR FROM d)", "DATE_PART('month', d)", "YEAR(d)", "QUARTER(d)", "MONTH(d)"),
        *("DAY(d)", "DAYOFMONTH(d)", "DAYOFWEEK(d)", "ISODOW(d)", "DAYOFYEAR(d)", "WEEK(d)"),
        *("WEEKOFYEAR(d)", "LAST_DAY(d)"),
        *("HOUR(d)", "MINUTE(d)", "SECOND(d)", "DATE_TRUNC('month', d)", "DATE(d)"),
        *("DATE_ADD(d, INTERVAL 3 DAY)", "DATE_DIFF('day', d, e)", "EPOCH(d)"),
        *("TIME_BUCKET(INTERVAL '15 minutes', ts)", "STRFTIME(d, '%Y-%m')"),
        *("TO_CHAR(d, 'YYYY-MM')", "DAYNAME(d)", "MONTHNAME(d)"),
        *("CURRENT_DATE", "CURRENT_TIMESTAMP", "NOW()"),
    ),
    "types": ("CAST(x AS INTEGER)", "CAST(x AS DECIMAL(9, 2))", "TRY_CAST(x AS INTEGER)"),
}
"""What is more than a function of one operand and constants, beside the rows of `plan.functions`."""
_HEADINGS = (
    *("numbers", "to a 10,000th of their range, see above", "on results, or small domains"),
    *("choices", "texts", "categories only", "dates", "types"),
)


def functions_table() -> str:
    """Return the table of scalar functions in docs/sql.md."""
    from discreet.ask.plan.kinds import SCALARS

    lines = ["| | |", "|---|---|"]
    for heading in _HEADINGS:
        rows = [row for row in SCALARS.values() if row.written and _heading(row) == heading]
        calls = [*(call for row in rows for call in row.written), *_FORMS.get(heading, ())]
        lines.append(f"| {heading} | {' '.join(f'`{call}`' for call in calls)} |")
    return "\n".join(lines) + "\n"


def _heading(row: Any) -> str:
    """Return where a function belongs, by what it can be asked of."""
    if row.takes == "category":
        return "texts" if row.sql else "categories only"
    if row.takes != "number":
        return "dates"
    if getattr(row, "curve", None):
        return "to a 10,000th of their range, see above"
    large = row.sql or getattr(row, "rewritten", None) or getattr(row, "lowered", None)
    return "numbers" if large else "on results, or small domains"


def methods_table() -> str:
    """Return the table of synthesis methods in docs/synth.md."""
    from discreet.base.requests.paid import SynthFields
    from discreet.work.synth.methods.registry import ALIASES, METHODS

    lines = ["| `--method` | what it does | settings (`--set`) |", "|---|---|---|"]
    for name, method in METHODS.items():
        also = [f"`{other}`" for other, meant in ALIASES.items() if meant == name]
        also += ["default"] if name == SynthFields.method else []
        shown = f"`{name}` ({', '.join(also)})" if also else f"`{name}`"
        taken = ", ".join(f"`{option}`" for option in method.options)
        lines.append(f"| {shown} | {method.sentence} | {taken} |")
    return "\n".join(lines) + "\n"


def learners_table() -> str:
    """Return the table of learners in docs/learn.md."""
    from discreet.work.learn.learners.registry import AUTO, AUTO_WORDS, CLASSIFY, LEARNERS

    lines = ["| `--model` | of | what it does |", "|---|---|---|"]
    lines.append(f"| `{AUTO}` (default) | `{CLASSIFY}` | {AUTO_WORDS} |")
    lines += [f"| `{name}` | `{each.task}` | {each.words} |" for name, each in LEARNERS.items()]
    return "\n".join(lines) + "\n"


def attacks_table() -> str:
    """Return the table of attacks in docs/attacks.md; their options stand in the reference of commands."""
    from discreet.lab.attacks.attacks import all_attacks

    lines = ["| attack | what it does |", "|---|---|"]
    lines += [f"| `{attack.name}` | {attack.words} |" for attack in all_attacks()]
    return "\n".join(lines) + "\n"


def costs_table() -> str:
    """Return the table of costs in docs/anonymize.md."""
    from discreet.anonymize.registry import COSTS

    lines = ["| `--cost` | what is kept small | `--weights` |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {each.words} | {'yes' if each.weighted else 'no'} |"
        for name, each in COSTS.items()
    ]
    return "\n".join(lines) + "\n"


def criteria_table() -> str:
    """Return the table of privacy models in docs/anonymize.md."""
    from discreet.anonymize.registry import PRIVACY_MODELS, diversities

    lines = ["| options | what every class must be like |", "|---|---|"]
    several = diversities()
    for name, each in PRIVACY_MODELS.items():
        shown = f"{each.option} --diversity {name}" if name in several else each.option
        lines.append(f"| `{shown}` | {each.words} |")
    return "\n".join(lines) + "\n"


TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("attacks.md", "attacks"): attacks_table,
    ("sql.md", "functions"): functions_table,
    ("synth.md", "methods"): methods_table,
    ("learn.md", "models"): learners_table,
    ("anonymize.md", "costs"): costs_table,
    ("anonymize.md", "criteria"): criteria_table,
}
"""Tables inside of pages that people write: the page and the mark before the table."""


def with_table(text: str, mark: str, table: str) -> str:
    """Return a page with the table between `<!-- mark -->` and `<!-- end -->` written anew."""
    before, found, rest = text.partition(f"<!-- {mark} -->\n")
    if not found:
        raise SystemExit(f"no <!-- {mark} --> in the page")
    return before + found + table + rest[rest.index("<!-- end -->") :]


PAGES: dict[str, Callable[[], str]] = {
    "python.md": python_page,
    "commands.md": commands_page,
    "errors.md": errors_page,
    "endpoints.md": endpoints_page,
    "settings.md": lambda: (
        f"{_head('Settings', settings.FIRST)}\n\n{settings.settings_tables(ROOT)}"
    ),
}


def _head(title: str, line: str) -> str:
    return f"# Reference: {title}\n\n{WRITTEN}\n\n{line}"


def _line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _text(thing: Any) -> str:
    """Return a docstring as Markdown: examples and indented blocks as code."""
    blocks = re.split(r"\n\s*\n", inspect.getdoc(thing) or "")
    return "\n\n".join(_block(block) for block in blocks)


def _block(block: str) -> str:
    code = block.lstrip().startswith(">>>") or all(
        line.startswith("    ") for line in block.splitlines()
    )
    return f"```text\n{block}\n```" if code else block


def _named(name: str, thing: Any) -> str:
    if not callable(thing):
        return f"### {name}\n\n`{thing!r}`"
    short = name.rpartition(".")[2]
    parts = [f"### {name}", f"```text\n{short}{_signature(thing)}\n```", _text(thing)]
    if inspect.isclass(thing):
        parts.append("\n".join(_members(thing)))
    return "\n\n".join(part for part in parts if part)


def _members(owner: type) -> Iterator[str]:
    for name, raw in inspect.getmembers_static(owner):
        if name.startswith("_") or not getattr(owner, "__module__", "").startswith("discreet"):
            continue
        value = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
        text = inspect.getdoc(value)
        if inspect.isfunction(value):
            yield f"- `.{name}{_signature(value)}`: {_line(value)}"
        elif isinstance(value, property) or hasattr(value, "attrname"):
            yield f"- `.{name}`: {(text or '').split(chr(10) * 2)[0].replace(chr(10), ' ')}"


def _signature(thing: Any) -> str:
    """Return the parameters as they stand in the source: annotations are texts there."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    plain = [
        one.replace(annotation=_Bare(one.annotation), default=_lasting(one.default))
        for one in found.parameters.values()
        if one.name not in {"self", "cls"}
    ]
    return str(found.replace(parameters=plain, return_annotation=_Bare(found.return_annotation)))


def _lasting(default: Any) -> Any:
    """Return a default as it reads in every process: no addresses."""
    return _Bare("...") if " at 0x" in repr(default) else default


class _Bare:
    """An annotation that is shown without quotes."""

    def __init__(self, annotation: Any) -> None:
        self.text = (
            annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        )

    def __repr__(self) -> str:
        return self.text


def _command_parts(name: str, command: Any) -> Iterator[str]:
    children = getattr(command, "commands", {})
    if not children:
        yield _options(command)
    for child, inner in children.items():
        help_text = " ".join((inner.help or "").split())
        yield f"### {name} {child}\n\n{help_text}"
        yield from _command_parts(f"{name} {child}", inner)


def _options(command: Any) -> str:
    rows = []
    for option in command.params:
        is_option = option.param_type_name == "option"
        shown = "/".join(option.opts) if is_option else (option.metavar or option.name.upper())
        help_text = " ".join((getattr(option, "help", None) or "").split()).replace("|", "\\|")
        must = " (required)" if option.required else ""
        rows.append(f"| `{shown}` | {help_text}{must} |")
    return "\n".join(["| argument or option | |", "|---|---|", *rows])


def _routes() -> Iterator[tuple[str, str, str]]:
    for route in _api_routes():
        for method in sorted(route.methods):
            yield route.path, method, _line(route.endpoint)


def _api_routes() -> Iterator[Any]:
    from fastapi.routing import APIRoute

    from discreet.server.feature import features
    from discreet.server.start import OWN_ROUTERS

    routers = [*OWN_ROUTERS, *(router for feature in features() for router in feature.routers)]
    for route in (route for router in routers for route in router.routes):
        if isinstance(route, APIRoute) and route.include_in_schema:
            yield route


def main() -> int:
    """Write all pages; return 0."""
    FOLDER.mkdir(exist_ok=True)
    for name, written in PAGES.items():
        (FOLDER / name).write_text(written(), encoding="utf-8")
    for (name, mark), table in TABLES.items():
        page = FOLDER.parent / name
        text = with_table(page.read_text(encoding="utf-8"), mark, table())
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
