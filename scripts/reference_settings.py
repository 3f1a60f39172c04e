"""Every setting: of discreet.toml, of the server, of a sign-in provider's file, of the environment.

Kinds and defaults come from the code. What a key of discreet.toml means is the first sentence that
docs/catalog.md (docs/operators.md for renewals) says of it, so that it is written once.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

FIRST = (
    "`discreet.toml` is explained in [its page](../catalog.md), `discreet serve` in [the server](../server.md). "
    "What is in none of these tables is refused with a sentence."
)
SECTIONS = {
    "[engine]": ("EngineShape", "[engine]"),
    "[ledger]": ("LedgerShape", "[ledger]"),
    "[storage]": ("StorageShape", "[storage]"),
    "[datasets.NAME]": ("DatasetShape", "[datasets.NAME]"),
    "[datasets.NAME.tables.NAME]": ("TableShape", "[datasets.NAME.tables.NAME]"),
    "[datasets.NAME.tables.NAME.columns]": ("ColumnShape", "[datasets.NAME.tables.NAME.columns]"),
    "renew, of a dataset or a budget": ("RenewShape", ""),
    "[budgets.NAME]": ("BudgetShape", "[datasets.NAME]"),
    "[analysts.NAME]": ("AnalystShape", "[analysts.NAME]"),
    "datasets, of an analyst": ("CapShape", "[analysts.NAME]"),
}
"""Each table of discreet.toml: the class that reads it, and the section of catalog.md that explains it."""
VARIABLES = {
    "DISCREET_DEBUG": "Set: an unexpected failure of a command shows its details, which may be private.",
    "DISCREET_TOKEN": "The token of `discreet attack ... --server` and of downloaded notebooks; never an argument, which others could see.",
    "DISCREET_OTHER_TOKEN": "A second analyst's token, for attacks on a server by two who talk to each other.",
    "DISCREET_FULL": "Set: tests run with their full counts (`make test-full`).",
    "DISCREET_CLIENTS": "Where `make test-clients` installs other languages' PostgreSQL clients.",
    "DISCREET_PYTHON": "The interpreter of `make release` and `make bundle`.",
    "DISCREET_UV": "The uv of `make release` and `make bundle`.",
}
"""What is read from the environment; a test finds every one of them in the code, and no other."""


def settings_tables(root: Path) -> str:
    """Return all tables of settings as Markdown."""
    docs = root / "docs"
    parts = [
        f"## {title}\n\n{_table(('key', 'kind', 'unless given', 'what it says'), rows)}"
        for title, rows in _file_tables(docs)
    ]
    parts.append(
        "## The server\n\nOptions of `discreet serve`; what has no option is set in Python, as `Settings` of `discreet.server.settings`.\n"
    )
    parts.append(
        _table(("setting", "option", "unless given", "what it says"), list(_server_rows()))
    )
    parts.append("## The file of a sign-in provider\n\n`discreet serve --openid FILE`.\n")
    parts.append(_table(("key", "what it says"), list(_openid_rows())))
    parts.append(
        "## Environment variables\n\nPasswords of PostgreSQL come from `~/.pgpass` or `PGPASSWORD`, as its own tools have it.\n"
    )
    parts.append(
        _table(("variable", "what it says"), [(f"`{n}`", t) for n, t in VARIABLES.items()])
    )
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _file_tables(docs: Path) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    from discreet.data.catalog import file_shape

    catalog = (docs / "catalog.md").read_text(encoding="utf-8")
    renewals = (docs / "operators.md").read_text(encoding="utf-8")
    for title, (name, section) in SECTIONS.items():
        fields = getattr(file_shape, name).model_fields
        text = _section(catalog, section) if section else renewals
        said = _in_table if not section else _sentence
        yield (
            title,
            [
                (f"`{key}`", _kind(each.annotation), _default(each), said(text, key))
                for key, each in fields.items()
            ],
        )


def _section(page: str, title: str) -> str:
    return page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def _sentence(text: str, key: str) -> str:
    """Return the first sentence that a page says of a key; a key without one stops the page."""
    found = re.search(rf"(?:\*\*`\w+`\*\* and )?\*\*`{key}`\*\*(?:`[^`]*`|[^`.]|\.(?=\S))*", text)
    if found is None:
        raise SystemExit(f"docs/catalog.md does not explain '{key}'")
    return _here(" ".join(found[0].replace("**", "").split())) + "."


def _in_table(text: str, key: str) -> str:
    found = re.search(
        rf"^\| `{key}`(?:, `\w+`)? \| (.*) \|$|^\| `\w+`, `{key}` \| (.*) \|$", text, re.MULTILINE
    )
    if found is None:
        raise SystemExit(f"docs/operators.md does not explain '{key}'")
    return _here(found[1] or found[2])


def _here(text: str) -> str:
    """Return a sentence with its links led out of the folder of the reference."""
    return re.sub(r"\]\((?!\.\./|#)", "](../", text).replace("|", "\\|")


_KINDS = (
    ("dict[", "table"),
    ("RenewShape", "table"),
    ("tuple[", "list"),
    ("date", "number, date or text"),
    ("Decimal", "number"),
    ("bool", "true or false"),
    ("int", "whole number"),
    ("str", "text"),
)


def _kind(annotation: Any) -> str:
    shown = str(annotation)
    words = next(words for part, words in _KINDS if part in shown)
    also_text = "str" in shown.partition("tuple[")[0]
    return f"{words}, or text" if also_text and words in ("list", "whole number") else words


def _default(each: Any) -> str:
    if each.is_required():
        return "(required)"
    value = each.get_default(call_default_factory=True)
    if value in (None, (), {}, ""):
        return ""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f'`"{value}"`'


def _server_rows() -> Iterator[tuple[str, ...]]:
    from dataclasses import MISSING, fields

    from discreet.cli.app import command_of
    from discreet.server.settings import Settings

    options = {one.name: one for one in command_of("serve").params}
    said = _attribute_docstrings(Settings)
    for each in fields(Settings):
        option = options.get(each.name)
        words = said.get(each.name, "") or " ".join((option.help if option else "").split())
        shown = "" if each.default in (MISSING, None) else f"`{each.default}`"
        yield f"`{each.name}`", f"`{option.opts[0]}`" if option else "", shown, words


def _attribute_docstrings(owner: type) -> dict[str, str]:
    """Return the texts that stand below the fields of a class."""
    (body,) = [
        node.body
        for node in ast.parse(inspect.getsource(owner)).body
        if isinstance(node, ast.ClassDef)
    ]
    found = {}
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def _openid_rows() -> Iterator[tuple[str, ...]]:
    from discreet.server.features.openid.provider import KEYS

    for key, words in KEYS.items():
        yield f"`{key}`", words
