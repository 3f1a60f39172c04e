"""The methods of synthesis, one file each, and their registry.

Imported by: api, attack, cli, server, synth, synth/linked, synth/report, tasks.
"""
