"""Throughput of the additive samplers beside OpenDP's vector call, in one run.

Each row times both libraries in turn, several times, and takes the best of each, so that a busy
machine slows both. Draws a second are compared; OpenDP is asked for fewer draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.figures import figure

from discreet.privacy.noise.additive import discrete_gaussian_squared, discrete_laplace

OURS = 1_000_000
THEIRS = 10_000
ROUNDS = 5
SCALES = (1, 10, 1000, 1_000_000)
GOAL = 50


def rows(
    *, draws: int = OURS, peer_draws: int = THEIRS, rounds: int = ROUNDS
) -> list[dict[str, object]]:
    """Return one row for each law and scale: draws a second of both, and the ratio."""
    laws = (
        ("laplace", discrete_laplace, _opendp("make_laplace", "l1_distance", int)),
        ("gaussian", _gaussian, _opendp("make_gaussian", "l2_distance", float)),
    )
    return [
        _row(law, scale, ours, peer(scale), draws, peer_draws, rounds)
        for law, ours, peer in laws
        for scale in SCALES
    ]


def _gaussian(sigma: int, size: int) -> object:
    return discrete_gaussian_squared(sigma**2, size)


def _row(law, scale, ours, theirs, draws, peer_draws, rounds):
    vector = [0] * peer_draws
    start = time.perf_counter()
    ours(scale, 1)
    first = time.perf_counter() - start
    best_ours, best_theirs = 1e9, 1e9
    for _ in range(rounds):
        best_ours = min(best_ours, _seconds(lambda: ours(scale, draws)))
        best_theirs = min(best_theirs, _seconds(lambda: theirs(vector)))
    ours_rate, theirs_rate = draws / best_ours, peer_draws / best_theirs
    return {
        "law": law,
        "scale": scale,
        "ours_per_second": round(ours_rate),
        "opendp_per_second": round(theirs_rate),
        "ratio": round(ours_rate / theirs_rate, 1),
        "first_draw_ms": round(1000 * first, 2),
    }


def _opendp(
    maker: str, distance: str, kind: type
) -> Callable[[int], Callable[[list[int]], object]]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), getattr(dp, distance)(T=kind)
    return lambda scale: getattr(dp.m, maker)(*space, scale=float(scale))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    print(f"{'law':<10}{'scale':>10}{'ours/s':>14}{'OpenDP/s':>12}{'ratio':>8}{'first draw':>13}")
    for row in rows():
        figure(
            f"discrete {row['law'].capitalize()}, scale {row['scale']:,}",
            row["ours_per_second"],
            "a second",
            beside="OpenDP",
            theirs=row["opendp_per_second"],
            wanted=f"{GOAL}x",
            met=row["ratio"] >= GOAL,
        )
        print(
            f"{row['law']:<10}{row['scale']:>10,}{row['ours_per_second']:>14,}"
            f"{row['opendp_per_second']:>12,}{row['ratio']:>7}x{row['first_draw_ms']:>10} ms"
            f"{'' if row['ratio'] >= GOAL else '   below the goal'}"
        )


if __name__ == "__main__":
    main()
