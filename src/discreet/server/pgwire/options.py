"""The settings of one session: our own, and those that clients expect to be able to set."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet.base.numbers import Epsilon
from discreet.base.requests.fields import (
    FieldKind,
    asked,
    checked_value,
    request_fields,
    whole_number,
)
from discreet.base.requests.paid import QuestionFields
from discreet.errors import InvalidInput
from discreet.server.pgwire.messages import Failure


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(QuestionFields):
    """How one question is asked, after session and comment have had their say; amounts as they were written."""

    max_epsilon: str | None = asked(
        FieldKind.AMOUNT, "No question of this session uses more.", default=None, reads=Epsilon.of
    )
    errors: bool = asked(
        FieldKind.FLAG, "On: each noisy column is followed by NAME_error95.", default=False
    )

    notices: bool = asked(
        FieldKind.FLAG,
        "Off: answers come without notices of their errors, their price and what else to know.",
        default=True,
    )

    if TYPE_CHECKING:
        epsilon: str | None
        within: str | None


_SET = ("epsilon", "within", "max_epsilon", "errors", "notices", "fresh", "max_rows", "analyst")
OURS = {name: request_fields(QuestionOptions)[name] for name in _SET}
"""Our own settings: `discreet.NAME`, with the help text and the limits of the question's field."""
_SWITCHES = {
    "on": True, "true": True, "yes": True, "1": True,
    "off": False, "false": False, "no": False, "0": False,
}  # fmt: skip

VERSION = "15.0"
DEFAULTS = {
    "server_version": VERSION,
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "in_hot_standby": "off",
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "read committed",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "search_path": '"$user", public',
    "client_min_messages": "notice",
    "extra_float_digits": "1",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "bytea_output": "hex",
    "max_identifier_length": "63",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
    "lc_monetary": "C",
    "jit": "off",
    "row_security": "on",
    "escape_string_warning": "on",
    "geqo": "on",
    "max_index_keys": "32",
    "block_size": "8192",
    "data_checksums": "off",
    "wal_level": "replica",
    "ssl": "on",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "transaction_deferrable": "off",
    "default_transaction_deferrable": "off",
    "session_replication_role": "origin",
    "role": "none",
}
REPORTED = {
    name.lower(): name
    for name in (
        "server_version", "server_encoding", "client_encoding", "application_name", "DateStyle",
        "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings",
        "is_superuser", "in_hot_standby", "default_transaction_read_only",
    )
}  # fmt: skip
"""Settings that the protocol reports, in the spelling it uses."""
_FIXED = {
    "server_version", "server_version_num", "server_encoding", "is_superuser", "integer_datetimes",
    "standard_conforming_strings", "max_identifier_length", "block_size", "max_index_keys", "ssl",
}  # fmt: skip
_QUIET = {"warning", "error", "fatal", "panic"}
_LONGEST = 1000


@dataclass
class Options:
    """What one session has set. `initial` is what it began with, and RESET returns to."""

    default_epsilon: str | None = None
    own: dict[str, str] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)
    initial: dict[str, str] = field(default_factory=dict)

    def begin(self, parameters: Mapping[str, str]) -> None:
        """Take what the connection brought along."""
        for name, value in options_of(parameters):
            self.set(name, value)
        self.initial = {f"discreet.{name}": value for name, value in self.own.items()}
        self.initial |= self.other

    def set(self, name: str, value: str | None) -> None:
        """Set a setting; None is its default."""
        name = name.lower()
        if len(name) > _LONGEST or (value is not None and len(value) > _LONGEST):
            raise InvalidInput("A setting of so many characters is declined.")
        if name.startswith("discreet."):
            self._set_own(name.removeprefix("discreet."), value)
        elif value is None:
            self.other.pop(name, None)
        elif name in _FIXED:
            if value.lower() != DEFAULTS[name].lower():
                raise Failure("55P02", f"The setting '{name}' cannot be changed.")
        elif name == "client_encoding" and value.upper().replace("-", "") not in (
            "UTF8",
            "UNICODE",
        ):
            raise Failure(
                "22023", "Only UTF8 is spoken here.", hint="SET client_encoding = 'UTF8'."
            )
        elif name in DEFAULTS or len(self.other) < 100:
            self.other[name] = "UTF8" if name == "client_encoding" else value

    def _set_own(self, name: str, value: str | None) -> None:
        if name not in OURS:
            known = ", ".join(f"discreet.{known}" for known in OURS)
            raise Failure(
                "42704", f"There is no setting 'discreet.{name}'.", hint=f"There are: {known}."
            )
        if value is None or value == "":
            self.own.pop(name, None)
            return
        value_of(name, value)
        self.own[name] = value
        if name in ("epsilon", "within"):
            self.own.pop("within" if name == "epsilon" else "epsilon", None)

    def reset(self, name: str | None = None) -> None:
        """Return one setting, or all of them, to what the connection began with."""
        if name is None:
            self.own, self.other = {}, {}
            for each, value in self.initial.items():
                self.set(each, value)
        else:
            self.set(name, self.initial.get(name.lower()))

    def show(self, name: str) -> str:
        """Return the value of a setting."""
        name = name.lower()
        if name.startswith("discreet."):
            short = name.removeprefix("discreet.")
            if short not in OURS:
                self._set_own(short, None)
            if short == "epsilon" and "within" not in self.own:
                return self.own.get("epsilon", self.default_epsilon or "")
            return self.own.get(short, "")
        found = self.other.get(name, DEFAULTS.get(name))
        if found is None:
            raise Failure("42704", f"There is no setting '{name[:60]}'.")
        return found

    @property
    def quiet(self) -> bool:
        """Return whether the client wants to see no notices."""
        return self.show("client_min_messages").lower() in _QUIET

    def asking(self, hints: tuple[tuple[str, str], ...]) -> QuestionOptions:
        """Return how a question with these comment hints is asked; the hints win.

        Guarantee: no hint lifts the ceiling: it is the least of the session's and the hints'.
        """
        said = dict(self.own)
        ceilings = [value for name, value in hints if name == "max_epsilon"]
        for name, value in hints:
            if name not in OURS or name == "analyst":
                raise InvalidInput(f"A comment cannot set 'discreet.{name}'.")
            value_of(name, value)
            if name in ("epsilon", "within"):
                said.pop("within" if name == "epsilon" else "epsilon", None)
            said[name] = value
        if "max_epsilon" in self.own:
            ceilings.append(self.own["max_epsilon"])
        if "within" not in said and self.default_epsilon is not None:
            said.setdefault("epsilon", self.default_epsilon)
        found = QuestionOptions(
            sql="", **{name: value_of(name, value) for name, value in said.items()}
        )
        _below(found.epsilon, found.within, ceilings)
        return found


def _below(epsilon: str | None, within: str | None, ceilings: list[str]) -> None:
    if not ceilings:
        return
    ceiling = min(ceilings, key=lambda written: Epsilon.of(written).value)
    if within is not None:
        raise InvalidInput(
            "A ceiling on epsilon and a wanted error cannot be combined.",
            hint="RESET discreet.max_epsilon, or give an epsilon.",
        )
    if epsilon is not None and Epsilon.of(epsilon).value > Epsilon.of(ceiling).value:
        raise InvalidInput(
            f"The question would use epsilon {epsilon}, more than this session's ceiling {ceiling}.",
            hint="Lower discreet.epsilon, or raise discreet.max_epsilon.",
        )


def value_of(name: str, text: str) -> Any:
    """Return what one of our own settings says, an amount as it was written; refuse what it cannot be."""
    each = OURS[name]
    if each.kind is FieldKind.FLAG:
        if text.lower() not in _SWITCHES:
            raise InvalidInput(f"discreet.{name} is on or off.")
        return _SWITCHES[text.lower()]
    value = whole_number(text) if each.kind is FieldKind.WHOLE else text
    found = checked_value(replace(each, default=...), value, name=f"discreet.{name}")
    return text if each.kind is FieldKind.AMOUNT else found


def options_of(parameters: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the settings in a startup message: parameters by name, and `-c name=value` options."""
    skip = {"user", "database", "options", "replication"}
    found = [
        (name, value.strip("'"))  # some clients put quotes around values, as in SET
        for name, value in parameters.items()
        if name not in skip and not name.startswith("_pq_.")
    ]
    try:
        words = shlex.split(parameters.get("options", ""))
    except ValueError:
        raise InvalidInput("The connection's options cannot be read.") from None
    while words:
        word = words.pop(0)
        if word in ("-c", "--") and words:
            word = words.pop(0)
        setting = re.fullmatch(r"(?:-c|--)?([\w.-]+)=(.*)", word, re.DOTALL)
        if setting is None:
            raise InvalidInput("The connection's options cannot be read.", hint="-c name=value")
        found.append((setting[1].replace("-", "_"), setting[2]))
    return found
