"""The commands as functions: what `discreet NAME` does, without a terminal.

Each function takes the options of its command and returns the object that the command prints with
`--json` as `to_json()`. A curator's own methods (query, synthesize, anonymize ...) are in `api`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.account.explain import Explanation
from discreet.account.explain import explain as explain_epsilon
from discreet.anonymize.command import Written, anonymize_file
from discreet.anonymize.exposure import expose
from discreet.anonymize.request import Wish
from discreet.api import open as open_curator
from discreet.attack.attacks import attack_named
from discreet.attack.audit.audit import Effort, Finding, audit_one_run
from discreet.attack.audit.audit import audit as audit_samples
from discreet.attack.audit.target import load_target
from discreet.attack.outcome import Outcome
from discreet.catalog.propose.propose import Wish as Proposed
from discreet.catalog.propose.propose import propose_file, summary
from discreet.core.event import NonPrivate
from discreet.core.numbers import Delta, Epsilon, Number

Progress = Callable[[int, int, str], None]


def _silent(_done: int, _of: int, _what: str) -> None:
    """Report nothing."""


def attack(name: str, *, progress: Progress = _silent, **settings: Any) -> Outcome:
    """Return what an attack found, beside guessing and beside the private version.

    `settings` are the options of `discreet attack NAME`.
    """
    return attack_named(name).run(settings, progress=progress)


def audit(
    target: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    mu: float | None = None,
    samples: int = 1_000_000,
    seconds: float = 120.0,
    confidence: float = 0.95,
    one_run: bool = False,
    progress: Progress = _silent,
) -> Finding:
    """Return a lower bound on the epsilon of `FILE.py:FUNCTION`, measured from its outputs alone."""
    loaded = load_target(target)
    allowed = loaded.delta if delta is None else delta
    claim = mu if mu is not None else loaded.epsilon if epsilon is None else epsilon
    if one_run:
        return audit_one_run(loaded, claim=claim, delta=allowed, confidence=confidence)
    effort = Effort(samples=samples, seconds=seconds, confidence=confidence)
    return audit_samples(
        loaded, effort, claim=claim, delta=allowed, gaussian=mu is not None, progress=progress
    )


def init(
    *files: str | Path,
    out: str | Path = "discreet.toml",
    epsilon: Number | Epsilon | None = None,
    delta: Number | Delta | None = None,
    unit: str | None = None,
    dataset: str | None = None,
    accept: bool = False,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return what was proposed for these files or tables, after writing it as a discreet.toml."""
    wish = Proposed(
        words=tuple(str(file) for file in files),
        out=Path(out),
        epsilon=None if epsilon is None else Epsilon.of(epsilon),
        delta=None if delta is None else Delta.of(delta),
        unit=unit,
        dataset=dataset,
        accept=accept,
        force=force,
    )
    return summary(propose_file(wish, progress=progress), Path(out))


def anonymize(
    source: str | Path,
    *,
    k: int | None = None,
    quasi: Sequence[str] = (),
    where: str | None = None,
    out: str | Path | None = None,
    report: str | Path | None = None,
    config: str | Path | None = None,
    progress: Progress = _silent,
    **more: Any,
) -> Written:
    """Return a k-anonymous copy of a file or table, recorded in its ledger and then written.

    `more` are the other options of `discreet anonymize`: sensitive, l, t, hierarchies, suppress ...

    Guarantee: none; the dataset stays marked. (docs/anonymize.md)
    """

    def remember(place: Path, dataset: str, event: NonPrivate) -> int:
        with open_curator(place) as curator:
            return expose(curator.ledger, dataset, event)

    return anonymize_file(
        str(source),
        Wish.of(k=k, quasi=tuple(quasi), **more),
        remember=remember,
        where=where,
        out=None if out is None else Path(out),
        report=None if report is None else Path(report),
        config=None if config is None else Path(config),
        progress=progress,
    )


def explain(epsilon: Number | Epsilon, *, total: Number | Epsilon | None = None) -> Explanation:
    """Return what an epsilon promises to one person, in plain words."""
    return explain_epsilon(Epsilon.of(epsilon), total=None if total is None else Epsilon.of(total))
