"""Membership by the number of published frequencies, and inversion by the price of the model."""

from __future__ import annotations

from operator import attrgetter

from discreet.course.facts import attack_sweep, epsilons, facts_json


def facts() -> str:
    """Return both sweeps, run on the town."""
    return facts_json(
        {
            "membership": attack_sweep(
                "membership",
                "loci",
                {f"{n:,} places": n for n in (10, 100, 1_000, 3_000, 10_000)},
                label="frequencies are published for",
                settings={"people": 500},
                start=3,
            ),
            "inversion": attack_sweep(
                "inversion",
                "epsilon",
                epsilons((0.05, 0.25, 1.0, 8.0)),
                label="price of the private model:",
                settings={"models": 8},
                released="genotype told with the exact model",
                private="genotype told with the private model",
                told=attrgetter("private_words"),
            ),
        }
    )
