"""Tables of lakes (Delta) and of object stores (S3, Google, Azure), as files that an engine can read.

Imported by: engine, engine/duckdb, engine/spark.
"""
