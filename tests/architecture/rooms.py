"""The rooms of the house: who may import whom, and who may hold dice or open exact results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BELOW_PLAN = {"privacy/noise", "privacy/account", "data/catalog", "privacy/kernel"}
BELOW_RELEASE = BELOW_PLAN | {"privacy/ledger", "data/engines", "ask/plan", "ask/sql"}
BELOW_WORK = BELOW_RELEASE | {"ask/release", "show"}
BELOW_LAB = BELOW_WORK | {
    "measure",
    "work/publish",
    "work/synth",
    "work/learn",
    "survey",
    "anonymize",
    "audit",
    "lab/town",
}

ROOMS: dict[str, set[str]] = {
    "errors": set(),
    "base": set(),
    "data/engines": set(),
    "data/catalog": {"data/engines"},
    "privacy/noise": set(),
    "privacy/account": set(),
    "privacy/ledger": {"privacy/account"},
    # noise: what is admitted is also drawn here, so that no exact number leaves the room.
    "privacy/kernel": {"data/engines", "privacy/noise"},
    "ask/plan": BELOW_PLAN,
    "ask/sql": {"ask/plan", "data/catalog", "data/engines", "privacy/kernel"},
    "ask/release": BELOW_RELEASE,
    "show": set(),
    # data/engines: the codes of all columns are stored once and counted many times.
    "measure": BELOW_WORK,
    "work/publish": BELOW_WORK,
    "work/synth": BELOW_WORK | {"measure"},
    "work/learn": BELOW_WORK | {"measure", "work/synth"},
    "survey": {
        "privacy/noise",
        "privacy/account",
        "privacy/ledger",
        "data/engines",
        "data/catalog",
        "show",
    },
    # privacy/kernel: a table that reaches people over a path is opened by the kernel's own SQL.
    "anonymize": {"data/engines", "data/catalog", "privacy/kernel", "privacy/ledger", "show"},
    "audit": {"privacy/noise"},
    # data/catalog: the town comes with its discreet.toml, composed as every other.
    "lab/town": {"data/engines", "data/catalog"},
    "curator": BELOW_LAB - {"audit"},
    # what a server learned is fetched and used on this machine; asking needs neither.
    "curator/client": {"work/learn", "work/synth"},
    # curator: without one handed in, an attack plays against one of its own example town.
    # curator/client: a running server is attacked the way anybody would, from outside.
    "lab/attacks": BELOW_LAB | {"curator", "curator/client"},
    # lab/attacks and curator: a lesson shows the product itself, its attacks and its curator, on the made-up town.
    "lab/course": BELOW_LAB | {"curator", "lab/attacks"},
    "tasks": BELOW_LAB | {"curator", "lab/attacks", "lab/course"},
    # data: the owner uploads a file and reviews what was inferred from it.
    "server": {
        "curator",
        "lab/attacks",
        "lab/course",
        "lab/town",
        "show",
        "data/catalog",
        "data/engines",
        "measure",
        "work/synth",
        "anonymize",
        "work/publish",
        "survey",
        "work/learn",
    },
    "__main__": {"cli"},
    "cli": {
        "curator",
        "curator/client",
        "tasks",
        "lab/attacks",
        "lab/course",
        "lab/town",
        "server",
        "privacy/account",
        "data/catalog",
        "privacy/ledger",
        "work/synth",
        "survey",
        "anonymize",
        "work/learn",
        "show",
        "work/publish",
    },
    "__init__": {"privacy/account", "curator", "curator/client", "work/publish", "tasks"},
}
"""What each room may import besides errors, base and itself; `testing` may import anything."""
STREETS = {room.partition("/")[0] for room in ROOMS if "/" in room} - set(ROOMS)
"""Folders that only hold rooms."""

EVERYWHERE = {"errors", "base"}
DICE = {"random", "numpy.random", "secrets"}
MAY_HOLD_DICE = {
    "random": {"testing", "lab/town", "lab/attacks", "audit"},
    "numpy.random": {"testing", "lab/town", "lab/attacks", "audit"},
    "secrets": {"testing", "lab/town", "lab/attacks", "server", "survey"},
}
MAY_OPEN_EXACT = {
    "privacy/kernel",
    "measure",
    "work/publish",
    "work/synth",
    "work/learn",
    "anonymize",
    "survey",
    "lab/attacks",
    "testing",
}
MAY_OPEN_EXACT_FILES = {
    "data/engines/base.py",
    "data/catalog/profile.py",
    "ask/release/public_rows.py",  # public tables alone: they hold nobody's data
}
NOT_ON_A_MENU = {"__future__", "discreet.base.packages", "importlib", "typing"}
LONGEST_FILE = 700
LARGEST_FOLDER = 20
"""Modules that one folder may show; its own folders count as one look deeper."""
LONGEST_FUNCTION = 80


@dataclass(frozen=True)
class Import:
    """One import: the file and line, the module, and the name taken from it."""

    file: str
    line: int
    module: str
    name: str


def files(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield every Python file below `root` and its path from there."""
    for path in sorted(root.rglob("*.py")):
        yield path, path.relative_to(root).as_posix()


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.Module:
    # By its text: every check reads every file.
    return ast.parse(text)


def parsed(path: Path) -> ast.Module:
    """Return the tree of a file."""
    return _parsed(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=4096)
def _told(text: str) -> tuple[ast.AST, ...]:
    # One walk for all checks. A seed and a die stand in an expression; all else that tells is a statement.
    walked = ast.walk if "seed" in text or "random" in text else _statements
    return tuple(node for node in walked(_parsed(text)) if _tells(node))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            found = getattr(node, name, None)
            if isinstance(found, list):
                waiting += found


def _tells(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _asks_for_a_seed(node)
    return isinstance(node, _TELLING) or _is_numpy_random(node)


_TELLING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)


def told(path: Path) -> tuple[ast.AST, ...]:
    """Return the nodes of a file that a check asks for, wherever they stand in it."""
    return _told(path.read_text(encoding="utf-8"))


def room_of(file: str) -> str:
    """Return the room that a file below src/discreet stands in."""
    first, _, rest = file.removesuffix(".py").partition("/")
    inner = f"{first}/{rest.partition('/')[0]}"
    return inner if inner in ROOMS else first


def imports(path: Path, file: str) -> Iterator[Import]:
    """Yield all imports of a file, those inside functions too."""
    for node in told(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                yield Import(file, node.lineno, module, alias.name)


def wrong_rooms(root: Path) -> list[str]:
    """Return every import that the table of rooms does not allow."""
    found = []
    for path, file in files(root):
        room = room_of(file)
        if room in STREETS and file == f"{room}/__init__.py":
            continue
        allowed = ROOMS.get(room, set()) | EVERYWHERE | {room}
        for each in imports(path, file):
            if each.module.startswith("."):
                found.append(f"{file}:{each.line} imports relatively")
                continue
            parts = each.module.split(".")
            if parts[0] != "discreet" or room == "testing":
                continue
            target = room_of("/".join([*parts[1:], each.name]))
            if room not in ROOMS:
                found.append(f"{file}:{each.line} is in a room that the table does not know")
            elif target not in allowed and target != "__version__":
                found.append(f"{file}:{each.line} may not import {each.module}")
    return found


def module_cycles(root: Path) -> list[str]:
    """Return modules that import each other in a circle, inside functions or for types too."""
    graph: dict[str, set[str]] = {}
    known = {_module(file) for _, file in files(root)}
    for path, file in files(root):
        targets = set()
        for each in imports(path, file):
            # A name taken from a package is its module of that name, or else its menu.
            full = f"{each.module}.{each.name}"
            targets.add(full if full in known else each.module)
        graph[_module(file)] = targets & known - {_module(file)}
    return [name for name in graph if _reaches_itself(name, graph)]


def crowded(root: Path) -> list[str]:
    """Return folders that show more modules than anybody takes in."""
    shown: dict[str, int] = {}
    for path, file in files(root):
        if path.name != "__init__.py":
            folder = file.rpartition("/")[0]
            shown[folder] = shown.get(folder, 0) + 1
    return [f"{name} shows {n} modules" for name, n in shown.items() if n > LARGEST_FOLDER]


def folder_circles(root: Path) -> list[str]:
    """Return pairs of folders in one room, neither inside the other, that import each other."""
    known = {_module(file) for _, file in files(root)}
    arrows = set()
    for path, file in files(root):
        for each in imports(path, file):
            full = f"{each.module}.{each.name}"
            target = full if full in known else each.module
            arrows.add((_folder(_module(file)), _folder(target)))
    return [
        f"{one} and {two} import each other"
        for one, two in sorted(arrows)
        if one < two and (two, one) in arrows and _apart(one, two)
    ]


def _folder(module: str) -> str:
    return module.rpartition(".")[0]


def _apart(one: str, two: str) -> bool:
    same_room = one.split(".")[:2] == two.split(".")[:2]
    return same_room and not f"{two}.".startswith(f"{one}.") and not f"{one}.".startswith(f"{two}.")


def sibling_features(root: Path) -> list[str]:
    """Return where a feature of the server imports another: what two of them need stands beside them."""
    found = []
    for path, file in files(root):
        own = file.removeprefix("server/features/").split("/")[0]
        if file.startswith("server/features/"):
            for each in imports(path, file):
                full = f"{each.module}.{each.name}"
                named = full.removeprefix("discreet.server.features.").split(".")[0]
                if full.startswith("discreet.server.features.") and named != own:
                    found.append(f"{file}:{each.line} imports the feature {named}")
    return found


def shared_names(root: Path) -> list[str]:
    """Return names that two classes share, or a class and an alias that other files import.

    A leading underscore keeps a name to its file, and so does that nobody imports an alias.
    """
    homes: dict[str, list[str]] = {}
    aliases: list[tuple[str, str]] = []
    taken = {(each.module, each.name) for path, file in files(root) for each in imports(path, file)}
    for path, file in files(root):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(file)
            aliases += [(name, file) for name in _alias(node) if (_module(file), name) in taken]
    for name, file in aliases:
        if name in homes:
            homes[name].append(file)
    return [f"{name}: {' '.join(found)}" for name, found in homes.items() if len(found) > 1]


def _alias(node: ast.stmt) -> list[str]:
    """Return the name that a statement gives to a type, in a list; an empty one for other statements."""
    if isinstance(node, ast.AnnAssign):
        named = getattr(node.annotation, "id", "") == "TypeAlias"
        return [node.target.id] if named and isinstance(node.target, ast.Name) else []
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return []
    name = node.targets[0].id
    typed = isinstance(node.value, ast.Subscript | ast.BinOp | ast.Attribute)
    return [name] if typed and re.match("[A-Z][a-z]", name) else []


RIDDLES = {"shade", "quanta", "wish", "purse", "funds", "door", "urn", "limbs", "seldom", "nice"}
"""Names that say nothing to who reads them first: what they meant has a name of the field's own."""


def riddles(root: Path) -> list[str]:
    """Return names with a riddle as one of their words, in one number or the other."""
    hint = re.compile("|".join(RIDDLES), re.IGNORECASE)
    found = []
    for path, file in files(root):
        if not hint.search(path.read_text(encoding="utf-8")):
            continue
        names = {name for node in ast.walk(parsed(path)) for name in _names(node)}
        found += [f"{file}: {name}" for name in sorted(names) if _parts(name) & RIDDLES]
    return found


def _names(node: ast.AST) -> Iterator[str]:
    for field in ("id", "arg", "attr", "asname", "name"):
        name = getattr(node, field, None)
        if isinstance(name, str):
            yield name


def _parts(name: str) -> set[str]:
    parts = [part.lower() for part in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)]
    return {*parts, *(part.removesuffix(end) for part in parts for end in ("s", "es"))}


def undescribed(root: Path) -> list[str]:
    """Return folders whose `__init__` does not say what is in them."""
    folders = {path.parent for path, _ in files(root)} - {root}
    return [
        str(folder.relative_to(root))
        for folder in sorted(folders)
        if not (folder / "__init__.py").is_file()
        or not ast.get_docstring(parsed(folder / "__init__.py"))
    ]


def _module(file: str) -> str:
    return "discreet." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _reaches_itself(start: str, graph: dict[str, set[str]]) -> bool:
    waiting, seen = list(graph[start]), set()
    while waiting:
        name = waiting.pop()
        if name == start:
            return True
        if name not in seen:
            seen.add(name)
            waiting += graph.get(name, ())
    return False


def too_long(root: Path) -> list[str]:
    """Return files and functions that are longer than anybody reads."""
    found = []
    for path, file in files(root):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONGEST_FILE and not _only_constants(parsed(path)):
            found.append(f"{file} has {text.count(chr(10))} lines")
        for node in told(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    found.append(f"{file}:{node.lineno} {node.name} has {length} lines")
    return found


def _only_constants(tree: ast.Module) -> bool:
    plain = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Expr)
    return all(isinstance(node, plain) for node in tree.body)


def loose_dice(root: Path) -> list[str]:
    """Return imports of, and reaches for, chance where no chance belongs."""
    found = []
    for path, file in files(root):
        room = room_of(file)
        lines = path.read_text(encoding="utf-8").splitlines()
        for each in imports(path, file):
            full = f"{each.module}.{each.name}" if each.name else each.module
            for dice in DICE:
                if each.module == dice or full == dice or each.module.startswith(f"{dice}."):
                    said = "no guarantee" in lines[each.line - 1]
                    if room not in MAY_HOLD_DICE[dice] and not said:
                        found.append(f"{file}:{each.line} imports {dice}")
        if room in MAY_HOLD_DICE["numpy.random"]:
            continue
        found += [
            f"{file}:{node.lineno} uses numpy.random"
            for node in told(path)
            if _is_numpy_random(node) and "no guarantee" not in lines[node.lineno - 1]
        ]
    return found


def _is_numpy_random(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "random"
        and isinstance(node.value, ast.Name)
        and node.value.id in {"np", "numpy"}
    )


def opened_exact(root: Path) -> list[str]:
    """Return files that may not open exact results but do."""
    return [
        f"{file}:{each.line}"
        for path, file in files(root)
        if room_of(file) not in MAY_OPEN_EXACT and file not in MAY_OPEN_EXACT_FILES
        for each in imports(path, file)
        if each.name == "open_exact"
    ]


MAKE_WORDS = {"privacy/noise/rng.py", "privacy/kernel/rehearsal.py", "survey/randomizers/bits.py"}
HOLD_SEED_REQUESTS = {"privacy/kernel/look.py", "ask/release/pipeline.py"}
SEED_REQUEST = "curator/rehearsal.py"


def seeded_noise(root: Path) -> list[str]:
    """Return where words of chance are made, or a seed is asked for, outside the one way of a rehearsal.

    Noise comes from the operating system; a seed becomes words in `kernel.look` alone (note 0068).
    """
    found = []
    for path, file in files(root):
        if room_of(file) == "testing":
            continue
        for each in imports(path, file):
            turns = each.name == "words_for" and file != "privacy/kernel/look.py"
            if each.module == "discreet.privacy.kernel.rehearsal" and (
                file not in HOLD_SEED_REQUESTS or turns
            ):
                found.append(f"{file}:{each.line} reaches for repeatable noise")
            if each.module == "discreet.privacy.kernel" and each.name == "rehearsal":
                found.append(f"{file}:{each.line} reaches for repeatable noise")
        for node in told(path):
            if file not in MAKE_WORDS and _makes_words(node):
                found.append(f"{file}:{node.lineno} makes words of chance")
            if isinstance(node, ast.Call) and file != SEED_REQUEST and _asks_for_a_seed(node):
                found.append(f"{file}:{node.lineno} asks for a seed")
    return found


def _makes_words(node: ast.AST) -> bool:
    makes = isinstance(node, ast.FunctionDef) and node.name == "words"
    return makes and [argument.arg for argument in node.args.args] == ["self", "count"]


def _asks_for_a_seed(call: ast.Call) -> bool:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    given = {keyword.arg for keyword in call.keywords}
    return "seed" in given and name in _REQUESTS


_REQUESTS = {"replace", "Request", "SeedRequest"}


def wrong_menus(root: Path) -> list[str]:
    """Return `__init__` files whose imports are not their sorted `__all__`."""
    found = []
    for path, file in files(root):
        if path.name != "__init__.py" or path.parent == root:
            continue  # the package's own menu is lazy; its test imports it
        tree = parsed(path)
        shown = _all_of(tree)
        # A lazy menu imports its names for type checkers alone.
        told = [n for node in tree.body if _for_types(node) for n in node.body]
        taken = [
            alias.asname or alias.name
            for node in (*tree.body, *told)
            if isinstance(node, ast.ImportFrom) and node.module not in NOT_ON_A_MENU
            for alias in node.names
        ]
        if shown is None:
            if taken:
                found.append(f"{file} imports names but has no __all__")
        elif sorted(shown) != shown:
            found.append(f"{file}: __all__ is not sorted")
        elif set(shown) != set(taken):
            found.append(f"{file}: __all__ and the imports differ by {set(shown) ^ set(taken)}")
    return found


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def _all_of(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return None
