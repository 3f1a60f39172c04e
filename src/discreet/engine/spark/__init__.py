"""Spark, for data that outgrows one machine.

Reached through `engine.connect`; its driver is an extra.
"""
