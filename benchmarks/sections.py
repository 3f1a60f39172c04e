"""The sections of the report: which benchmark, with which sizes, quick and full."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One module of this folder, what it is about, and its options for both sizes."""

    name: str
    title: str
    quick: tuple[tuple[str, ...], ...] = ((),)
    full: tuple[tuple[str, ...], ...] | None = ((),)
    """Option lists, one run each; None: not among these sizes."""

    def runs(self, *, full: bool) -> tuple[tuple[str, ...], ...]:
        return (self.full or ()) if full else self.quick


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SECTIONS = (
    Section(
        "curator",
        "Private SQL beside the same question without privacy",
        (_words("--rows 1000000 --persons 100000 --rounds 3"),),
    ),
    Section(
        "snapshots",
        "Questions on the canonical snapshot: processor time beside plain SQL",
        (_words("--rows 1000000 --persons 300000 --pairs 5"),),
    ),
    Section(
        "kernel",
        "What the kernel adds to a statement",
        (_words("--rows 1000000 --persons 300000 --pairs 5"),),
    ),
    Section("sampling", "Noise: draws a second beside OpenDP"),
    Section(
        "accounting", "Accounting: ten thousand events beside dp-accounting", (_words("--peer"),)
    ),
    Section("worst", "The worst-hit person's bill", (_words("--charges 1000"),)),
    Section(
        "ledger",
        "The ledger: alone, contended, reopened",
        (_words("--charges 200 --history 10000"),),
    ),
    Section(
        "load",
        "The server under load",
        (_words("--clients 50 --seconds 15"),),
    ),
    Section(
        "publish",
        "Publishing down a hierarchy",
        (_words("nation --areas 100 --people 500000"), _words("crossed --cells 200000")),
        (_words("nation"), _words("crossed")),
    ),
    Section("synth", "Synthetic data on ADULT", (_words("--seeds 3"),)),
    Section(
        "survey",
        "Surveys: reports randomised and counted",
        (_words("--respondents 50000 --repeats 2 --scale 1000000"),),
        (_words("--respondents 1000000 --repeats 25 --words 1000000 --scale 10000000 100000000"),),
    ),
    Section("collector", "The survey's collector over HTTP", (_words("--reports 40000"),)),
    Section("anonymize", "Anonymization of Adult", full=(_words("--million"),)),
    Section(
        "learn",
        "Private classifiers on Adult",
        (_words("--seeds 1 --epsilon 1 --model logistic boosted"),),
    ),
    Section("tpch", "TPC-H", ()),
    Section("engines", "The same plan on three engines", (), (_words("--rows 3000000"),)),
    Section("large", "One hundred million rows", ()),
)
