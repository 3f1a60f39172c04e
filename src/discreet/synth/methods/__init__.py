"""The methods of synthesis, one file each, and their registry.

Imported by: attack, cli, server, synth, synth/linked, synth/report.
"""
