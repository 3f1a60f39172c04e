"""A process that runs children until it is killed: python child_server.py STATE MODULE WHERE ...

For each MODULE one child is started that hangs, and writes its numbers into the file WHERE.
"""

import sys
import threading
from pathlib import Path

from discreet.server.jobs.children import ChildLimits, Children
from discreet.server.jobs.queue import Job


def main():
    state, *rest = sys.argv[1:]
    for module, where in zip(rest[::2], rest[1::2], strict=True):
        children = Children(Path(state), ChildLimits(0, 1000.0), module=module)
        job = Job("a", lambda _: None, "")
        named = {"args": [job, "child_tasks:hang", {"where": where}]}
        threading.Thread(target=children.run, **named).start()


if __name__ == "__main__":
    main()
