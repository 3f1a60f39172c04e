"""The methods of synthesis, one file each, and their registry.

Imported by: api, attack, cli, server, synth, synth/linked, work/synth/report, tasks.
"""
