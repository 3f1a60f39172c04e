"""Files in other formats than plain CSV and Parquet: recognised, opened, rewritten as plain CSV.

Engines and whoever takes files in import from here; what a file's rows say never decides how it is read.
"""
