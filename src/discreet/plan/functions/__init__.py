"""Scalar functions of a plan, one row each: those of the kernel, and those that no engine knows by name.

The registry has them all.

Imported by: plan, plan/piecewise, publish, release, sql, synth.
"""
