"""A class: analysts whose names begin alike, each with a token and a share, begun and ended together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidInput, UnknownName
from discreet.server.access.audit_log import COMMAND_LINE, Actor, AuditAction, AuditLog
from discreet.server.access.tokens import Token, Tokens

LABEL = "class "
"""How the labels of a class's tokens begin; the rest is the class's name."""
_NAME = re.compile(r"[^\W_][\w.-]{0,39}")


@dataclass(frozen=True, slots=True)
class ClassOfTokens:
    """All tokens of one class, those of students who were sent away too."""

    name: str
    tokens: tuple[Token, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values: how many there are, how many still open something, and until when."""
        stand = [each for each in self.tokens if each.to_json()["valid"]]
        return {
            "name": self.name,
            "students": len(self.tokens),
            "valid": len(stand),
            "created": min(each.created for each in self.tokens),
            "expires": max((each.expires for each in stand if each.expires), default=None),
        }


def class_label(name: str) -> str:
    """Return the label of a class's tokens, if `name` can be one."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "A class's name is a letter or digit, then at most 39 letters, digits, _, . or -.",
            hint="Its students get numbers behind it: autumn001, autumn002 ...",
        )
    return f"{LABEL}{name}"


def student_names(name: str, size: int) -> list[str]:
    """Return the names of a class's analysts: NAME001, NAME002 ..."""
    width = max(3, len(str(size)))
    return [f"{name}{number:0{width}}" for number in range(1, size + 1)]


def tell_shares(
    audit: AuditLog,
    names: Sequence[str],
    epsilon: str,
    datasets: Sequence[str],
    *,
    by: Actor = COMMAND_LINE,
) -> None:
    """Write down in the audit log that these analysts were given a share."""
    where = {"dataset": ", ".join(datasets) or "every data set", "epsilon_after": epsilon}
    audit.record_all(by, AuditAction.SHARE_CHANGED, [where | {"analyst": name} for name in names])


def all_classes(tokens: Tokens) -> list[ClassOfTokens]:
    """Return the classes there are and were, the latest first."""
    found: dict[str, list[Token]] = {}
    for token in tokens.all():
        if token.label.startswith(LABEL):
            found.setdefault(token.label.removeprefix(LABEL), []).append(token)
    return [ClassOfTokens(name, tuple(each)) for name, each in reversed(found.items())]


def end_class(tokens: Tokens, name: str, *, by: Actor = COMMAND_LINE) -> int:
    """Return how many tokens of the class were made useless, all together and for good.

    What the students have spent stays spent, and their names stay in discreet.toml: the history
    speaks of them.
    """
    found = [each for each in all_classes(tokens) if each.name == name]
    if not found:
        raise UnknownName(
            f"There is no class '{name[:40]}'.",
            hint="See: discreet token list; the labels of a class begin with 'class'.",
        )
    still = [each.id for each in found[0].tokens if each.revoked is None]
    if still:
        tokens.revoke_many(still, by=by)
    return len(still)
