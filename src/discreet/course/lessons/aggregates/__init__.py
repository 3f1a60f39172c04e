"""The lesson 'aggregates': why exact totals fail."""
