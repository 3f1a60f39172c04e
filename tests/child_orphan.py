"""A child with a mistake, started by its name as the product starts its own.

This one does not notice the end of its server.
"""

from discreet.server.jobs import child

main = child.main
child.end_with_parent = lambda wire: None
