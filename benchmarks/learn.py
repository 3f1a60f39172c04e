"""Accuracy, AUC and processor time of the private classifiers on UCI Adult, beside other systems.

python -m benchmarks.learn [--seeds N] [--epsilon E ...] [--model NAME ...] [--peer NAME ...]

Adult's own split (32,561 and 16,281 rows), all 14 features, delta 1e-6, domains as `--accept` declares
them. Ours are fitted with real entropy, on codes that were read before the clock starts; mean, least and
greatest of the seeds. `--peer all` adds interpret's DP-EBM, diffprivlib, Opacus (DP-SGD), and scikit-learn without
privacy (logistic, boosted, network), each in an environment of its own under .venv-peers/. `--recommend` adds the recommender on 10^6 made-up
ratings: root mean squared error of the model and of its means and levels, for people held out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
from benchmarks.figures import figure
from benchmarks.peers import PACKAGES, environment

from discreet.base.display import silent
from discreet.base.event import EVERYONE
from discreet.base.numbers import Delta, Epsilon
from discreet.base.unit import Neighbours
from discreet.data.catalog.bare_file import bare_table
from discreet.data.catalog.policy_file import load
from discreet.lab.town.benchmark_tables import adult
from discreet.lab.town.studies import rating_batches
from discreet.measure.columns import Bins, outline_of
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.noise.rng import SystemRng
from discreet.work.learn.classifier import Classifier, fit_classifier
from discreet.work.learn.evaluation import auc
from discreet.work.learn.features import chosen_items, encoding_of
from discreet.work.learn.learners.network import NetworkShape, network_budget
from discreet.work.learn.learners.registry import CLASSIFY, LEARNERS, of_task
from discreet.work.learn.private_rows import PaidRows, PrivateResiduals
from discreet.work.learn.read_file import codes_of_table, read_table
from discreet.work.learn.recommender import (
    Payment,
    PersonRatings,
    Recommender,
    cleaned,
    item_estimates,
    item_means,
    leaning_products,
    strongest,
)

TRAINING = 32_561
DELTA = Fraction(1, 10**6)
PEERS = {
    "interpret": "interpret",
    "diffprivlib": "diffprivlib",
    "opacus": "opacus",
    "network": "sklearn",
    "logistic": "sklearn",
    "boosted": "sklearn",
}
PACKAGES |= {
    "interpret": ("interpret-core==0.7.8", "pandas", "scikit-learn"),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn<1.6", "pandas"),
    "sklearn": ("scikit-learn", "pandas"),
    "opacus": ("opacus", "torch", "scikit-learn", "pandas"),
}


def files(folder: Path) -> tuple[Path, Path]:
    """Return Adult's training and test rows as CSV files."""
    table = adult()
    for name, part in (("train", table.slice(0, TRAINING)), ("test", table.slice(TRAINING))):
        csv.write_csv(part, folder / f"{name}.csv")
    return folder / "train.csv", folder / "test.csv"


def coded(train: Path, test: Path):
    """Return the codes of both files and their encoding, as `--accept` declares it."""
    bare = bare_table(train, epsilon=Epsilon.of(1), delta=Delta.of("1e-6"), accept=True)
    catalog = load(bare.config)
    outline = outline_of(catalog, bare.table, bins=Bins.AUTO, types={}, has_delta=True)
    items = chosen_items(outline, "income", ())
    encoding = encoding_of("adult", items[:-1], items[-1])
    return (*(codes_of_table(read_table(p), encoding.coded) for p in (train, test)), encoding)


def fitted_model(name: str, train, encoding, epsilon: str):
    """Return one of our models, as a training makes it once its rows are there."""
    rows = PaidRows(train, encoding.shape, len(encoding.coded) - 1)
    if name == "network":
        shape = NetworkShape(len(encoding.coded) - 1, encoding.coded[-1].values)
        asked = {"region": EVERYONE, "replaced": False, "learns": False, "words": 0}
        shared, steps = network_budget(Epsilon.of(epsilon), Delta.of(DELTA), shape, **asked)
        residuals = PrivateResiduals(rows, shared.fitting, CountSensitivity(), SystemRng())
        units = np.arange(len(train), dtype=np.int64)
        more = {"steps": steps, "rng": SystemRng(), "progress": silent}
        return LEARNERS[name].fit(residuals, (train, units), encoding, **more)[0]
    budget = MarginalBudget(rho_of_target(Fraction(epsilon), DELTA), concentrated=True)
    residuals = PrivateResiduals(rows, budget, CountSensitivity(), SystemRng())
    fitted = fit_classifier(name, residuals, encoding, silent)
    return Classifier(name, encoding, fitted.intercept, fitted.terms)


def ours(data, name: str, epsilon: str, seeds: int) -> None:
    train, test, encoding = data
    found, started = [], time.process_time()
    for _ in range(seeds):
        model = fitted_model(name, train, encoding, epsilon)
        truth = test[:, -1].astype(np.int64)
        right = float((model.guesses(test) == truth).mean())
        found.append((right, auc(model.chances(test)[:, 1], truth)))
    seconds = (time.process_time() - started) / seeds
    base = float(np.bincount(truth).max() / len(truth))
    mean, low, high = np.mean(found, 0), np.min(found, 0), np.max(found, 0)
    figure(
        f"{name}, epsilon {epsilon}: accuracy",
        mean[0],
        "share",
        beside="the larger class",
        theirs=base,
    )
    figure(f"{name}, epsilon {epsilon}: training, processor", seconds, "s")
    spread = f"({low[0]:.4f} to {high[0]:.4f}, {low[1]:.4f} to {high[1]:.4f})"
    print(f"ours {name:<12}{epsilon:>6}  {mean[0]:.4f} / {mean[1]:.4f} {spread}  {seconds:.1f} s")


def peer(name: str, train: Path, test: Path, epsilon: str) -> None:
    python = environment(PEERS[name])
    code = Path(__file__).with_name("learn_peer_code.py")
    ran = subprocess.run(
        [python, code, name, train, test, epsilon], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        print(f"{name:<17}{epsilon:>6}  did not run: {ran.stderr.strip().splitlines()[-1][:90]}")
        return
    found = json.loads(ran.stdout)
    shown = f"{found['accuracy']:.4f} / {found['auc']:.4f}"
    print(f"{name:<17}{epsilon:>6}  {shown}  {found['cpu']:.1f} s")


def recommending(epsilons: list[str], rows: int = 1_000_000, held_out: int = 500) -> None:
    """Print the errors on the ratings of people who were not learned from."""
    table = pa.Table.from_batches(list(rating_batches(1, rows)))
    user, item, level = (table[n].to_numpy() for n in ("user_id", "film_id", "rating"))
    order = np.lexsort((item, user))
    user, item, level = user[order], item[order].astype(np.int64) - 1, level[order] - 1
    starts = np.flatnonzero(np.r_[True, user[1:] != user[:-1]])
    whole = PersonRatings(item, level.astype(np.int64), starts)
    each = [part for batch in whole.people(10**9) for part in batch]
    viewers = [(item[p], level[p] + 1.0) for p in each[-held_out:]]
    cut = int(starts[-held_out])
    ratings = PersonRatings(item[:cut], whole.level[:cut], starts[:-held_out])
    scale = np.linspace(-1.0, 1.0, 5)
    for epsilon in epsilons:
        rho = rho_of_target(Fraction(epsilon), Fraction(1, 10**9))
        pay = [Payment(rho * k / 10, Neighbours.ADD_REMOVE, SystemRng()) for k in (3, 7)]
        weights, sums, deviation = item_means(ratings, scale, 10_000, pay[0])
        means, top = item_estimates(weights, sums, deviation), strongest(weights, 80)
        products, both, noise = leaning_products(ratings, scale, means, top, pay[1])
        names = tuple(map(str, range(10_000)))
        model = Recommender(names, 1.0, 5.0, means, top, cleaned(products, both, noise))
        found, base = squared_error(model, viewers)
        print(f"recommender {epsilon:>6}  {found:.4f}  means and levels {base:.4f}")


def squared_error(model, people, *, hidden=5):
    """Return the root mean squared errors of the model and of its baseline on public viewers.

    Of each viewer every `hidden`-th rating is predicted from the others.
    """
    errors, count = np.zeros(2), 0
    for item, rating in people:
        out = np.arange(len(item)) % hidden == 0
        if out.all():
            continue
        for which, predict in enumerate((model.predict, model.baseline)):
            gaps = predict(item[~out], rating[~out], item[out]) - rating[out]
            errors[which] += (gaps**2).sum()
        count += int(out.sum())
    model_error, base_error = np.sqrt(errors / max(count, 1)).tolist()
    return model_error, base_error


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seeds", type=int, default=3)
    words.add_argument("--epsilon", nargs="*", default=["0.5", "1", "3"])
    words.add_argument("--model", nargs="*", default=[*of_task(CLASSIFY)])
    words.add_argument("--peer", nargs="*", default=[])
    words.add_argument("--recommend", action="store_true")
    asked = words.parse_args()
    if asked.recommend:
        recommending(asked.epsilon)
        return
    with tempfile.TemporaryDirectory() as folder:
        train, test = files(Path(folder))
        data = coded(train, test)
        for epsilon in asked.epsilon:
            for name in asked.model:
                ours(data, name, epsilon, asked.seeds)
            for name in PEERS if asked.peer == ["all"] else asked.peer:
                peer(name, train, test, epsilon)


if __name__ == "__main__":
    main()
