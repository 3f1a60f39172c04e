"""All of Spark: its engine, the Java process behind it, sources and stored copies.

Opened by `engine.connect`; its driver is an extra.

Imported by: data/engines.
"""
