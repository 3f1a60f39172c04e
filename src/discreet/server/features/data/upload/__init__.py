"""Bytes from a browser to one clean Parquet file: received, examined, kept or refused.

Only features/data imports from here.
"""
