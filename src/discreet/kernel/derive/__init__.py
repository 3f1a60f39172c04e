"""What one unit can do to the result of a statement, derived bottom-up over the final SQL.

Whoever renders for the kernel reads its vocabulary.

Imported by: kernel, learn, plan, publish, release, sql, synth.
"""
