"""A chain of conditional tables (a Bayesian network): the model of the methods random, independent, tree and correlated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.errors import InternalError, InvalidInput
from discreet.synth.encoding.shape import Codes, Columns, Shape, joint_codes
from discreet.synth.models.conditioning import Factor, condition, eliminate, hosts
from discreet.synth.models.model import Allowed, Dice, head_json
from discreet.synth.models.systematic import draw_codes

_SUMS_TO_ONE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One column, the columns it depends on, and its chances given them (the last axis is its own).

    A parent combination that cannot occur has some row all the same, so that every row adds up to 1.
    """

    column: int
    parents: Columns
    table: Floats

    @property
    def family(self) -> Columns:
        """Return the axes of the table: the parents, then the column itself."""
        return (*self.parents, self.column)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Columns in an order in which each depends on a few earlier ones that stood together before.

    Because the parents of a column always lie inside one earlier family, marginals and conditional
    samples are exact, by passing messages from the last column to the first; nothing is rejected.
    """

    shape: Shape
    total: float
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        complain = _wrong(self)
        if complain:
            raise InternalError(complain)

    @property
    def _factors(self) -> list[Factor]:
        return [(node.family, node.table) for node in self.nodes]

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal, axes in the order asked for."""
        return self.total * eliminate(self._factors, columns)

    def sample(self, rows: int, *, dice: Dice, given: Allowed | None = None) -> Codes:
        """Return that many made-up rows, each column's counts within one of their expectation."""
        tables = condition(self._factors, given) if given else [node.table for node in self.nodes]
        codes = np.zeros((rows, self.shape.width), dtype=np.int32)
        for node, table in zip(self.nodes, tables, strict=True):
            place = joint_codes(codes, node.parents, self.shape.sizes)
            chances = table.reshape(-1, self.shape.sizes[node.column])
            codes[:, node.column] = draw_codes(chances, place, dice)
        return codes

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain numbers, lists and text."""
        return {
            **head_json("network", self),
            "nodes": [
                {
                    "column": node.column,
                    "parents": list(node.parents),
                    "chances": node.table.ravel().tolist(),
                }
                for node in self.nodes
            ],
        }


def read_network(data: Mapping[str, Any]) -> Network:
    """Return the network that `to_json` described; every part of it is checked."""
    try:
        names, sizes = tuple(map(str, data["names"])), tuple(map(_whole, data["sizes"]))
        if len(names) != len(sizes) or min(sizes, default=1) < 1:
            raise InvalidInput("The columns of the model and their sizes do not fit together.")
        shape = Shape(names, sizes)
        nodes = tuple(_read_node(item, shape) for item in data["nodes"])
        return Network(shape, float(data["total"]), nodes)
    except InternalError as error:
        raise InvalidInput(f"The model does not fit together: {error}.") from None
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise InvalidInput("A part of the model is missing or not a number.") from None


def _read_node(item: Mapping[str, Any], shape: Shape) -> Node:
    column, parents = _whole(item["column"]), tuple(map(_whole, item["parents"]))
    if any(not 0 <= each < shape.width for each in (*parents, column)):
        raise InvalidInput("A table of the model names a column that is not there.")
    chances = np.array(item["chances"], dtype=np.float64)
    return Node(column, parents, chances.reshape(shape.of((*parents, column))))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput("A number in the model should be a whole one.")
    return value


def _wrong(network: Network) -> str:
    """Return what is wrong with the parts of a network, or nothing."""
    nodes, sizes = network.nodes, network.shape.sizes
    if sorted(node.column for node in nodes) != list(range(len(sizes))):
        return "each column must stand in a network once"
    for node, host in zip(nodes, hosts([node.family for node in nodes]), strict=True):
        if node.parents and host is None:
            return "the parents of a column must stand together in an earlier family"
        if len(set(node.family)) != len(node.family):
            return "a column cannot be its own parent"
        if node.table.shape != network.shape.of(node.family):
            return "a table of chances must have the shape of its columns"
        if not np.isfinite(node.table).all() or (node.table < 0).any():
            return "chances must be finite and not negative"
        if (np.abs(node.table.sum(axis=-1) - 1) > _SUMS_TO_ONE).any():
            return "the chances of a column must add up to 1"
    if not np.isfinite(network.total) or network.total < 0:
        return "the number of rows must be finite and not negative"
    return ""
