"""Blocks of a report."""

import pytest

from discreet.errors import InternalError
from discreet.show import Document, Grid, Paragraph, Section


def test_a_document_is_a_frozen_value():
    document = Document("Title", "sub", None, (Section("One", (Paragraph("text"),)),))
    with pytest.raises(AttributeError):
        document.title = "other"


def test_a_grid_takes_any_sequences():
    grid = Grid.of(["a", "b"], [[1, "x"], [2, None]], "caption", shares=[0])
    assert grid.rows == ((1, "x"), (2, None))
    assert grid.shares == {0}


def test_a_grid_with_a_short_row_is_our_bug():
    with pytest.raises(InternalError):
        Grid.of(["a", "b"], [[1]], "caption")
