"""Notebooks: questions that were saved with their answers, beside text; shared if their author wants."""
