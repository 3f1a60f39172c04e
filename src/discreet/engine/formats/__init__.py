"""Files in other formats than plain CSV and Parquet: recognised, opened, rewritten as plain CSV.

What a file's rows say never decides how it is read.

Imported by: attack, catalog, engine, engine/duckdb, engine/spark, learn, server.
"""
