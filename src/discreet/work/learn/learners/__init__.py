"""Learners by name: one file each with its `fit`, and what the neural network is made of.

Imported by: cli, curator, server, tasks, work/learn.
"""
