"""What `max_rows` leaves out: a small paid look at the rows of people, and the trade that it shows.

`release.pipeline` reads what was paid for; the curator asks.

Imported by: api, release.
"""
