"""The GROUP BY of a SELECT over private rows: its keys, and the sets of them that ROLLUP and CUBE show."""

from __future__ import annotations

from itertools import chain, combinations

from sqlglot import exp

from discreet.sql.refuse import refusal

MOST_SETS = 32
"""Sets of keys of one ROLLUP, CUBE or GROUPING SETS: each is a question of its own."""


class GroupKeys:
    """The GROUP BY of a SELECT: its different expressions, and the sets that they are shown in."""

    def __init__(self, node: exp.Select, visible: set[str]) -> None:
        self.select = node
        self.visible = visible
        self.nodes: list[exp.Expr] = []
        group = node.args.get("group")
        self._terms: list[list[tuple[int, ...]]] = []
        trailing: list[exp.Expr] = []
        if group is not None:
            if group.args.get("all") or group.args.get("totals"):
                raise refusal("clause", what="GROUP BY ALL")
            trailing = [*(group.args.get("rollup") or ()), *(group.args.get("cube") or ())]
            if trailing and not any(each.expressions for each in trailing):
                # GROUP BY a, b WITH ROLLUP
                kind = type(trailing[0])
                rolled = kind(expressions=[each.copy() for each in group.expressions])
                self._terms.append(self._term(rolled))
                return
        listed = [] if group is None else [*group.expressions, *trailing]
        if group is not None:
            listed += list(group.args.get("grouping_sets") or ())
        self._terms += [self._term(each) for each in listed]

    def sets(self) -> list[tuple[int, ...]]:
        """Return the sets of keys, as places in `nodes`."""
        found: list[tuple[int, ...]] = [()]
        for term in self._terms:
            found = [tuple(dict.fromkeys((*a, *b))) for a in found for b in term]
            if len(found) > MOST_SETS:
                raise refusal("too large", what=f"There are more than {MOST_SETS} sets of keys")
        return [tuple(sorted(each)) for each in found]

    def _term(self, node: exp.Expr) -> list[tuple[int, ...]]:
        if isinstance(node, exp.Rollup):
            each = [self._place_all(part) for part in node.expressions]
            return [tuple(chain(*each[:i])) for i in range(len(each), -1, -1)]
        if isinstance(node, exp.Cube):
            each = [self._place_all(part) for part in node.expressions]
            sizes = range(len(each), -1, -1)
            return [tuple(chain(*some)) for size in sizes for some in combinations(each, size)]
        if isinstance(node, exp.GroupingSets):
            return [found for part in node.expressions for found in self._set(part)]
        return [self._place_all(node)]

    def _set(self, node: exp.Expr) -> list[tuple[int, ...]]:
        if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
            return self._term(node)
        return [self._place_all(node)]

    def _place_all(self, node: exp.Expr) -> tuple[int, ...]:
        if isinstance(node, exp.Paren):
            return self._place_all(node.this)
        if isinstance(node, exp.Tuple):
            return tuple(chain(*(self._place_all(part) for part in node.expressions)))
        return (self._place(node),)

    def _place(self, node: exp.Expr) -> int:
        said = self._meant(node)
        found = self.place(said)
        if found is not None:
            return found
        self.nodes.append(said)
        return len(self.nodes) - 1

    def _meant(self, node: exp.Expr) -> exp.Expr:
        outputs: list[exp.Expr] = self.select.expressions
        if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
            if not 1 <= int(node.this) <= len(outputs):
                raise refusal("clause", what=f"GROUP BY {str(node.this)[:40]}")
            return outputs[int(node.this) - 1].unalias()
        if isinstance(node, exp.Column) and not node.table:
            name = node.name.lower()
            if name not in self.visible:
                for output in outputs:
                    if isinstance(output, exp.Alias) and output.alias.lower() == name:
                        return output.unalias()
        return node

    def place(self, node: exp.Expr) -> int | None:
        """Return which key an expression is."""
        for tables in (True, False):
            wanted = _plain(node, tables=tables)
            for i, key in enumerate(self.nodes):
                if _plain(key, tables=tables) == wanted:
                    return i
        return None


def _plain(node: exp.Expr, *, tables: bool) -> exp.Expr:
    """Return a node as it is compared: names in small letters, without quotes."""

    def changed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            table = part.table.lower() if tables else ""
            return exp.column(part.name.lower(), table=table or None)
        inner: exp.Expr = part.this if isinstance(part, exp.Paren) else part
        return inner

    return node.copy().transform(changed)
