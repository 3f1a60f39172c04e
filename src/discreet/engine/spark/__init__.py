"""All of Spark: its engine, the Java process behind it, sources and stored copies.

Reached through `engine.connect`; its driver is an extra.
"""
