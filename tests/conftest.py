"""Options and shared words of all tests."""

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slower machine is no failure: an example may take as long as it takes.
settings.register_profile("discreet", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("discreet")

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Tests start hundreds of processes: each would compile every module anew.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) is not None:
    kept = Path(tempfile.gettempdir()) / f"discreet-bytecode-{os.getuid()}"
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(kept))

# Java compiles what tests run a few times at length for speed that comes too late: half of Spark's time.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


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
        "test_another_path_to_people_is_another_copy",
        "test_cancel_stops_a_running_query",
        "test_class_sizes_are_those_of_the_rows",
        "test_codes_and_marginals_are_the_same_everywhere",
        "test_copies_of_linked_tables_come_from_every_engine",
        "test_curves_are_the_same_whole_numbers_and_near_the_function",
        "test_errors_on_other_engines",
        "test_every_engine_counts_alike",
        "test_every_probe_of_the_lockdown_is_closed",
        "test_every_row_reaches_the_people_of_its_order_and_nobody_else",
        "test_learning_sees_the_same_rows_everywhere",
        "test_no_error_carries_a_cell",
        "test_the_owner_sees_what_declarations_do_to_rows_over_a_path",
        "test_threads_may_ask_at_the_same_time",
        "test_times_that_are_written_as_texts",
        "test_what_cannot_be_interrupted_is_killed_and_loses_no_table",
    }
)


# Once JAX is loaded a process must not fork, and many tests here do: those that load it run apart.
_LOADS_JAX = re.compile(r"test_rap|\brap(\b|_)")


def pytest_ignore_collect(collection_path, config):
    """Leave out what would only load JAX, in every worker, to be deselected."""
    if "not jax" in config.option.markexpr and collection_path.name.startswith("test_rap"):
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    had = sys.modules.get("jax") is not None
    result = yield
    loaded = sys.modules.get("jax") is not None and not had
    assert not loaded or item.get_closest_marker("jax"), "mark this test: it loads JAX"
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if _LOADS_JAX.search(item.nodeid):
            item.add_marker(pytest.mark.jax)
        spark = item.get_closest_marker("spark")
        if spark and item.originalname in SLOW_ON_SPARK:
            item.add_marker(pytest.mark.slow)
    yield
    if "PYTEST_XDIST_WORKER" in os.environ:
        from turns import turn

        items.sort(key=lambda item: turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from turns import Turns  # xdist need not be there

    return Turns(config, log) if config.option.dist == "loadfile" else None
