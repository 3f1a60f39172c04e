"""Every construct that is declined, and the sentence it is declined with."""

from __future__ import annotations

from discreet.errors import QueryRefused

SENTENCES: dict[str, tuple[str, str]] = {
    "not a select": (
        "Only SELECT statements can be asked.",
        "The data cannot be changed or listed through Discreet.",
    ),
    "several statements": ("One statement at a time, please.", "Ask the questions one by one."),
    "syntax": ("This is not valid SQL.", "Check the spelling near {where}."),
    "no from": ("The question names no table.", "Add FROM and one of: {tables}."),
    "raw rows": (
        "'{what}' would show single rows.",
        "Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.",
    ),
    "no aggregate": (
        "The question has no aggregate, so its answer would be rows.",
        "Ask for COUNT(*), SUM(x), AVG(x), MEDIAN(x) and the like.",
    ),
    "function": (
        "The function {what} is not on the list of functions that are safe on private data.",
        "See the list in docs/sql.md; functions that can fail on some value are never run.",
    ),
    "afterwards": (
        "{what} is not on the list of what may be done with results.",
        "See the list in docs/sql.md, or work on the answer yourself: it may be used freely.",
    ),
    "distinct quantile": (
        "{what} of DISTINCT values is not supported: each row counts, also where its value repeats.",
        "Leave DISTINCT out, or ask WITH v AS (SELECT x, COUNT(*) AS n ... GROUP BY x) SELECT {what}(x) FROM v WHERE n > 10.",
    ),
    "formatted": (
        "{what} is declined: a date is written with year, month, day and their names only.",
        "Use STRFTIME(day, '%Y-%m-%d'), TO_CHAR(day, 'YYYY-MM') or DATE_TRUNC('month', day).",
    ),
    "sample": (
        "TABLESAMPLE is declined: a sample drawn by the database does not protect anybody.",
        "Leave it out; the noise does not get smaller by sampling.",
    ),
    "window": (
        "A window over rows of people is declined: one row can change every other row's value.",
        "Use it over aggregates, such as RANK() OVER (ORDER BY COUNT(*)) beside GROUP BY.",
    ),
    "set operation": (
        "UNION, INTERSECT and EXCEPT of rows of people are declined.",
        "Use them between questions that aggregate; disjoint ones are billed only once.",
    ),
    "subquery": (
        "This subquery inside a condition is declined, because it mixes different people's rows.",
        "Use person IN (SELECT person ...) or EXISTS on the person, or ask the inner question first.",
    ),
    "join kind": ("{what} joins are declined.", "Use JOIN or LEFT JOIN with a public table."),
    "join condition": (
        "A join needs equal columns: {what}.",
        "Write ON a.key = b.key; put conditions on the left side into WHERE.",
    ),
    "row join": (
        "Two tables whose rows each stand for another person cannot be joined.",
        "Declare a person column as the unit of both tables, then join on it.",
    ),
    "other unit": (
        "'{what}' is not the column that names the person here.",
        "The owner declared {unit}; leave privacy_unit_column out.",
    ),
    "two datasets": (
        "A question can read one dataset at a time, and public tables.",
        "Put tables of the same people into one dataset.",
    ),
    "public only": (
        "This question reads public tables only, so it needs no privacy budget.",
        "Read them directly; they are not secret.",
    ),
    "nested aggregate": (
        "An aggregate of an aggregate is only possible through a subquery grouped by the person.",
        "SELECT AVG(n) FROM (SELECT {unit}, COUNT(*) AS n FROM t GROUP BY {unit}).",
    ),
    "subquery group": (
        "A subquery may only group by the column that names the person.",
        "Add {unit} to its GROUP BY, and leave HAVING, ORDER BY and LIMIT to the outer question.",
    ),
    "distinct": (
        "DISTINCT is declined here: rows of people are counted, not listed.",
        "Use SELECT DISTINCT of keys on the outside, or COUNT(DISTINCT x).",
    ),
    "private key": (
        "'{what}' has no declared list of values: its groups need a threshold, and that needs delta.",
        "Declare its values, or give the dataset a delta such as 1e-9.",
    ),
    "max_rows": (
        "One person can have any number of rows in '{what}', so nothing bounds their influence.",
        "Set max_rows for the table in discreet.toml: at most that many rows of a person count.",
    ),
    "order": (
        "ORDER BY can only use what the question returns or aggregates.",
        "Name {what} in it.",
    ),
    "identifier": (
        "'{what}' identifies people or things; it can be joined on or counted, not read.",
        "Use COUNT(DISTINCT {what}).",
    ),
    "time of day": (
        "Only a column that is declared as a timestamp has a time of day.",
        "Compare with a date such as '2024-05-01', or take the hour of the column itself.",
    ),
    "too large": (
        "{what}, more than can be planned.",
        "Ask for less at once, or in steps: an answer that was paid for costs nothing again.",
    ),
    "long text": (
        "A text here may become {what} letters long, more than any row may take.",
        "Cut it first, as in LEFT(x, 200), or replace and put together less of it.",
    ),
    "too wide": (
        "This expression can become too large to be computed exactly on its way.",
        "Narrow the range with LEAST or WHERE, or use a coarser step.",
    ),
    "clause": ("{what} is not supported.", "Leave it out."),
    "star": ("SELECT * would show single rows.", "Ask for aggregates, such as COUNT(*)."),
    "within": (
        "An error can only be asked for when it is known beforehand: for COUNT and SUM.",
        "Give --epsilon instead, and look at --explain first.",
    ),
    "within percent": (
        "A percentage needs the size of the answer, which is not known before it is paid for.",
        "Ask for an absolute error, or ask the same question first with a small epsilon.",
    ),
    "too many keys": (
        "The groups would be {what} in number, more than 1,000,000.",
        "Group by fewer columns, or restrict them with WHERE.",
    ),
}


def refusal(construct: str, **facts: str) -> QueryRefused:
    """Return the refusal of `construct`, its sentence filled in with public facts."""
    message, hint = SENTENCES[construct]
    return QueryRefused(message.format(**facts), hint=hint.format(**facts), construct=construct)


def too_large() -> QueryRefused:
    """Return the refusal of expressions that nobody could write out."""
    return refusal("too large", what="Written out, the expressions of this question are endless")
