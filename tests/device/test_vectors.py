"""The JavaScript device makes the very bytes that the Python one makes."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import MODULE, run_node

from discreet.survey.mechanisms import mechanisms
from discreet.survey.specification import QuestionKind
from vectors_kit import _survey, stored_vectors


def test_every_vector_byte_for_byte():
    vectors = stored_vectors()
    assert run_node("vectors.mjs", {"vectors": vectors}) == vectors["surveys"]


def test_prefixes_of_words_too():
    question = {"kind": "open", "mechanism": "prefix-tree", "rows": 64, "buckets": 64}
    survey = _survey("3", 0, {"word": question, "tiny": question})
    assert run_node("vectors.mjs", {"vectors": {"surveys": [survey]}}) == [survey]


def test_every_mechanism_that_a_survey_may_name_is_known_to_the_device():
    named = {name for kind in QuestionKind for name in mechanisms(kind)}
    text = (MODULE / "randomizers.js").read_text(encoding="utf-8")
    table = text.partition("const RANDOMIZERS = {")[2].partition("};")[0]
    known = set(re.findall(r'^  "?([a-z-]+)"?[:,]', table, re.MULTILINE))
    assert known == named
