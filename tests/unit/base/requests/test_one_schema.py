"""A request is the only schema: commands, bodies, client and curator have its fields, no more and no fewer."""

import inspect
from dataclasses import dataclass, field, make_dataclass

import pytest
import typer
from typer.main import get_command

from discreet.anonymize import registry as costs
from discreet.anonymize import registry as criteria
from discreet.anonymize.run import AnonymizeRequest
from discreet.ask.release.bounds_trade import BoundsRequest
from discreet.ask.release.desk import Request
from discreet.base.numbers import Epsilon
from discreet.base.requests.fields import (
    FieldKind,
    asked,
    checked,
    checked_value,
    request_fields,
    sent,
)
from discreet.base.requests.paid import (
    BoundsFields,
    ExplainFields,
    LearnFields,
    LinkedFields,
    LocalLearnFields,
    LocalSynthFields,
    LookFields,
    PackageFields,
    PublishFields,
    QueryFields,
    QuestionFields,
    RecommendFields,
    RegressFields,
    RehearseFields,
    ScheduleFields,
    SelectFields,
    SynthFields,
    TotalsFields,
)
from discreet.base.requests.server import ClassFields, ServeFields, TokenFields
from discreet.base.requests.unpaid import (
    AnonymizeFields,
    AuditFields,
    EstimateFields,
    InitFields,
    LocalAnonymizeFields,
    ReviewFields,
)
from discreet.cli.app import command_of
from discreet.cli.command import with_options
from discreet.curator import Curator
from discreet.curator.client import Client
from discreet.data.catalog.proposal import InitRequest
from discreet.errors import InvalidInput
from discreet.server.access.sign_in import TokenBody
from discreet.server.bodies import body_of
from discreet.server.features.anonymize.pages import AnonymizeBody
from discreet.server.features.course.pages import ClassBody
from discreet.server.features.data.manage import BoundsBody
from discreet.server.features.learn.pages import ChoiceBody, RecommenderBody, TrainBody
from discreet.server.features.query.pages import QuestionBody, RehearsalBody
from discreet.server.features.survey.pages import EstimateBody
from discreet.server.features.synth.pages import SynthBody
from discreet.server.pgwire.options import OURS, QuestionOptions, value_of
from discreet.survey.results import EstimateRequest
from discreet.tasks.anonymize import anonymize
from discreet.tasks.attack import audit
from discreet.tasks.init import init
from discreet.tasks.learn import learn
from discreet.tasks.publish import publish
from discreet.tasks.review import ReviewRequest, review
from discreet.tasks.schedule import QuestionLine
from discreet.tasks.synthesize import synthesize
from discreet.work.learn.evaluation import TestRequest
from discreet.work.learn.learners import registry
from discreet.work.learn.recommender import RecommendRequest
from discreet.work.learn.select import SelectRequest
from discreet.work.learn.training_plan import LearnRequest
from discreet.work.publish.totals import TotalsRequest
from discreet.work.synth.methods import registry as methods
from discreet.work.synth.prepare import SynthRequest


def more(local, sent_):
    """Return the fields that only whoever runs the curator can give."""
    return set(request_fields(local)) - set(request_fields(sent_))


SYNTHESIZED_UNDER = {"unit", "accept", "max_rows", "neighbours"}
"""What a file or a frame is declared with."""
FUNCTIONS = [
    (Curator.query, QueryFields, set()),
    (Client.query, QueryFields, set()),
    (Curator.explain, ExplainFields, set()),
    (Client.explain, ExplainFields, set()),
    (Curator.rehearse, RehearseFields, set()),
    (Client.rehearse, RehearseFields, set()),
    (Curator.synthesize, LocalSynthFields, set()),
    (Client.synthesize, SynthFields, set()),
    (Curator.synthesize_linked, LinkedFields, set()),
    (Curator.bounds, BoundsFields, set()),
    (Client.bounds, BoundsFields, set()),
    (Curator.learn, LocalLearnFields, set()),
    (Client.learn, LearnFields, set()),
    (Curator.regress, RegressFields, set()),
    (Curator.recommend, RecommendFields, set()),
    (Client.recommend, RecommendFields, set()),
    (Curator.select, SelectFields, set()),
    (Client.select, SelectFields, set()),
    (Curator.test_model, LookFields, {"model"}),
    (Curator.anonymize, LocalAnonymizeFields, {"table"}),
    (Client.anonymize, AnonymizeFields, {"table"}),
    (init, InitFields, set()),
    (review, ReviewFields, set()),
    (anonymize, LocalAnonymizeFields, {"source", "out", "report"}),
    (synthesize, LocalSynthFields, {"data", "columns", *SYNTHESIZED_UNDER}),
    (learn, LocalLearnFields, {"source", "unit", "accept"}),
    (audit, AuditFields, set()),
    (publish, PublishFields, {"spec"}),
    (Curator.publish, PublishFields, {"spec"}),
    (Client.publish, PackageFields, {"spec"}),
]
"""Functions, what they are asked with, and their arguments beside it."""
OF_FILES = {synthesize, learn}
"""What they are given has no name of a table yet."""
CHECKED = [
    (TestRequest, LookFields),
    (Request, QuestionFields),
    (QuestionOptions, QuestionFields),
    (BoundsRequest, BoundsFields),
    (InitRequest, InitFields),
    (ReviewRequest, ReviewFields),
    (EstimateRequest, EstimateFields),
    (SynthRequest, LocalSynthFields),
    (LearnRequest, LocalLearnFields),
    (SelectRequest, SelectFields),
    (RecommendRequest, RecommendFields),
    (AnonymizeRequest, LocalAnonymizeFields),
    (TotalsRequest, TotalsFields),
]
BESIDE = {"self", "cls", "progress", "files", "config"}
BODIES = [
    (QuestionBody, QuestionFields, {"seed"}, set()),
    (RehearsalBody, RehearseFields, set(), set()),
    (SynthBody, LocalSynthFields, more(LocalSynthFields, SynthFields), {"target"}),
    (TrainBody, LocalLearnFields, more(LocalLearnFields, LearnFields), set()),
    (ChoiceBody, SelectFields, set(), set()),
    (TokenBody, TokenFields, set(), set()),
    (ClassBody, ClassFields, set(), {"dataset"}),
    (EstimateBody, EstimateFields, {"candidates"}, {"candidates"}),
    (RecommenderBody, RecommendFields, set(), set()),
    (BoundsBody, BoundsFields, set(), set()),
    (AnonymizeBody, LocalAnonymizeFields, more(LocalAnonymizeFields, AnonymizeFields), {"table"}),
]
"""Bodies, fields of the request that are not sent, and fields that are none of the request's."""
COMMANDS = [
    (("query",), QuestionFields, {"sql"}),
    (("synth",), LocalSynthFields, {"table"}),
    (("anonymize",), LocalAnonymizeFields, set()),
    (("bounds",), BoundsFields, {"table"}),
    (("survey", "estimate"), EstimateFields, set()),
    (("survey", "rehearse"), EstimateFields, set()),
    (("token", "new"), TokenFields, set()),
    (("token", "new"), ClassFields, set()),
    (("serve",), ServeFields, set()),
    (("publish",), PublishFields, set()),
    (("init",), InitFields, set()),
    (("review",), ReviewFields, set()),
    (("audit",), AuditFields, {"target"}),
    (("learn", "classify"), LocalLearnFields, {"table"}),
    (("learn", "select"), SelectFields, {"table"}),
    (("learn", "recommend"), RecommendFields, {"table"}),
    (("learn", "regress"), RegressFields, {"table"}),
]


FILLED = {
    LocalSynthFields: methods.choices(),
    LocalLearnFields: registry.choices(),
    LocalAnonymizeFields: costs.cost_choices() | criteria.model_choices(),
}
"""What a registry fills into the fields of a request."""


def help_texts(request):
    """Return the help text of each field as it is shown."""
    filled = FILLED.get(request, {})
    return {
        name: filled.get(name, {}).get("help", each.help)
        for name, each in request_fields(request).items()
    }


def disagreement(function, request, names):
    """Return what a function has otherwise than the request: names, and defaults that are not its."""
    found = {
        name: each.default
        for name, each in inspect.signature(function).parameters.items()
        if name not in BESIDE
    }
    fields = {name: each for name, each in request_fields(request).items() if name in names}
    others = found.keys() ^ names
    given = {name for name, value in found.items() if value is not inspect.Parameter.empty}
    given &= fields.keys()
    return others | {name for name in given - others if found[name] != fields[name].default}


@pytest.mark.parametrize(("function", "request_", "beside"), FUNCTIONS)
def test_a_function_has_the_fields_and_their_defaults(function, request_, beside):
    names = set(request_fields(request_)) - ({"table"} if function in OF_FILES else set())
    assert disagreement(function, request_, names | beside) == set()


def fields_said_again(request, asked_for):
    """Return the fields of what is asked that a checked request writes anew."""
    assert issubclass(request, asked_for)
    return set(vars(request).get("__annotations__", {})) & set(request_fields(asked_for))


@pytest.mark.parametrize(("request_", "asked_for"), CHECKED)
def test_a_checked_request_has_the_fields_of_what_is_asked(request_, asked_for):
    assert fields_said_again(request_, asked_for) == set()

    @dataclass(frozen=True, kw_only=True)
    class Again(asked_for):
        epsilon: str = "1"

    assert "epsilon" not in request_fields(asked_for) or fields_said_again(Again, asked_for)


def test_settings_of_the_postgresql_endpoint_are_the_questions_fields():
    own = {"errors", "max_epsilon", "notices"}
    fields = request_fields(QuestionFields)
    assert all(OURS[name] == fields[name] for name in OURS.keys() - own)
    assert value_of("max_rows", str(fields["max_rows"].most)) == fields["max_rows"].most
    for wrong in (str(fields["max_rows"].most + 1), "0", "x", "1.5", "9" * 50, "٣"):
        with pytest.raises(InvalidInput, match=r"discreet\.max_rows must be a whole number from 1"):
            value_of("max_rows", wrong)


def test_a_line_of_a_schedule_has_the_questions_fields():
    assert set(QuestionLine.model_fields) == {
        "name",
        "every",
        "out",
        *request_fields(ScheduleFields),
    }
    written = {"name": "n", "every": "once", "out": "a.csv", "sql": "q", "epsilon": "1"}
    assert QuestionLine(**written, **{"as": "ann"}).asked()["analyst"] == "ann"
    with pytest.raises(ValueError, match="validation error"):
        QuestionLine(**written, max_rows="3")


def test_limits_are_said_once_for_all_front_ends():
    field_ = request_fields(QuestionFields)["max_rows"]
    assert [checked_value(field_, each) for each in (1, 10**9, None)] == [1, 10**9, None]
    for wrong in (0, 10**9 + 1, True, 1.0, "3"):
        with pytest.raises(InvalidInput, match="max_rows must be a whole number from 1 to"):
            checked_value(field_, wrong)
    with pytest.raises(InvalidInput, match="epsilon"):
        checked(SynthFields(table="t", epsilon=None))
    assert checked(SynthFields(table="t", epsilon="0.1"))["epsilon"] == Epsilon.of("0.1")


def test_a_field_in_one_place_only_is_seen():
    wider = make_dataclass(
        "Wider",
        [("colour", str, asked(FieldKind.TEXT, "Of the copy.", default="red"))],
        bases=(SynthFields,),
        kw_only=True,
        frozen=True,
    )
    names = set(request_fields(wider))
    assert disagreement(Client.synthesize, wider, names) == {"colour"}
    body = body_of(wider)
    assert body(table="t", epsilon="1").colour == "red"

    @dataclass(frozen=True, kw_only=True)
    class Other(SynthFields):
        bins: str = field(
            default="equal", metadata=SynthFields.__dataclass_fields__["bins"].metadata
        )

    assert disagreement(Client.synthesize, Other, set(request_fields(Other))) == {"bins"}


@pytest.mark.parametrize(("body", "request_", "kept", "more"), BODIES)
def test_a_body_has_the_fields_that_are_sent(body, request_, kept, more):
    shown = set(request_fields(request_)) - kept
    assert set(body.model_fields) == shown | more
    schema = body.model_json_schema()["properties"]
    own = {"hierarchies"}  # a folder for a command, texts for a body
    words = help_texts(request_)
    for name in shown - own:
        assert schema[name]["description"] == words[name]
    assert schema.keys() == body.model_fields.keys()


@pytest.mark.parametrize(("name", "request_", "left"), COMMANDS)
def test_a_command_has_the_fields_as_options(name, request_, left):
    command = command_of(name[0])
    for word in name[1:]:
        command = command.commands[word]
    options = {option.name: option for option in command.params}
    for field_name, each in request_fields(request_).items():
        if field_name in left:
            argument = options.get(field_name)
            assert argument is None or argument.param_type_name == "argument"
            continue
        option = options[field_name]
        spelled = each.option or f"--{field_name.replace('_', '-')}"
        assert option.opts == [spelled]
        assert option.help == help_texts(request_)[field_name] or name == ("learn", "regress")


@dataclass(frozen=True, kw_only=True)
class Toy:
    """One of each kind."""

    word: str = asked(FieldKind.TEXT, "A word.", longest=3)
    price: str | None = asked(FieldKind.AMOUNT, "A price.", default=None)
    many: tuple = asked(FieldKind.TEXTS, "Words.", default=(), longest=3, many=2)
    rules: tuple = asked(FieldKind.TEXTS, "Rules.", default=(), option="--rule", repeated=True)
    loud: bool = asked(FieldKind.FLAG, "Loud.", default=False)
    share: float = asked(FieldKind.NUMBER, "A share.", default=0.5, above=0, most=1)
    settings: dict | None = asked(  # noqa: RUF009  # a field
        FieldKind.SETTINGS, "Settings.", default=None, option="--set", sent=False
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
