"""What the other anonymizers are asked, each in its own environment; prints one JSON line a task.

python anonymize_peer_code.py pycanon|anjana|anonypy TABLE.csv QUASI SENSITIVE [HIERARCHIES]

TABLE is separated by commas. Reading the file is not timed, nor are imports.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

K, SUPPRESS = 5, 2


def told(peer: str, task: str, start: float, **more: object) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = time.perf_counter() - start
    line = {"peer": peer, "task": task, "seconds": seconds, "cpu": used.ru_utime + used.ru_stime}
    print(json.dumps(line | more), flush=True)


def discernibility(frame, quasi: list[str], total: int) -> int:
    sizes = frame.groupby(quasi, observed=True, dropna=False).size()
    return int((sizes**2).sum()) + total * (total - len(frame))


def pycanon(table: str, quasi: list[str], sensitive: str) -> None:
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(table)
    start = time.perf_counter()
    found = {
        "k": int(anonymity.k_anonymity(frame, quasi)),
        "l": int(anonymity.l_diversity(frame, quasi, [sensitive])),
        "t": float(anonymity.t_closeness(frame, quasi, [sensitive])),
    }
    told("pycanon", "k, l, t", start, **found)


def anjana(table: str, quasi: list[str], hierarchies: str) -> None:
    import pandas as pd
    from anjana.anonymity import k_anonymity

    frame = pd.read_csv(table)
    levels = {
        name: dict(pd.read_csv(Path(hierarchies) / f"{name}.csv", header=None, sep=";"))
        for name in quasi
    }
    for suppress in (0, SUPPRESS):
        start = time.perf_counter()
        copy = k_anonymity(frame.copy(), [], quasi, K, suppress, levels)
        cost = discernibility(copy, quasi, len(frame))
        told("anjana", f"k = {K}, at most {suppress}% left out", start, discernibility=cost)


def anonypy(table: str, quasi: list[str], sensitive: str) -> None:
    import anonypy as peer
    import pandas as pd

    frame = pd.read_csv(table)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    start = time.perf_counter()
    rows = peer.Preserver(frame, quasi, sensitive).anonymize_k_anonymity(k=K)
    told("anonypy", f"mondrian, k = {K}", start, classes=len(rows))


def main() -> None:
    peer, table, written, sensitive, *rest = sys.argv[1:]
    quasi = written.split(",")
    if peer == "pycanon":
        pycanon(table, quasi, sensitive)
    elif peer == "anjana":
        anjana(table, quasi, rest[0])
    else:
        anonypy(table, quasi, sensitive)


if __name__ == "__main__":
    main()
