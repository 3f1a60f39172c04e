"""A curator here and a client of one elsewhere: the same names, called alike, whose results have the same members."""

import inspect
from functools import cached_property

import pytest

import result_members as results
from discreet.anonymize.run import Anonymized
from discreet.ask.release.bounds_trade import BoundsTrade
from discreet.base.requests.fields import asks, like, request_fields, schema
from discreet.base.requests.paid import (
    ExplainFields,
    LearnFields,
    LocalLearnFields,
    LocalSynthFields,
    SynthFields,
)
from discreet.base.requests.unpaid import AnonymizeFields, LocalAnonymizeFields
from discreet.curator import Curator
from discreet.curator.client import Client
from discreet.curator.client import results as remote
from discreet.show import Document
from discreet.work.learn.recommender import Recommending
from discreet.work.learn.select import Selected
from discreet.work.learn.training import Trained
from discreet.work.publish.rehearse import Rehearsal
from discreet.work.publish.run import Publication
from discreet.work.synth.synthetic import Synthetic

ONLY_HERE = {
    # What a curator is made of.
    "catalog": "the file on the owner's machine, as an object; what may be asked of it is `outline`",
    "engine": "a database connection",
    "ledger": "the book itself",
    "rng": "the dice",
    "account_of": "whose share pays; a server knows it from the token",
    "seen_by": "a view for one analyst; a server gives each token its own",
    "visible": "as above",
    # The server sends these as parts of another answer.
    "analysts_report": "in an owner's `budget_report`",
    "budget_alerts": "in an owner's `budget_report`",
    "datasets_report": "in `outline`",
    "share_report": "`budget_report` of an analyst's token",
    "budget_words": "text for a terminal",
    "standing": "`history` has it as `outcome`",
    # No route: they want the owner at the machine, or a model that lies there.
    "columns": "the PostgreSQL endpoint describes columns; `explain` names them",
    "package": "a path of the curator's machine; `publish(out=...)` writes the package here",
    "regress": "no route",
    "running_totals": "no route",
    "late_rows": "no route",
    "synthesize_linked": "no route",
    "test_model": "no route: the model would have to be sent",
}
"""What only a curator has, and why."""


def more(local, sent):
    """Return the fields that only whoever runs the curator can give."""
    assert issubclass(local, sent)
    return request_fields(local).keys() - request_fields(sent).keys()


BY_TOKEN = {"who"}
"""Whose name a change is written under: over HTTP that is the token's."""
MADE_WITH_IT = {"target"}
"""A server draws the report of a copy when it makes the copy."""
ARGUMENTS_ONLY_HERE = {
    "synthesize": more(LocalSynthFields, SynthFields),
    "learn": more(LocalLearnFields, LearnFields),
    "anonymize": more(LocalAnonymizeFields, AnonymizeFields),
    "synthesis_report": MADE_WITH_IT,
    "synthesis_comparison": MADE_WITH_IT,
    "publish": BY_TOKEN | {"supersedes"},  # no field of the route
    "draft_release": BY_TOKEN,
    "rehearse_release": BY_TOKEN,
    "approve_release": BY_TOKEN,
    "withdraw_release": BY_TOKEN,
    "outline": {"analyst"},  # the token's own view
    "history": {"analysts"},  # the token's own entries
}


def public(kind):
    """Return what stands on a class: whether it is a method or a value."""
    found = {}
    for name, raw in inspect.getmembers_static(kind):
        if not name.startswith("_"):
            found[name] = "method" if inspect.isfunction(raw) else "value"
    return found


def arguments(function):
    return {
        name: (each.kind, getattr(each.default, "__name__", each.default))
        for name, each in inspect.signature(function).parameters.items()
        if name != "self"
    }


def differences(local, remote_kind):
    """Return every way in which two classes differ that no list allows."""
    mine = public(local) | dict.fromkeys(("catalog", "rng"), "value")  # set when it is made
    theirs = public(remote_kind)
    found = [f"only here: {name}" for name in mine.keys() - theirs.keys() - ONLY_HERE.keys()]
    found += [f"only there: {name}" for name in theirs.keys() - mine.keys()]
    found += [f"there after all: {name}" for name in theirs.keys() & ONLY_HERE.keys()]
    for name in mine.keys() & theirs.keys():
        if mine[name] != theirs[name]:
            found.append(f"another kind: {name}")
        elif mine[name] == "method":
            here, there = arguments(getattr(local, name)), arguments(getattr(remote_kind, name))
            allowed = ARGUMENTS_ONLY_HERE.get(name, set())
            if here.keys() - there.keys() != allowed or there.keys() - here.keys():
                found.append(f"other arguments: {name} {here.keys() ^ there.keys()}")
            found += [f"{name}({each})" for each in there if here.get(each) != there[each]]
    return found


def test_curator_and_client_have_the_same_methods():
    assert differences(Curator, Client) == []
    assert ONLY_HERE.keys() - {"catalog", "rng"} <= public(Curator).keys()
    assert all(why for why in ONLY_HERE.values())


@schema
class OtherLearnFields(LocalLearnFields):
    model: str = like(LearnFields, "model", default="tree")


def test_a_difference_is_seen():
    class Other(Client):
        def catalog(self):
            """Another kind."""

        def stored_answer(self, request_id, *, analyst="bob"):
            """Another default."""

        @asks(ExplainFields)
        def query(self, asked):
            """Other fields."""

        @asks(OtherLearnFields)
        def learn(self, asked):
            """One field that is never sent, another default, and nobody to tell."""

    found = {"there after all: catalog", "another kind: catalog", "stored_answer(analyst)"}
    seen = set(differences(Curator, Other))
    assert found <= seen
    others = " ".join(sorted(seen - found))
    assert "other arguments: query" in others
    assert "other arguments: learn" in others
    assert "learn(model)" in others
    assert len(seen - found) == 4, "group_size and request_id; choose, progress and model"


PAIRS = [
    (results.SyntheticCopy, Synthetic, remote.RemoteSynthetic),
    (results.TrainedModel, Trained, remote.RemoteTrained),
    (results.LearnedRecommender, Recommending, remote.RemoteRecommending),
    (results.ChosenValue, Selected, remote.RemoteSelected),
    (results.BoundsBeside, BoundsTrade, remote.RemoteBounds),
    (results.AnonymousCopy, Anonymized, remote.RemoteAnonymized),
    (results.PublishedPackage, Publication, remote.RemotePublication),
    (results.RehearsedRelease, Rehearsal, remote.RemoteRehearsal),
    (results.Report, Document, remote.RemoteReport),
]


def members(protocol):
    """Return what a protocol asks for: name, and whether it is called."""
    return {
        name: inspect.isfunction(raw)
        for kind in protocol.__mro__
        if getattr(kind, "_is_protocol", False)
        for name, raw in vars(kind).items()
        if isinstance(raw, property)
        or (inspect.isfunction(raw) and (not name.startswith("_") or name.endswith("_")))
        if name not in {"__init__", "__subclasshook__"}
    }


@pytest.mark.parametrize(("protocol", "local", "there"), PAIRS)
def test_both_results_have_what_the_protocol_names(protocol, local, there):
    wanted = members(protocol)
    assert wanted
    for kind in (local, there):
        for name, called in wanted.items():
            raw = inspect.getattr_static(kind, name, None)
            fields = getattr(kind, "__dataclass_fields__", {})
            assert raw is not None or name in fields, (kind, name)
            if called:
                assert inspect.isfunction(raw), (kind, name)
                continue
            assert name in fields or isinstance(raw, property | cached_property), (kind, name)
