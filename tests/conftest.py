"""Options and shared words of all tests."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slower machine is no failure: an example may take as long as it takes.
settings.register_profile("discreet", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("discreet")

sys.path.insert(0, str(Path(__file__).resolve().parent))


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite tests/golden/*.sql; read the difference like code",
    )


# On Spark these restart the JVM or ask hundreds of times: minutes each, so with the full counts.
SLOW_ON_SPARK = frozenset(
    {
        "test_a_copy_of_odd_cells_keeps_every_row",
        "test_a_long_query_is_stopped_and_the_next_one_works",
        "test_a_memory_bomb_is_stopped",
        "test_cancel_stops_a_running_query",
        "test_class_sizes_are_those_of_the_rows",
        "test_codes_and_marginals_are_the_same_everywhere",
        "test_errors_on_other_engines",
        "test_every_probe_of_the_lockdown_is_closed",
        "test_learning_sees_the_same_rows_everywhere",
        "test_no_error_carries_a_cell",
        "test_threads_may_ask_at_the_same_time",
        "test_what_cannot_be_interrupted_is_killed_and_loses_no_table",
    }
)


# Once JAX is loaded a process must not fork, and many tests here do: those that load it run apart.
_LOADS_JAX = re.compile(r"test_rap|\brap(\b|_)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    had = "jax" in sys.modules
    result = yield
    loaded = "jax" in sys.modules and not had
    assert not loaded or item.get_closest_marker("jax"), "mark this test: it loads JAX"
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if _LOADS_JAX.search(item.nodeid):
            item.add_marker(pytest.mark.jax)
        if item.get_closest_marker("spark") and item.originalname in SLOW_ON_SPARK:
            item.add_marker(pytest.mark.slow)
