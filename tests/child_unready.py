"""A child that gets nothing ready while it waits: what it would is heavy, and beside the point of a test."""

from discreet.server.jobs import child

main = child.main
child.get_ready = lambda _modules: None
