"""A request is the only schema: commands, bodies, client and curator have its fields, no more and no fewer."""

import inspect
from dataclasses import dataclass, field, make_dataclass

import pytest
import typer
from typer.main import get_command

from discreet.api import Curator
from discreet.api.bounding import trade
from discreet.cli.app import command_of
from discreet.cli.request_options import with_options
from discreet.client import Client
from discreet.core.numbers import Epsilon
from discreet.core.requests.anonymize import AnonymizeAsked
from discreet.core.requests.asked import FieldKind, asked, asked_fields, sent
from discreet.core.requests.audit import AuditAsked
from discreet.core.requests.bounds import BoundsAsked
from discreet.core.requests.learn import (
    REGRESSED,
    LearnAsked,
    RecommendAsked,
    SelectAsked,
    TestAsked,
)
from discreet.core.requests.question import ASKED, EXPLAINED, REHEARSED, QuestionAsked
from discreet.core.requests.synth import LINKED, SynthAsked
from discreet.learn.scored.paid_test import TestRequest
from discreet.release.request import Request
from discreet.server.features.anonymize.routes import AnonymizeBody
from discreet.server.features.data.bounds_routes import BoundsBody
from discreet.server.features.learn.choices import ChoiceBody
from discreet.server.features.learn.recommenders import RecommenderBody
from discreet.server.features.learn.routes import TrainBody
from discreet.server.features.query.asked_body import body_of
from discreet.server.features.query.body import QuestionBody, RehearsalBody
from discreet.server.features.synth.body import SynthBody
from discreet.tasks.anonymize import anonymize
from discreet.tasks.audit import audit
from discreet.tasks.learn import learn
from discreet.tasks.synthesize import synthesize

LOCAL = {"options"}
"""Settings of a method are for whoever runs the curator."""
SYNTHESIZED_UNDER = {"unit", "max_rows", "neighbours"}
"""What a file or a frame is declared with."""
FUNCTIONS = [
    (Curator.query, QuestionAsked, set(ASKED)),
    (Client.query, QuestionAsked, set(ASKED)),
    (Request.of, QuestionAsked, set(ASKED)),
    (Curator.explain, QuestionAsked, set(EXPLAINED)),
    (Client.explain, QuestionAsked, set(EXPLAINED)),
    (Curator.rehearse, QuestionAsked, set(REHEARSED)),
    (Client.rehearse, QuestionAsked, set(REHEARSED)),
    (Curator.synthesize, SynthAsked, set(asked_fields(SynthAsked))),
    (Client.synthesize, SynthAsked, set(asked_fields(SynthAsked)) - LOCAL),
    (Curator.synthesize_linked, SynthAsked, (set(LINKED) - {"table"}) | {"dataset"}),
    (Curator.bounds, BoundsAsked, set(asked_fields(BoundsAsked))),
    (trade, BoundsAsked, set(asked_fields(BoundsAsked)) | {"curator"}),
    (Curator.learn, LearnAsked, set(asked_fields(LearnAsked)) - {"task"}),
    (Curator.regress, LearnAsked, set(REGRESSED)),
    (Curator.recommend, RecommendAsked, set(asked_fields(RecommendAsked))),
    (Curator.select, SelectAsked, set(asked_fields(SelectAsked))),
    (Curator.test_model, TestAsked, set(asked_fields(TestAsked)) | {"model"}),
    (TestRequest.of, TestAsked, set(asked_fields(TestAsked))),
    (Curator.anonymize, AnonymizeAsked, set(asked_fields(AnonymizeAsked)) | {"table"}),
    (
        anonymize,
        AnonymizeAsked,
        set(asked_fields(AnonymizeAsked)) | {"source", "out", "report", "config"},
    ),
    (
        synthesize,
        SynthAsked,
        set(asked_fields(SynthAsked)) - {"table"} | {"data", "columns", *SYNTHESIZED_UNDER},
    ),
    (
        learn,
        LearnAsked,
        set(asked_fields(LearnAsked)) - {"table", "task"} | {"source", "config", "unit", "accept"},
    ),
    (audit, AuditAsked, set(asked_fields(AuditAsked))),
]
BESIDE = {"self", "cls", "progress"}
BODIES = [
    (QuestionBody, QuestionAsked, {"seed"}, set()),
    (RehearsalBody, QuestionAsked, set(asked_fields(QuestionAsked)) - set(REHEARSED), set()),
    (SynthBody, SynthAsked, LOCAL, {"target"}),
    (TrainBody, LearnAsked, {"task", "choose"}, set()),
    (ChoiceBody, SelectAsked, set(), set()),
    (RecommenderBody, RecommendAsked, set(), set()),
    (BoundsBody, BoundsAsked, set(), set()),
    (AnonymizeBody, AnonymizeAsked, {"c", "weights", "missing"}, {"table"}),
]
"""Bodies, fields of the request that are not sent, and fields that are none of the request's."""
COMMANDS = [
    (("query",), QuestionAsked, {"sql"}),
    (("synth",), SynthAsked, {"table"}),
    (("anonymize",), AnonymizeAsked, set()),
    (("audit",), AuditAsked, {"target"}),
    (("learn", "classify"), LearnAsked, {"table", "task"}),
    (("learn", "select"), SelectAsked, {"table"}),
    (("learn", "recommend"), RecommendAsked, {"table"}),
    (("learn", "regress"), LearnAsked, {"table", "task", "choose", "rows"}),
]


def disagreement(function, request, names):
    """Return what a function has otherwise than the request: names, and defaults that are not its."""
    found = {
        name: each.default
        for name, each in inspect.signature(function).parameters.items()
        if name not in BESIDE
    }
    fields = {name: each for name, each in asked_fields(request).items() if name in names}
    others = found.keys() ^ names
    given = {name for name, value in found.items() if value is not inspect.Parameter.empty}
    given &= fields.keys()
    return others | {name for name in given - others if found[name] != fields[name].default}


@pytest.mark.parametrize(("function", "request_", "names"), FUNCTIONS)
def test_a_function_has_the_fields_and_their_defaults(function, request_, names):
    assert disagreement(function, request_, names) == set()


def test_a_field_in_one_place_only_is_seen():
    wider = make_dataclass(
        "Wider",
        [("colour", str, asked(FieldKind.TEXT, "Of the copy.", "red"))],
        bases=(SynthAsked,),
        kw_only=True,
        frozen=True,
    )
    names = set(asked_fields(wider))
    assert disagreement(Curator.synthesize, wider, names) == {"colour"}
    body = body_of(wider)
    assert body(table="t", epsilon="1").colour == "red"

    @dataclass(frozen=True, kw_only=True)
    class Other(SynthAsked):
        bins: str = field(
            default="equal", metadata=SynthAsked.__dataclass_fields__["bins"].metadata
        )

    assert disagreement(Curator.synthesize, Other, set(asked_fields(Other))) == {"bins"}


@pytest.mark.parametrize(("body", "request_", "kept", "more"), BODIES)
def test_a_body_has_the_fields_that_are_sent(body, request_, kept, more):
    shown = set(asked_fields(request_)) - kept
    assert set(body.model_fields) == shown | more
    schema = body.model_json_schema()["properties"]
    own = {"hierarchies"}  # a folder for a command, texts for a body
    words = {name: each.help for name, each in asked_fields(request_).items()}
    for name in shown - own:
        assert schema[name]["description"] == words[name]
    assert schema.keys() == body.model_fields.keys()


@pytest.mark.parametrize(("name", "request_", "left"), COMMANDS)
def test_a_command_has_the_fields_as_options(name, request_, left):
    command = command_of(name[0])
    for word in name[1:]:
        command = command.commands[word]
    options = {option.name: option for option in command.params}
    for field_name, each in asked_fields(request_).items():
        if field_name in left:
            assert field_name not in options or field_name in {
                "sql",
                "target",
            }  # an argument, with that help
            continue
        option = options[field_name]
        spelled = each.option or f"--{field_name.replace('_', '-')}"
        assert option.opts == [spelled]
        assert option.help == each.help or name == ("learn", "regress")


@dataclass(frozen=True, kw_only=True)
class Toy:
    """One of each kind."""

    word: str = asked(FieldKind.TEXT, "A word.", longest=3)
    price: str | None = asked(FieldKind.AMOUNT, "A price.", None)
    many: tuple = asked(FieldKind.TEXTS, "Words.", (), longest=3, many=2)
    rules: tuple = asked(FieldKind.TEXTS, "Rules.", (), option="--rule", repeated=True)
    loud: bool = asked(FieldKind.FLAG, "Loud.", False)
    share: float = asked(FieldKind.NUMBER, "A share.", 0.5, above=0, most=1)
    settings: dict | None = asked(  # noqa: RUF009  # a field
        FieldKind.SETTINGS, "Settings.", None, option="--set", sent=False
    )


def test_one_dataclass_is_command_body_and_wire(capsys):
    seen = {}

    @with_options(Toy, share={"default": 0.25})
    def command(place: str, *, out: str = "here", **asked_for):
        seen.update(asked_for, place=place, out=out)

    app = typer.Typer()
    app.command()(command)
    words = [
        "there",
        "--word",
        "abc",
        "--many",
        "a,b",
        "--rule",
        "x",
        "--rule",
        "y,z",
        "--loud",
        "--set",
        "n=1",
        "--set",
        "m=q",
    ]
    get_command(app).main(words, standalone_mode=False)
    assert seen == {
        "place": "there",
        "out": "here",
        "word": "abc",
        "price": None,
        "many": ["a", "b"],
        "rules": ["x", "y,z"],
        "loud": True,
        "share": 0.25,
        "settings": {"n": 1, "m": "q"},
    }
    body = body_of(Toy)
    assert body(word="abc", share=1).given(Toy)["share"] == 1.0
    wrong = ({"word": "abcd"}, {"share": 0}, {"share": 1.5}, {"many": ["a"] * 3}, {"loud": "yes"})
    for each in (*wrong, {"settings": {}}, {"price": True}, {}):
        with pytest.raises(ValueError, match="validation error"):
            body(**({"word": "a"} if each and "word" not in each else {}) | each)
    assert sent(Toy(word="a", price=Epsilon.of("0.1"), many=("x",))) == {
        "word": "a",
        "price": "1/10",
        "many": ["x"],
    }
