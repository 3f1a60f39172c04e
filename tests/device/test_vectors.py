"""The JavaScript device makes the very bytes that the Python one makes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import run_node

from discreet.survey.device.vectors import stored_vectors


def test_every_vector_byte_for_byte():
    vectors = stored_vectors()
    assert run_node("vectors.mjs", {"vectors": vectors}) == vectors["surveys"]
