"""The release pipeline: request, plan, price, charge, read, noise, answer.

Imported by: api, learn, publish, synth.
"""
