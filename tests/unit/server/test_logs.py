import json
import logging

from discreet.server.logs import JsonLines, Metrics


def test_the_text_of_an_exception_is_left_out():
    facts = (ValueError, ValueError("cell seventy-seven"), None)
    record = logging.LogRecord("x", 40, "", 1, "it %s", ("failed",), facts)
    line = JsonLines().format(record)
    assert "seventy" not in line
    found = json.loads(line)
    assert found["event"] == "it failed"
    assert found["error"] == "ValueError"
    assert found["level"] == "error"


def test_metrics_count_by_route_and_time():
    metrics = Metrics()
    metrics.count("GET", "/a", 200, 0.004)
    metrics.count("GET", "/a", 200, 0.2)
    metrics.count("POST", "/b", 500, 100)
    text = metrics.text(waiting=2, running=1, budgets={'a "b"': 0.25})
    assert 'discreet_requests_total{method="GET",route="/a",status="200"} 2' in text
    assert 'discreet_request_seconds_bucket{le="0.005"} 1' in text
    assert 'discreet_request_seconds_bucket{le="0.25"} 2' in text
    assert 'discreet_request_seconds_bucket{le="+Inf"} 3' in text
    assert 'discreet_questions{state="queued"} 2' in text
    assert 'discreet_budget_used_ratio{budget="a \\"b\\""} 0.25' in text
