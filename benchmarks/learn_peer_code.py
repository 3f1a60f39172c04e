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


def opacus(first, truth, second, epsilon):
    """A network of our own size, with the steps, rate and clip that Opacus' tutorials use for tables."""
    import torch
    from opacus import PrivacyEngine

    torch.manual_seed(0)
    one, two = (torch.tensor(each, dtype=torch.float32) for each in one_hot(first, second))
    target = torch.tensor(truth.to_numpy(), dtype=torch.float32)
    model = torch.nn.Sequential(
        torch.nn.Linear(one.shape[1], 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
    )
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(one, target), batch_size=512)
    model, mover, data = PrivacyEngine().make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.01),
        data_loader=data,
        target_epsilon=epsilon,
        target_delta=DELTA,
        epochs=20,
        max_grad_norm=1.0,
    )
    for _ in range(20):
        for rows, wanted in data:
            mover.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(
                model(rows)[:, 0], wanted
            ).backward()
            mover.step()
    with torch.no_grad():
        return torch.sigmoid(model(two)[:, 0]).numpy()


def network(first, truth, second, _epsilon):
    from sklearn.neural_network import MLPClassifier

    one, two = one_hot(first, second)
    model = MLPClassifier((16,), early_stopping=True, random_state=0)
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
