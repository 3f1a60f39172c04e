"""The writer of discreet.toml: reads, edits, checks and replaces the file under a lock, whole or not at all.

Also adds analysts, and fills in the first budget of a bare file that was remembered without one.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from string import ascii_lowercase, digits
from typing import TypeAlias

from discreet.base.files import read_bytes, write_whole
from discreet.base.numbers import Delta, Epsilon
from discreet.data.catalog import toml_text as toml
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.edits import read_toml, with_section
from discreet.data.catalog.policy_file import LARGEST_FILE, content_of, decoded, loads, text_of
from discreet.data.catalog.toml_text import analyst_lines, composed, heading, setting
from discreet.errors import CatalogError, DiscreetError, InvalidInput

Edit: TypeAlias = Callable[[str, Catalog], str]
"""A change of a text, told what the text declares."""


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """What a discreet.toml declared before a change, and what it declares after it."""

    before: Catalog
    after: Catalog


def change_catalog(
    config: Path,
    edit: Edit,
    *,
    start: str | None = None,
    then: Callable[[], object] = lambda: None,
) -> CatalogChange:
    """Return both catalogs after `edit` has changed a discreet.toml; all else as `change_file`."""
    before: list[Catalog] = []

    def edited(text: str) -> str:
        before.append(loads(text, base=config.parent, name=config.name))
        return edit(text, before[0])

    after = change_file(config, edited, start=start, then=then)
    return CatalogChange(before[0], after)


def change_file(
    config: Path,
    edit: Callable[[str], str],
    *,
    start: str | None = None,
    then: Callable[[], object] = lambda: None,
) -> Catalog:
    """Return the catalog after `edit` has changed the text of a discreet.toml.

    Where there is no file yet, the text is `start`; without one that is refused. `then` puts the new
    file in force, while other writers still wait.

    Guarantee: writers take turns, so that none loses what another wrote; a new text that does not read
        as a catalog is not written; a crash leaves the old file or the new one; and a file that `then`
        cannot put in force is put back as it was. Whoever edits the file without the lock, in an
        editor, loses nothing either: what they wrote meanwhile is left, and the refusal says so. Only
        what is saved between the last reading and the renaming next to it, two system calls, is not
        seen: nothing that an editor shares with us could close that.
    """
    place = _place(config)
    with writing(place):
        before = content_of(place) if start is None or place.exists() else None
        new = edit(start or "" if before is None else decoded(before, place))
        catalog = loads(new, base=config.parent, name=config.name)
        if not _replaced(place, old=before, new=new):
            raise InvalidInput(
                f"The file '{place.name}' was changed elsewhere just now, so nothing was written.",
                hint="Try again.",
            )
        try:
            then()
        except BaseException as error:
            put_back = _put_back(place, before=before, after=new.encode())
            if not put_back and isinstance(error, DiscreetError):
                error.hint = (
                    f"'{place.name}' was changed elsewhere meanwhile and is left as it is now: check "
                    f"what it says. {error.hint}"
                ).rstrip()
            raise
    return catalog


def write_file(config: Path, text: str, *, force: bool = False) -> None:
    """Write a whole discreet.toml that was checked; refuse where there is one already, unless `force`."""
    place = _place(config)
    with writing(place):
        if not force:
            refuse_existing(place)
        write_over(place, text)


def refuse_existing(path: Path) -> None:
    """Refuse a path that is taken, before any work is done for it."""
    if path.exists() or path.is_symlink():
        raise InvalidInput(
            f"'{path}' exists already.", hint="Name another with --out, or replace it with --force."
        )


def put_back_file(config: Path, *, before: bytes | None, after: bytes | None) -> None:
    """Make the file what it was `before` (None: not there), unless it is no longer as it was `after`."""
    if before == after:
        return
    place = _place(config)
    with writing(place):
        _put_back(place, before=before, after=after)


def _put_back(place: Path, *, before: bytes | None, after: bytes | None) -> bool:
    """Return whether the file was still as it was `after`, and is as it was `before` now."""
    if before is not None:
        return _replaced(place, old=after, new=before)
    if not _holds(place, after):
        return False
    place.unlink(missing_ok=True)
    return True


class _ChangedElsewhereError(Exception):
    """The file is no longer what it was."""


def _replaced(place: Path, *, old: bytes | None, new: str | bytes) -> bool:
    """Return whether the file still held `old` and is `new` now: looked at when that lies ready beside it."""

    def require_old() -> None:
        if not _holds(place, old):
            raise _ChangedElsewhereError

    try:
        require_old()  # else nothing need be written at all
        write_over(place, new, before=require_old)
    except _ChangedElsewhereError:
        return False
    return True


def _holds(place: Path, content: bytes | None) -> bool:
    """Return whether the file is exactly this; one that cannot be read is another."""
    try:
        return bytes_of(place) == content
    except OSError:
        return False


def write_over(path: Path, text: str | bytes, *, before: Callable[[], None] = lambda: None) -> None:
    """Write `text` to `path`, complete or not at all, replacing what was there; `before` is called last."""
    # Readable by its owner only: the comments tell what the data holds.
    try:
        write_whole(path, text, durable=True, before=before)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def _place(config: Path) -> Path:
    """Return where the file lies: a link to it stays a link, and whoever writes by it takes the same lock."""
    return config.resolve() if config.is_symlink() else config


_LOCK_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def writing(config: Path) -> Iterator[None]:
    """Keep other processes from changing the file between our reading and our writing."""
    lock = config.with_name(f".{config.name}.lock")
    try:
        handle = os.open(lock, _LOCK_FLAGS, 0o600)
    except OSError:
        raise InvalidInput(f"The file '{config}' cannot be written.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def bytes_of(config: Path) -> bytes | None:
    """Return the bytes of the file; None where there is none."""
    return read_bytes(config, most=LARGEST_FILE) if config.is_file() else None


NO_BUDGET = (
    "No budget yet: write epsilon here, the most that one person can lose over all private answers."
)
NO_UNIT = 'Whose rows these are is open: write unit = "row", or the column that names the person.'


def first_budget(epsilon: Epsilon | None, delta: Delta | None) -> Iterator[str]:
    """Yield the lines that state a budget, or say that it is missing."""
    if epsilon is None:
        yield from toml.comment(NO_BUDGET)
        return
    yield setting("epsilon", epsilon.value)
    if delta is not None and delta.value:
        yield from toml.comment(
            "Twice the delta of the first run: the ledger keeps two books, each with half of it."
        )
        yield setting("delta", delta.value)


def unit_lines(unit: str | None) -> Iterator[str]:
    """Yield the lines that say whom the budget protects, or that this is open."""
    if unit is None:
        yield from toml.comment(NO_UNIT)
        return
    yield setting("unit", unit)
    if unit != "row":
        yield from toml.comment(
            "How many rows of one person count at most, unless a query asks for another number."
        )
        yield setting("max_rows", 1)


def find_declared(place: Path, path: Path) -> tuple[str, str] | None:
    """Return dataset and name of the table whose source is this file, finished or not."""
    found = declared_in(text_of(place), place, path)
    return None if found is None else found[:2]


def fill_in(place: Path, path: Path, *, epsilon: Epsilon, delta: Delta | None, unit: str) -> None:
    """Write the first budget of a file that was remembered without one; do nothing otherwise.

    Only what we wrote ourselves is completed: a proposal that waits for its owner keeps waiting.
    """
    text = text_of(place)
    found = declared_in(text, place, path)
    if found is None:
        return
    fill = partial(_filled, found=found, epsilon=epsilon, delta=delta, unit=unit)
    if fill(text) is not None:
        change_file(place, lambda now: fill(now) or now)


def _filled(
    text: str, found: tuple[str, str, str], *, epsilon: Epsilon, delta: Delta | None, unit: str
) -> str | None:
    """Return `text` with the first budget where we left room for it; None where we did not."""
    dataset, table, source = found
    text = text.replace("\r\n", "\n")  # an editor may have changed the ends of our lines
    head = heading("datasets", dataset)
    begin = (heading("datasets", dataset, "tables", table), setting("source", source))
    gaps = {
        "\n".join((head, *first_budget(None, None))): (
            "\n".join((head, *first_budget(epsilon, delta)))
        ),
        "\n".join((*begin, *unit_lines(None))): "\n".join((*begin, *unit_lines(unit))),
    }
    if any(text.count(gap) != 1 for gap in gaps):
        return None
    for gap, line in gaps.items():
        text = text.replace(gap, line)
    return text


def declared_in(text: str, place: Path, path: Path) -> tuple[str, str, str] | None:
    """Return dataset, table and source as written of the table that `text`, of the file `place`, reads from `path`."""
    raw = read_toml(text)
    if raw is None:
        raise CatalogError(f"{place.name} cannot be read.")
    wanted = path.resolve()
    datasets = raw.get("datasets", {})
    for dataset, settings in datasets.items() if isinstance(datasets, dict) else ():
        for table, facts in settings.get("tables", {}).items():
            if (place.parent / str(facts.get("source", ""))).resolve() == wanted:
                return dataset, table, str(facts["source"])
    return None


MAX_NAME = 200


def add_analysts(
    config: Path, names: Sequence[str], *, epsilon: Epsilon, datasets: Sequence[str]
) -> Catalog:
    """Return the catalog after giving each of `names` a share of `epsilon` in each dataset."""

    def edit(text: str, old: Catalog) -> str:
        return with_analysts(text, old, names, epsilon=epsilon, datasets=datasets)

    return change_catalog(config, edit).after


def with_analysts(
    text: str, old: Catalog, names: Sequence[str], *, epsilon: Epsilon, datasets: Sequence[str]
) -> str:
    """Return the text of discreet.toml with new analysts, each with a share in each dataset.

    What stands in the file stays as it is, comments too: the new sections are added at its end.
    """
    for name in names:
        if not name or len(name) > MAX_NAME or not name.isprintable():
            raise InvalidInput("An analyst's name is 1 to 200 printable characters.")
        if name in old.analysts:
            raise CatalogError(
                f"There is an analyst '{name}' already.",
                hint="A name stays with its charges and answers, also after its class has ended: "
                f"take another, such as '{free_name(name.rstrip(digits), old.analysts)}'.",
            )
    for dataset in datasets:
        old.dataset(dataset)
    shares = {dataset: {"epsilon": epsilon.value} for dataset in datasets}
    return with_section(text, composed(*(analyst_lines(name, shares) for name in names)))


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name for a class, or an analyst, that nobody has or had: `wanted`, or it with a letter.

    A name is never given twice. Whoever got it again would get the charges and the stored answers
    of the person before.

    >>> free_name("student", []), free_name("student", ["student001"]), free_name("student-b", ["student-b001"])
    ('student', 'student-b', 'student')
    """
    used = {name.rstrip(digits) for name in taken}
    base = re.sub("-([b-z])\\1*$", "", wanted)
    more = (f"{base}-{letter * times}" for times in count(1) for letter in ascii_lowercase[1:])
    return next(name for name in chain([base], more) if name not in used)


def share_notes(catalog: Catalog) -> list[str]:
    """Return a sentence for each budget of which the analysts' shares are more than there is.

    They may be: the total limits them together as ever. The owner should know it when giving them.
    """
    notes = []
    for name, budget in catalog.budgets.items():
        shares = [
            caps[dataset].epsilon.value
            for caps in catalog.analysts.values()
            for dataset in caps
            if catalog.datasets[dataset].budget == name
        ]
        if sum(shares) > budget.epsilon.value:
            notes.append(
                f"All shares of '{name}' add up to {float(sum(shares)):g}; its total of "
                f"{float(budget.epsilon):g} still limits them together."
            )
    return notes
