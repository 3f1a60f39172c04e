"""Texts on which a regular expression might take long, made from the expression itself, and whether it does."""

import ast
import importlib
import pkgutil
import re
import re._constants as c
import re._parser as parser
import time
from pathlib import Path

import discreet

FAILING = ("", "!", "'", '"', " x")
"""What ends a text so that what was matched before may have to be given back."""
ENOUGH = 0.004
"""Seconds of CPU time from which on a ratio is one of work, not of the clock."""


ANYWHERE = {"search", "findall", "finditer", "sub", "subn", "split"}
"""Ways to use an expression that look for it at every place of a text."""


def patterns_of(*rooms):
    """Return every expression below these rooms, by its place, and the ways in which it is used."""
    found = {}
    for room in rooms:
        package = importlib.import_module(room)
        for each in pkgutil.walk_packages(package.__path__, f"{room}."):
            path = Path(discreet.__file__).parent.parent / each.name.replace(".", "/")
            path = path / "__init__.py" if each.ispkg else path.with_suffix(".py")
            text = path.read_text(encoding="utf-8")
            if "re." in text:
                module, tree = importlib.import_module(each.name), ast.parse(text)
                found |= {f"{each.name}: {key}": value for key, value in _in(module, tree)}
    return found


def _in(module, tree):
    called = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    called = [n for n in called if isinstance(n.func, ast.Attribute)]
    for name, value in _compiled(module):
        ways = {n.func.attr for n in called if ast.unparse(n.func.value) == name}
        yield name, (value, _ways(ways))
    for n in called:
        if (
            ast.unparse(n.func.value) == "re"
            and n.args
            and isinstance(n.args[0], ast.Constant)
            and n.func.attr not in ("compile", "escape")
        ):
            flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(n) else 0
            written = n.args[0].value
            yield repr(written), (re.compile(written, flags), _ways({n.func.attr}))


def _ways(names):
    return ("match", "fullmatch", *(["search"] if names & ANYWHERE else []))


def _compiled(module):
    """Yield the expressions of a module that it has made itself, alone or in tuples."""
    for name, value in vars(module).items():
        several = value if isinstance(value, tuple | list) else [value]
        for one in several:
            inner = one if isinstance(one, tuple) else (one,)
            yield from ((name, each) for each in inner if isinstance(each, re.Pattern))


def attacks(pattern):
    """Yield functions from a length to a text: the way to each repetition, it many times, a bad end."""
    seen = set()
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE.value)
    for before, pumped in _pumps(list(tree), ""):
        for end in FAILING:
            if pumped and (before, pumped, end) not in seen:
                seen.add((before, pumped, end))
                yield before, pumped, end


def _pumps(items, before):
    """Yield (a text that leads to a repetition, what it repeats) for all repetitions in a sequence."""
    for place, (op, args) in enumerate(items):
        if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            _least, most, body = args
            if most is c.MAXREPEAT:
                for sample in _samples(body):
                    yield before, sample
                    for following in _samples(items[place + 1 : place + 2]):
                        yield before, sample + following
                    yield before + sample, " "  # as space between two words of a statement
            yield from _pumps(list(body), before)
        for inner in _inside(op, args):
            yield from _pumps(list(inner), before)
        before += next(iter(_samples([(op, args)])), "")


def _inside(op, args):
    if op is c.SUBPATTERN:
        return [args[3]]
    if op is c.BRANCH:
        return args[1]
    if op in (c.ASSERT, c.ASSERT_NOT):
        return [args[1]]
    if op is c.ATOMIC_GROUP:
        return [args]
    return []


def _samples(items):
    """Return a few texts that a sequence matches, enough to tell its branches apart."""
    found = [""]
    for op, args in items:
        found = [text + more for text in found for more in _of(op, args)][:8]
    return found


def _of(op, args):
    if op is c.LITERAL:
        return [chr(args)]
    if op is c.NOT_LITERAL:
        return ["a" if args != ord("a") else "b"]
    if op is c.ANY:
        return ["a"]
    if op is c.IN:
        return _class(args)
    if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        least, _most, body = args
        return [text * max(least, 1) for text in _samples(body)] + ([""] if not least else [])
    if op is c.BRANCH:
        return [text for branch in args[1] for text in _samples(branch)[:1]]
    if op is c.SUBPATTERN:
        return _samples(args[3])
    if op is c.ATOMIC_GROUP:
        return _samples(args)
    return [""]


def _class(items):
    tried = "a1 _.-+'\"\\,()x=;$\n"
    one = re.compile(f"[{''}]" if not items else _rebuilt(items))
    return [sign for sign in tried if one.fullmatch(sign)][:3] or [""]


_CATEGORIES = {
    c.CATEGORY_SPACE: r"\s", c.CATEGORY_NOT_SPACE: r"\S", c.CATEGORY_WORD: r"\w",
    c.CATEGORY_NOT_WORD: r"\W", c.CATEGORY_DIGIT: r"\d", c.CATEGORY_NOT_DIGIT: r"\D",
}  # fmt: skip


def _rebuilt(items):
    parts = []
    for op, args in items:
        if op is c.NEGATE:
            parts.append("^")
        elif op is c.LITERAL:
            parts.append(re.escape(chr(args)))
        elif op is c.RANGE:
            parts.append(f"{re.escape(chr(args[0]))}-{re.escape(chr(args[1]))}")
        else:
            parts.append(_CATEGORIES[args])
    return f"[{''.join(parts)}]"


def superlinear(act, text_of, *, longest=8_000):
    """Return whether twice the length takes at least three times the work, again and again."""
    length = 60
    while length <= longest:
        once = _least_time(act, text_of(length))
        if once > ENOUGH / 2:
            break
        length *= 2
    else:
        return False
    return all(
        _least_time(act, text_of(2 * length)) > max(3 * _least_time(act, text_of(length)), ENOUGH)
        for _ in range(3)
    )


def _least_time(act, text):
    found = []
    for _ in range(2):
        begun = time.thread_time()
        act(text)
        found.append(time.thread_time() - begun)
        if found[-1] > 0.25:
            break
    return min(found)
