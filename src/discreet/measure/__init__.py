"""Private marginals: sealed codes, exact counts in the engine, noise and paid choices.

Methods see rows only through here.

Imported by: lab, server, tasks, work.
"""
