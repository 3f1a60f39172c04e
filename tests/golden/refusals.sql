-- What is declined, and the sentence it is declined with.

DELETE FROM people
--> QueryRefused: Only SELECT statements can be asked.
--> The data cannot be changed or listed through Discreet.

DROP TABLE people
--> QueryRefused: Only SELECT statements can be asked.
--> The data cannot be changed or listed through Discreet.

SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people
--> QueryRefused: One statement at a time, please.
--> Ask the questions one by one.

SELEC COUNT(*) FROM people
--> QueryRefused: This is not valid SQL.
--> Check the spelling near line 1, column 12.

SELECT COUNT(*
--> QueryRefused: This is not valid SQL.
--> Check the spelling near line 1, column 14.

SELECT 1
--> QueryRefused: The question names no table.
--> Add FROM and one of: people, dwellings, areas, patients, visits, calls, wards, replies, members, forms.

SELECT * FROM people
--> QueryRefused: SELECT * would show single rows.
--> Ask for aggregates, such as COUNT(*).

SELECT MEDIAN(DISTINCT age) FROM people
--> QueryRefused: MEDIAN of DISTINCT values is not supported: each row counts, also where its value repeats.
--> Leave DISTINCT out, or ask WITH v AS (SELECT x, COUNT(*) AS n ... GROUP BY x) SELECT MEDIAN(x) FROM v WHERE n > 10.

SELECT sex, MEDIAN(DISTINCT age) FILTER (WHERE age > 3) FROM people GROUP BY sex
--> QueryRefused: MEDIAN of DISTINCT values is not supported: each row counts, also where its value repeats.
--> Leave DISTINCT out, or ask WITH v AS (SELECT x, COUNT(*) AS n ... GROUP BY x) SELECT MEDIAN(x) FROM v WHERE n > 10.

SELECT MODE(DISTINCT age) FROM people
--> QueryRefused: The function MODE is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT APPROX_QUANTILE(DISTINCT age, 0.5) FROM people
--> QueryRefused: The function DISTINCT is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT AVG(m) FROM (SELECT patient_id, MEDIAN(DISTINCT day) AS m FROM visits GROUP BY patient_id) AS t
--> QueryRefused: MEDIAN of DISTINCT values is not supported: each row counts, also where its value repeats.
--> Leave DISTINCT out, or ask WITH v AS (SELECT x, COUNT(*) AS n ... GROUP BY x) SELECT MEDIAN(x) FROM v WHERE n > 10.

SELECT age FROM people
--> QueryRefused: 'age' would show single rows.
--> Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.

SELECT age, COUNT(*) FROM people
--> QueryRefused: 'age' would show single rows.
--> Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.

SELECT sex, age, COUNT(*) FROM people GROUP BY sex
--> QueryRefused: 'age' would show single rows.
--> Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.

SELECT age > 5 FROM people
--> QueryRefused: 'age' would show single rows.
--> Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.

SELECT 5 FROM people
--> QueryRefused: The question has no aggregate, so its answer would be rows.
--> Ask for COUNT(*), SUM(x), AVG(x), MEDIAN(x) and the like.

SELECT DISTINCT sex FROM people
--> QueryRefused: DISTINCT is declined here: rows of people are counted, not listed.
--> Use SELECT DISTINCT of keys on the outside, or COUNT(DISTINCT x).

SELECT COUNT(*) FROM people TABLESAMPLE 10%
--> QueryRefused: TABLESAMPLE is declined: a sample drawn by the database does not protect anybody.
--> Leave it out; the noise does not get smaller by sampling.

SELECT COUNT(*) FROM people USING SAMPLE 10
--> QueryRefused: TABLESAMPLE is declined: a sample drawn by the database does not protect anybody.
--> Leave it out; the noise does not get smaller by sampling.

SELECT sex, COUNT(*) OVER () FROM people
--> QueryRefused: 'sex' would show single rows.
--> Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.

SELECT ROW_NUMBER() OVER (ORDER BY age) FROM people
--> QueryRefused: A window over rows of people is declined: one row can change every other row's value.
--> Use it over aggregates, such as RANK() OVER (ORDER BY COUNT(*)) beside GROUP BY.

SELECT COUNT(*) FROM people QUALIFY ROW_NUMBER() OVER (ORDER BY age) = 1
--> QueryRefused: QUALIFY is not supported.
--> Leave it out.

SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM people
--> QueryRefused: UNION, INTERSECT and EXCEPT of rows of people are declined.
--> Use them between questions that aggregate; disjoint ones are billed only once.

SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)
--> QueryRefused: This subquery inside a condition is declined, because it mixes different people's rows.
--> Use person IN (SELECT person ...) or EXISTS on the person, or ask the inner question first.

SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM areas)
--> QueryRefused: This question reads public tables only, so it needs no privacy budget.
--> Read them directly; they are not secret.

SELECT COUNT(*) FROM people WHERE zip IN (SELECT zip FROM areas)
--> QueryRefused: This question reads public tables only, so it needs no privacy budget.
--> Read them directly; they are not secret.

SELECT AVG(COUNT(*)) FROM people
--> QueryRefused: An aggregate of an aggregate is only possible through a subquery grouped by the person.
--> SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM t GROUP BY person).

SELECT SUM(age) FROM people WHERE COUNT(*) > 5
--> QueryRefused: An aggregate of an aggregate is only possible through a subquery grouped by the person.
--> SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM t GROUP BY person).

SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex)
--> QueryRefused: The function ROLLUP is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT sex, COUNT(*) FROM people GROUP BY CUBE (sex)
--> QueryRefused: The function CUBE is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT COUNT(*) FROM people GROUP BY COUNT(*)
--> QueryRefused: GROUP BY an aggregate is not supported.
--> Leave it out.

WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r
--> QueryRefused: WITH RECURSIVE is not supported.
--> Leave it out.

SELECT COUNT(*) INTO other FROM people
--> QueryRefused: SELECT INTO is not supported.
--> Leave it out.

SELECT STRING_AGG(sex, ',') FROM people
--> QueryRefused: The function GROUP_CONCAT is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT RANDOM() + COUNT(*) FROM people
--> QueryRefused: The function RAND is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT COUNT(*) FROM people WHERE md5(sex) = 'x'
--> QueryRefused: The function MD5 is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT COUNT(*) FROM read_csv('/etc/passwd')
--> QueryRefused: The function READ_CSV is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT COUNT(*) FROM 'people.parquet'
--> UnknownName: There is no table 'people.parquet'.
--> Did you mean 'people'?

SELECT pg_sleep(10), COUNT(*) FROM people
--> QueryRefused: The function PG_SLEEP is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT SUM(1 / (age - 30)) FROM people
--> QueryRefused: This expression can become too large to be summed exactly.
--> Narrow the declared bounds, or use a coarser step.

SELECT SUM(sex) FROM people
--> QueryRefused: This needs a number, but a column here is not one.
--> Use COUNT for categories, or compare them with a value.

SELECT AVG(born) FROM people
--> QueryRefused: This needs a number, but a column here is not one.
--> Use COUNT for categories, or compare them with a value.

SELECT MEDIAN(sex) FROM people
--> QueryRefused: This needs a number, but a column here is not one.
--> Use COUNT for categories, or compare them with a value.

SELECT SUM(code * code * code) FROM people
--> QueryRefused: This expression can become too large to be summed exactly.
--> Narrow the declared bounds, or use a coarser step.

SELECT VARIANCE(code * code) FROM people
--> QueryRefused: The squares of this expression can become too large to be summed exactly.
--> Narrow the declared bounds, or use a coarser step.

SELECT COUNT(*) FROM people WHERE serial = 5
--> QueryRefused: A comparison mixes an identifier and a number.
--> Use values of one type.

SELECT serial, COUNT(*) FROM people GROUP BY serial
--> QueryRefused: 'serial' identifies people or things; it can be joined on or counted, not read.
--> Use COUNT(DISTINCT serial).

SELECT COUNT(*) FROM people WHERE born > 5
--> QueryRefused: A comparison mixes a date and a number.
--> Use values of one type.

SELECT COUNT(*) FROM people WHERE code > 'many'
--> QueryRefused: A comparison mixes a category and a number.
--> Use values of one type.

SELECT nickname, COUNT(*) FROM people GROUP BY nickname
--> QueryRefused: 'nickname' has no declared list of values: its groups need a threshold, and that needs delta.
--> Declare its values, or give the dataset a delta such as 1e-9.

SELECT code, COUNT(*) FROM people GROUP BY code
--> QueryRefused: 'code' has no declared list of values: its groups need a threshold, and that needs delta.
--> Declare its values, or give the dataset a delta such as 1e-9.

SELECT age, code, COUNT(*) FROM people WHERE code < 10000 GROUP BY age, code
--> QueryRefused: The groups would be 1,210,000 in number, more than 1,000,000.
--> Group by fewer columns, or restrict them with WHERE.

SELECT COUNT(*) FROM folks
--> UnknownName: There is no table 'folks'.
--> Did you mean 'forms'?

SELECT COUNT(*) FROM people WHERE hight > 5
--> UnknownName: There is no column 'hight'.
--> There are: age, sex, region, income, debt, member, born, joined, balance, code, zip, shoe size.

SELECT COUNT(*) FROM people WHERE note = 'x'
--> UnknownName: There is no column 'note'.
--> There are: age, sex, region, income, debt, member, born, joined, balance, code, zip, shoe size.

SELECT COUNT(*) FROM people WHERE guess = 3
--> NotReviewed: Column 'guess' of table 'people' waits for the owner's review.
--> Its domain was read from the data. In discreet.toml check it against public knowledge, correct it, and remove 'review = true'.

SELECT COUNT(*) FROM people p JOIN areas a ON p.zip = a.zip WHERE zip = '10115'
--> UnknownName: Column 'zip' is in several tables.
--> Write p.zip or a.zip.

SELECT COUNT(*) FROM people p WHERE q.age > 5
--> UnknownName: There is no table or alias 'q' in this question.

SELECT COUNT(*) FROM people CROSS JOIN areas
--> QueryRefused: A join needs equal columns: none links areas to the other tables.
--> Write ON a.key = b.key; put conditions on the left side into WHERE.

SELECT COUNT(*) FROM people, areas
--> QueryRefused: A join needs equal columns: none links areas to the other tables.
--> Write ON a.key = b.key; put conditions on the left side into WHERE.

SELECT COUNT(*) FROM people RIGHT JOIN areas USING (zip)
--> QueryRefused: LEFT (from a public to a private table) joins are declined.
--> Use JOIN or LEFT JOIN with a public table.

SELECT COUNT(*) FROM people FULL JOIN areas USING (zip)
--> QueryRefused: FULL joins are declined.
--> Use JOIN or LEFT JOIN with a public table.

SELECT COUNT(*) FROM areas LEFT JOIN people USING (zip)
--> QueryRefused: LEFT (from a public to a private table) joins are declined.
--> Use JOIN or LEFT JOIN with a public table.

SELECT COUNT(*) FROM people LEFT JOIN areas ON people.zip = areas.zip AND age > 5
--> QueryRefused: A join needs equal columns: LEFT JOIN takes conditions on its right side only.
--> Write ON a.key = b.key; put conditions on the left side into WHERE.

SELECT COUNT(*) FROM people JOIN areas ON people.age > areas.number
--> QueryRefused: A join needs equal columns: none links areas to the other tables.
--> Write ON a.key = b.key; put conditions on the left side into WHERE.

SELECT COUNT(*) FROM people JOIN areas ON people.zip = areas.number
--> QueryRefused: A join needs equal columns: zip and number are declared differently.
--> Write ON a.key = b.key; put conditions on the left side into WHERE.

SELECT COUNT(*) FROM people JOIN areas ON people.income = areas.size
--> QueryRefused: A join needs equal columns: income and size are declared differently.
--> Write ON a.key = b.key; put conditions on the left side into WHERE.

SELECT COUNT(*) FROM people JOIN dwellings USING (zip)
--> QueryRefused: Two tables whose rows each stand for another person cannot be joined.
--> Declare a person column as the unit of both tables, then join on it.

SELECT COUNT(*) FROM people JOIN forms ON people.age = forms.age
--> QueryRefused: Two tables whose rows each stand for another person cannot be joined.
--> Declare a person column as the unit of both tables, then join on it.

SELECT COUNT(*) FROM areas
--> QueryRefused: This question reads public tables only, so it needs no privacy budget.
--> Read them directly; they are not secret.

SELECT COUNT(*) FROM calls
--> QueryRefused: One person can have any number of rows in 'calls', so nothing bounds their influence.
--> Set max_rows for the table in discreet.toml: at most that many rows of a person count.

SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t
--> QueryRefused: A subquery may only group by the column that names the person.
--> Add patient_id to its GROUP BY, and leave HAVING, ORDER BY and LIMIT to the outer question.

SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM people) AS t
--> QueryRefused: A subquery may only group by the column that names the person.
--> Add the person column to its GROUP BY, and leave HAVING, ORDER BY and LIMIT to the outer question.

SELECT COUNT(*) FROM (SELECT patient_id FROM visits ORDER BY cost LIMIT 10) AS t
--> QueryRefused: ORDER BY or LIMIT in a subquery is not supported.
--> Leave it out.

SELECT AVG(m) FROM (SELECT patient_id, MEDIAN(cost) AS m FROM visits GROUP BY patient_id) AS t
--> QueryRefused: QUANTILE for each person in a subquery is not supported.
--> Leave it out.

SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY age
--> QueryRefused: 'age' would show single rows.
--> Put it inside an aggregate such as COUNT, SUM or AVG, or add it to GROUP BY.

SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY 7
--> QueryRefused: ORDER BY can only use what the question returns or aggregates.
--> Name column 7 in it.

SELECT sex, COUNT(*) FROM people GROUP BY sex LIMIT age
--> QueryRefused: LIMIT with anything but a whole number is not supported.
--> Leave it out.

SELECT QUANTILE_CONT(age, 2) FROM people
--> QueryRefused: A quantile that is not a constant between 0 and 1 is not supported.
--> Leave it out.

-- within=5
SELECT AVG(age) FROM people
--> QueryRefused: An error can only be asked for when it is known beforehand: for COUNT and SUM.
--> Give --epsilon instead, and look at --explain first.

-- within=5%
SELECT COUNT(*) FROM people
--> QueryRefused: A percentage needs the size of the answer, which is not known before it is paid for.
--> Ask for an absolute error, or ask the same question first with a small epsilon.

-- within=0
SELECT COUNT(*) FROM people
--> InvalidInput: The wanted error must be greater than 0.

-- epsilon=0
SELECT COUNT(*) FROM people
--> InvalidInput: epsilon must be greater than 0, not 0.
--> A usual value for one question lies between 0.01 and 1.

-- epsilon=lots
SELECT COUNT(*) FROM people
--> InvalidInput: epsilon must be a number, not 'lots'.

-- max_rows=0
SELECT COUNT(*) FROM visits
--> InvalidInput: max_rows must be a whole number from 1 to 1,000,000,000.

SELECT COUNT(*) FROM patients JOIN members ON patients.patient_id = members.member_id
--> QueryRefused: A question can read one dataset at a time, and public tables.
--> Put tables of the same people into one dataset.

SELECT COUNT(*) FROM people WHERE born > TIMESTAMP '1990-07-01 12:00:00'
--> QueryRefused: Only a column that is declared as a timestamp has a time of day.
--> Compare with a date such as '2024-05-01', or take the hour of the column itself.

SELECT COUNT(*) FROM people WHERE HOUR(born) = 3
--> QueryRefused: Only a column that is declared as a timestamp has a time of day.
--> Compare with a date such as '2024-05-01', or take the hour of the column itself.

SELECT AVG(DATE_TRUNC('hour', seen)) FROM members
--> QueryRefused: This needs a number, but a column here is not one.
--> Use COUNT for categories, or compare them with a value.

SELECT COUNT(*) FROM people WHERE HOUR(born + INTERVAL 3 DAY) = 4
--> QueryRefused: Only a column that is declared as a timestamp has a time of day.
--> Compare with a date such as '2024-05-01', or take the hour of the column itself.

SELECT SUM(SIN(income)) FROM people
--> QueryRefused: Discreet cannot bound SIN on a column with so many values.
--> Simplify the expression, or declare a column that holds it.

SELECT ANY_VALUE(income) FROM people
--> QueryRefused: The function ANY_VALUE is not on the list of functions that are safe on private data.
--> See the list in docs/sql.md; functions that can fail on some value are never run.

SELECT COUNT(*) FROM people WHERE born > DATE '1990-02-30'
--> QueryRefused: The date '1990-02-30' (write YYYY-MM-DD) is not supported.
--> Leave it out.

SELECT COUNT(*) FROM people FOR UPDATE
--> QueryRefused: FOR UPDATE is not supported.
--> Leave it out.

SELECT SUM(FLOOR(income, 1)) FROM people
--> QueryRefused: FLOOR with so many arguments is not supported.
--> Leave it out.

SELECT SUM(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(GREATEST(age, 1), 1), 1), 1), 1), 1), 1), 1), 1), 1), 1), 1), 1), 1)) FROM people
--> QueryRefused: Written out, the expressions of this question are endless, more than can be planned.
--> Ask for less at once, or in steps: an answer that was paid for costs nothing again.

SELECT to_char(born, 'IYYY') AS t, COUNT(*) FROM people GROUP BY 1
--> QueryRefused: The pattern '%?%y%?' is declined: a date is written with year, month, day and their names only.
--> Use STRFTIME(day, '%Y-%m-%d'), TO_CHAR(day, 'YYYY-MM') or DATE_TRUNC('month', day).
