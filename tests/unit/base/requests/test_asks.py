"""A method made by `@asks` is called, shown and refused like one that spells its arguments out."""

from __future__ import annotations

import inspect
import pydoc
from dataclasses import replace

import pytest

import discreet
from discreet.base.display import Progress, silent
from discreet.base.requests.fields import (
    FieldKind,
    WithProgress,
    asked,
    asks,
    asks_function,
    given,
    request_fields,
    schema,
    sent,
)
from discreet.base.requests.paid import QueryFields
from discreet.base.requests.unpaid import AnonymizeFields
from discreet.curator import Curator
from discreet.curator.client.client import RemoteAnonymizeCall
from discreet.tasks.learn import LearnFileCall, learn
from discreet.tasks.synthesize import SynthFrameCall


@schema
class ToyFields:
    place: str = asked(FieldKind.TEXT, "Where.", kw_only=False)
    often: int = asked(FieldKind.WHOLE, "How often.", default=1)


@schema
class ToyCall(WithProgress, ToyFields):
    """A toy that tells."""


class Toy:
    """One method written by the fields, and one by hand that must look the same."""

    @asks(ToyCall)
    def look(self, asked: ToyCall) -> tuple[str, int]:
        """Look there."""
        asked.progress(1, 1, asked.place)
        return asked.place, asked.often

    def by_hand(
        self, place: str, *, often: int = 1, progress: Progress = silent
    ) -> tuple[str, int]:
        """Look there."""


@asks_function(ToyFields)
def look(asked: ToyFields) -> str:
    """Look there."""
    return asked.place


def test_it_is_called_like_any_method():
    told = []
    toy = Toy()
    assert toy.look("here") == ("here", 1)
    assert toy.look(place="here", often=3, progress=lambda *step: told.append(step)) == ("here", 3)
    assert Toy.look(toy, "here") == ("here", 1)
    assert told == [(1, 1, "here")]
    assert look("there") == "there"


def test_it_is_shown_like_one_that_is_written_out():
    assert inspect.signature(Toy.look) == inspect.signature(Toy.by_hand)
    assert [*inspect.signature(Toy().look).parameters] == ["place", "often", "progress"]
    assert str(inspect.signature(look)) == "(place: 'str', *, often: 'int' = 1) -> 'str'"
    assert (Toy.look.__name__, Toy.look.__qualname__) == ("look", "Toy.look")
    assert Toy.look.__module__ == look.__module__ == __name__
    assert look.__annotations__ == {"place": "str", "often": "int", "return": "str"}
    assert "asked.progress(1, 1" in inspect.getsource(Toy.look)


def test_help_lists_the_arguments_with_the_words_of_their_fields():
    assert look.__doc__ == "Look there.\n\nArguments:\n\n- `place`: Where.\n- `often`: How often."
    said = pydoc.plain(pydoc.render_doc(Curator.query))
    for name, each in request_fields(QueryFields).items():
        assert f"- `{name}`: {each.help}" in said
    assert "sql: 'str', *, epsilon: 'Number | Epsilon | None' = None" in said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Toy().look("a", colour=1), r"Toy.look\(\) got an unexpected keyword .*'colour'"),
        (lambda: Toy().look(), r"Toy.look\(\) missing a required argument: 'place'"),
        (lambda: Toy().look("a", 2), r"Toy.look\(\) too many positional arguments"),
        (lambda: look("a", colour=1), r"look\(\) got an unexpected keyword .*'colour'"),
        (lambda: Toy().look("a", place="b"), r"Toy.look\(\) multiple values for argument 'place'"),
        (lambda: Curator.query(None, "q", seed=1), r"Curator.query\(\) got .*'seed'"),
        (lambda: learn("f.csv", table="t", target="x", epsilon=1), r"learn\(\) got .*'table'"),
        (lambda: discreet.synthesize("f.csv"), r"synthesize\(\) missing .*: 'epsilon'"),
    ],
)
def test_a_wrong_argument_is_told_of_the_method(call, said):
    with pytest.raises(TypeError, match=rf"^{said}$"):
        call()


def test_an_error_inside_is_left_alone():
    @schema
    class Broken(ToyFields):
        def __post_init__(self):
            raise TypeError("not of the call")

    with pytest.raises(TypeError, match=r"^not of the call$"):
        asks_function(Broken)(lambda asked: asked)("here")


def test_an_argument_without_help_is_refused_when_it_is_written():
    class Silent(ToyFields):
        more: int = 1

    with pytest.raises(KeyError):

        @asks_function(schema(Silent))
        def broken(asked):
            """Look there."""


def test_what_stands_beside_is_neither_compared_nor_sent_nor_checked():
    words = {"table": "t", "k": 5, "quasi": ["age"]}
    one = RemoteAnonymizeCall(**words)
    other = RemoteAnonymizeCall(**words, progress=lambda *_: None)
    assert one == other
    assert hash(replace(one, quasi=())) == hash(replace(other, quasi=()))
    assert "progress" not in repr(other)
    assert sent(other) == words
    assert given(other).keys() == request_fields(AnonymizeFields).keys() | {"table"}
    frame = SynthFrameCall(object(), epsilon=1)
    file = LearnFileCall("f.csv", target="x", epsilon=1)
    for call, beside in ((frame, {"data", "table", "columns"}), (file, {"source", "table"})):
        assert not given(call).keys() & ({"progress", "unit"} | beside)


def test_what_is_paid_for_has_an_id_when_it_is_sent():
    first, second = (sent(QueryFields("q", epsilon="1"))["request_id"] for _ in range(2))
    assert first != second
    assert sent(QueryFields("q", epsilon="1", request_id="mine"))["request_id"] == "mine"
    assert sent(ToyFields("here")) == {"place": "here"}
