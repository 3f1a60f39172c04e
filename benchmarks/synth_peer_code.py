"""Synthetic copies by other systems, from codes to codes. Runs in a peer's environment.

python benchmarks/synth_peer_code.py PEER CODES.npy DOMAIN.json EPSILON DELTA SEED OUT.npy

Prints one JSON line: the processor seconds of the fit and the rows, imports excluded, and the greatest
memory. Imports nothing of ours. Columns are declared as they are best for the peer: value by value.
"""

from __future__ import annotations

import itertools
import json
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np


def _datasynthesizer(codes, domain, epsilon, seed, describe):
    import pandas as pd
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    def work():
        names = list(domain)
        with tempfile.TemporaryDirectory() as folder:
            source, description = f"{folder}/in.csv", f"{folder}/about.json"
            pd.DataFrame(codes, columns=names).to_csv(source, index=False)
            describer = DataDescriber(category_threshold=10**6)
            describe(
                describer,
                dataset_file=source,
                epsilon=epsilon,
                attribute_to_is_categorical=dict.fromkeys(names, True),
                attribute_to_is_candidate_key=dict.fromkeys(names, False),
                seed=seed,
            )
            describer.save_dataset_description_to_file(description)
            generator = DataGenerator()
            if describer.data_description.get("bayesian_network"):
                generator.generate_dataset_in_correlated_attribute_mode(
                    len(codes), description, seed
                )
            else:
                generator.generate_dataset_in_independent_mode(len(codes), description, seed)
            return generator.synthetic_dataset[names].astype(int).to_numpy()

    return work


def datasynthesizer_independent(codes, domain, epsilon, _delta, seed):
    def describe(describer, **options):
        describer.describe_dataset_in_independent_attribute_mode(**options)

    return _datasynthesizer(codes, domain, epsilon, seed, describe)


def datasynthesizer_correlated(codes, domain, epsilon, _delta, seed):
    """One parent, as in the course; it spends 2 epsilon (once for the structure, once for the tables)."""

    def describe(describer, **options):
        describer.describe_dataset_in_correlated_attribute_mode(k=1, **options)

    return _datasynthesizer(codes, domain, epsilon, seed, describe)


def _dpmm(name):
    def peer(codes, domain, epsilon, delta, seed):
        import dpmm.pipelines
        import pandas as pd

        def work():
            frame = pd.DataFrame(codes, columns=list(domain))
            pipeline = getattr(dpmm.pipelines, name)(
                epsilon=epsilon, delta=delta, proc_epsilon=None, disable_processing=True, n_jobs=1
            )
            pipeline.fit(frame, domain=dict(domain), random_state=seed)
            return pipeline.generate(n_records=len(frame))[list(domain)].astype(int).to_numpy()

        return work

    return peer


def mbi_mst(codes, domain, epsilon, delta, seed):
    """MST as published, on mbi: a third each for one-ways, choices, pairs; mirror descent."""
    import mbi

    rng = np.random.default_rng(seed)
    names, sizes = list(domain), list(domain.values())
    # The plain conversion (rho + 2 sqrt(rho ln 1/delta) = epsilon) that MST's authors use.
    log = np.log(1 / delta)
    rho = (np.sqrt(log + epsilon) - np.sqrt(log)) ** 2
    space = mbi.Domain(names, sizes)

    def counts(columns):
        place = np.zeros(len(codes), dtype=np.int64)
        for column in columns:
            place = place * sizes[column] + codes[:, column]
        return np.bincount(place, minlength=int(np.prod([sizes[c] for c in columns])))

    def measure(wanted, budget):
        sigma = np.sqrt(len(wanted) / (2 * budget))
        return [
            mbi.LinearMeasurement(
                counts(columns) + rng.normal(0, sigma, int(np.prod([sizes[c] for c in columns]))),
                tuple(names[c] for c in columns),
                sigma,
            )
            for columns in wanted
        ]

    def choose(model):
        pairs = list(itertools.combinations(range(len(names)), 2))
        # A model of one-ways is independent: its pairs are outer products, no need to compile each.
        ones = [np.asarray(model.project((name,)).datavector()) for name in names]
        score = {}
        for first, second in pairs:
            guess = np.outer(ones[first], ones[second]).ravel() / ones[first].sum()
            score[first, second] = np.abs(counts((first, second)) - guess).sum()
        part, edges = list(range(len(names))), []
        each = np.sqrt(8 * rho / 3 / (len(names) - 1))
        for _ in range(len(names) - 1):
            left = [p for p in pairs if part[p[0]] != part[p[1]]]
            noisy = [each / 2 * score[p] + rng.gumbel() for p in left]
            first, second = left[int(np.argmax(noisy))]
            edges.append((first, second))
            part = [part[first] if p == part[second] else p for p in part]
        return edges

    def work():
        ones = measure([(c,) for c in range(len(names))], rho / 3)
        start = mbi.estimation.MirrorDescent().estimate(space, ones, iters=1000)
        pairs = measure(choose(start), rho / 3)
        model = mbi.estimation.MirrorDescent().estimate(space, [*ones, *pairs], iters=1000)
        made = model.synthetic_data(rows=len(codes))
        return np.stack([np.asarray(made.to_dict()[name]) for name in names], axis=1)

    return work


def mbi_aim(codes, domain, epsilon, delta, seed):
    """AIM as published (McKenna and others 2022), on mbi, its authors' inference; all triples are the workload."""
    import mbi

    rng = np.random.default_rng(seed)
    names, sizes = list(domain), list(domain.values())
    log = np.log(1 / delta)
    rho = (np.sqrt(log + epsilon) - np.sqrt(log)) ** 2
    space, limit, alpha = mbi.Domain(names, sizes), 80, 0.9
    triples = list(itertools.combinations(range(len(names)), 3))
    closure = [c for k in (1, 2, 3) for c in itertools.combinations(range(len(names)), k)]
    weight = {c: sum(len(set(c) & set(s)) for s in triples) for c in closure}
    cells = {c: int(np.prod([sizes[i] for i in c])) for c in closure}

    def counts(columns):
        place = np.zeros(len(codes), dtype=np.int64)
        for column in columns:
            place = place * sizes[column] + codes[:, column]
        return np.bincount(place, minlength=cells[columns])

    exact = {columns: counts(columns) for columns in closure}

    def measured(columns, sigma):
        noisy = exact[columns] + rng.normal(0, sigma, cells[columns])
        return mbi.LinearMeasurement(noisy, tuple(names[c] for c in columns), sigma)

    def told(model):
        """Return what a model says of the whole closure: from its joint, which is small here."""
        joint = np.asarray(model.project(tuple(names)).datavector()).reshape(sizes)
        others = {c: tuple(i for i in range(len(names)) if i not in c) for c in closure}
        return {c: joint.sum(axis=others[c]).ravel() for c in closure}

    def estimate(found, model):
        return mbi.estimation.MirrorDescent().estimate(space, found, iters=1000, warm_start=model)

    def affordable(used, found):
        """Return what keeps the model within a share of its limit (in MB) that grows with the spending."""
        cliques, room = [m.clique for m in found], limit * used / rho
        known = {tuple(m.clique) for m in found}
        size = mbi.junction_tree.hypothetical_model_size
        return [
            c
            for c in closure
            if (named := tuple(names[i] for i in c)) in known
            or size(space, [*cliques, named]) <= room
        ]

    def work():
        rounds = 16 * len(names)
        sigma, epsilon_each = (
            np.sqrt(rounds / (2 * alpha * rho)),
            np.sqrt(8 * (1 - alpha) * rho / rounds),
        )
        found = [measured((c,), sigma) for c in range(len(names))]
        used = len(names) / (2 * sigma**2)
        model = estimate(found, None)
        says, last = told(model), False
        while not last:
            left = rho - used
            if left < 2 * (1 / (2 * sigma**2) + epsilon_each**2 / 8):
                sigma, epsilon_each, last = (
                    np.sqrt(1 / (2 * alpha * left)),
                    np.sqrt(8 * (1 - alpha) * left),
                    True,
                )
            used += 1 / (2 * sigma**2) + epsilon_each**2 / 8
            choices = affordable(used, found)
            bias = {c: np.sqrt(2 / np.pi) * sigma * cells[c] for c in choices}
            quality = [weight[c] * (np.abs(exact[c] - says[c]).sum() - bias[c]) for c in choices]
            worst = max(weight[c] for c in choices)
            noisy = epsilon_each * np.array(quality) / (2 * worst) + rng.gumbel(size=len(choices))
            chosen = choices[int(np.argmax(noisy))]
            found.append(measured(chosen, sigma))
            before, model = says[chosen], estimate(found, model)
            says = told(model)
            if np.abs(says[chosen] - before).sum() <= bias[chosen]:
                sigma, epsilon_each = sigma / 2, epsilon_each * 2
        made = model.synthetic_data(rows=len(codes))
        return np.stack([np.asarray(made.to_dict()[name]) for name in names], axis=1)

    return work


PEERS = {
    "DataSynthesizer independent": datasynthesizer_independent,
    "DataSynthesizer correlated": datasynthesizer_correlated,
    "MST by dpmm": _dpmm("MSTPipeline"),
    "AIM by dpmm": _dpmm("AIMPipeline"),
    "PrivBayes by dpmm": _dpmm("PrivBayesPipeline"),
    "MST on mbi": mbi_mst,
    "AIM on mbi": mbi_aim,
}


def main() -> None:
    warnings.simplefilter("ignore")
    peer, source, about, epsilon, delta, seed, out = sys.argv[1:]
    codes = np.load(source)
    domain = json.loads(Path(about).read_text(encoding="utf-8"))
    work = PEERS[peer](codes, domain, float(epsilon), float(delta), int(seed))
    start = time.process_time()
    made = work()
    took = time.process_time() - start
    np.save(out, made.astype(np.int32))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": took, "memory": memory}))


if __name__ == "__main__":
    main()
