"""A sign of life on a terminal while something takes longer than a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.core.escape_text import visible
from discreet.core.progress import Progress, silent


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show `what` with a moving sign on a terminal; nothing where output is not watched."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


@contextmanager
def counting(what: str) -> Iterator[Progress]:
    """Yield a function (done, of, step) that moves a bar on a terminal, and does nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich import progress as bar
    from rich.console import Console

    columns = (
        bar.TextColumn(f"{what}: {{task.description}}"),
        bar.BarColumn(),
        bar.TimeElapsedColumn(),
    )
    with bar.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=1)

        def tell(done: int, of: int, step: str) -> None:
            bars.update(task, completed=done, total=max(of, 1), description=step)

        yield tell


def reading() -> Callable[[str], None]:
    """Return a function that shows the current step on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda _: None
    from rich.console import Console

    status = Console(stderr=True).status("Reading")
    status.start()
    return lambda step: status.update(f"Reading {visible(step)}") if step else status.stop()
