"""The methods of synthesis, one file each, and their registry.

synth/run and reports import the registry.
"""
