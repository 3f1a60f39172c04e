"""Bytes from a browser to one clean Parquet file: received, examined, kept or refused.

Imported by: server/features/data, server/features/data/review.
"""
