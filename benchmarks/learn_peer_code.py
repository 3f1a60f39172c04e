"""Classifiers of others on two CSV files; runs in an environment of its own, prints one JSON object.

python learn_peer_code.py NAME TRAIN.csv TEST.csv EPSILON
"""

import json
import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, roc_auc_score

warnings.simplefilter("ignore")
DELTA = 1e-6
TARGET = "income"


def tables(train, test):
    # Not every peer takes gaps; here only texts have any.
    first, second = (pd.read_csv(path).fillna("?") for path in (train, test))
    truth = [(each.pop(TARGET) == ">50K").astype(int) for each in (first, second)]
    return first, truth[0], second, truth[1]


def one_hot(first, second):
    """Return both tables as numbers: categories as columns, numbers scaled by their range."""
    both = pd.concat([first, second])
    words = [name for name in both if both[name].dtype.kind not in "iuf"]
    coded = pd.get_dummies(both, columns=words, dtype=float)
    numbers = [name for name in both if name not in words]
    low, high = coded[numbers].min(), coded[numbers].max()
    coded[numbers] = (coded[numbers] - low) / (high - low)
    values = coded.to_numpy(dtype=float)
    return values[: len(first)], values[len(first) :]


def interpret(first, truth, second, epsilon):
    from interpret.privacy import DPExplainableBoostingClassifier

    ranges = {c: (first[c].min(), first[c].max()) for c in first if first[c].dtype.kind in "iuf"}
    model = DPExplainableBoostingClassifier(epsilon=epsilon, delta=DELTA, privacy_bounds=ranges)
    return model.fit(first, truth).predict_proba(second)[:, 1]


def diffprivlib(first, truth, second, epsilon):
    from diffprivlib.models import LogisticRegression

    one, two = one_hot(first, second)
    model = LogisticRegression(epsilon=epsilon, data_norm=float(np.sqrt(one.shape[1])))
    return model.fit(one, truth).predict_proba(two)[:, 1]


def logistic(first, truth, second, _epsilon):
    from sklearn.linear_model import LogisticRegression

    one, two = one_hot(first, second)
    return LogisticRegression(max_iter=2000).fit(one, truth).predict_proba(two)[:, 1]


def boosted(first, truth, second, _epsilon):
    from sklearn.ensemble import HistGradientBoostingClassifier

    one, two = one_hot(first, second)
    return HistGradientBoostingClassifier().fit(one, truth).predict_proba(two)[:, 1]


def main():
    name, train, test, epsilon = sys.argv[1:]
    first, truth, second, other = tables(train, test)
    started = time.process_time()
    scores = globals()[name](first, truth, second, float(epsilon))
    found = {
        "accuracy": accuracy_score(other, scores > 0.5),
        "auc": roc_auc_score(other, scores),
        "cpu": time.process_time() - started,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
