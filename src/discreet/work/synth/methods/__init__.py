"""The methods of synthesis, one file each, and their registry.

Imported by: cli, curator, lab, server, tasks, work/synth, work/synth/report.
"""
