"""Private marginals: sealed codes, exact counts in the engine, noise and paid choices.

Methods see rows only through here.

Imported by: attack, learn, synth, synth/linked, work/synth/methods, work/synth/models, work/synth/report, tasks.
"""
