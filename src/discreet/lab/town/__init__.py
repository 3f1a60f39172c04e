"""The made-up town and UCI Adult: data to try everything on.

Imported by: cli, lab/attacks, lab/course.
"""

from discreet.lab.town.benchmark_tables import adult, adult_csv, bench_table
from discreet.lab.town.town_files import TABLES, Town, town

__all__ = ["TABLES", "Town", "adult", "adult_csv", "bench_table", "town"]
