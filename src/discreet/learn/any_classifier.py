"""Every kind of trained classifier: sums of tables, and networks."""

from __future__ import annotations

from typing import TypeAlias

from discreet.learn.model import Classifier
from discreet.learn.sgd.model import NetworkClassifier

AnyClassifier: TypeAlias = Classifier | NetworkClassifier
