"""How an answer is shown: as a table in text or HTML, and as a chart."""
