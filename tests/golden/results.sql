-- Arithmetic on results is free; several results share one epsilon.

SELECT 100.0 * COUNT(*) FILTER (WHERE member) / COUNT(*) AS percent FROM people
--> shows percent
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error percent depends on the data
--> event Laplace(scale 2, l1 1) and Laplace(scale 2, l1 1)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT COUNT(CAST(CASE WHEN t0.c5 THEN 1 ELSE NULL END AS BIGINT)) AS r0, COUNT(*) AS r1 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(CAST(CASE WHEN t0.c5 THEN 1 ELSE NULL END AS BIGINT)) AS r0, COUNT(*) AS r1 FROM (SELECT s."member" AS c5 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(CAST(CASE WHEN t0.c5 THEN 1 ELSE NULL END AS BIGINT)) AS r0, COUNT(*) AS r1 FROM (SELECT s.`member` AS c5 FROM `census.people` AS s) AS t0

SELECT SQRT(SUM(age)) AS root, ROUND(AVG(age), 1) AS rounded FROM people
--> shows root, rounded
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error root depends on the data, rounded depends on the data
--> event Laplace(scale 240, l1 120) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 240, one unit moves it by 120 (0.5)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t0.c0) AS r1 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

SELECT COUNT(*) AS n, SUM(age) AS years, COUNT(*) * 2 AS doubled FROM people
--> shows n, years, doubled
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error n ± 6, years ± 719, doubled ± 12
--> event Laplace(scale 2, l1 1) and Laplace(scale 240, l1 120)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> sum: discrete Laplace noise of scale 240, one unit moves it by 120 (0.5)
--> duckdb:
-->   SELECT COUNT(*) AS r0, CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r1 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(*) AS r0, CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r1 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(*) AS r0, (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r1 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

SELECT sex, COUNT(*) AS n, n / 2 AS half FROM people GROUP BY sex
--> shows sex, n, half
--> groups 3: None, Female, Male
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3, half ± 1.5
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.g1 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT region, SUM(income) / SUM(age) AS per_year FROM people GROUP BY region ORDER BY 2 DESC NULLS LAST
--> shows region, per_year
--> groups 5: North, O'Brien, back\slash, say "hi", Sør
--> touches everyone in people
--> costs epsilon 1
--> error per_year depends on the data
--> event Laplace(scale 1e8, l1 50000000) and Laplace(scale 240, l1 120)
--> sum: discrete Laplace noise of scale 1e8, one unit moves it by 50,000,000 steps of 0.01 (0.5)
--> sum: discrete Laplace noise of scale 240, one unit moves it by 120 (0.5)
--> duckdb:
-->   SELECT t0.g2 AS k0, CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r1 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c2 AS k0, CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r1 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0, CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c2 AS k0, (CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c3) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r1 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0, CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2, CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT UPPER(sex) AS sex, COUNT(*) FROM people GROUP BY UPPER(sex)
--> shows sex, count(*)
--> groups 3: None, FEMALE, MALE
--> touches everyone in people
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT CASE WHEN (t0.g1) IN ('Female') THEN 'FEMALE' WHEN (t0.g1) IN ('Male') THEN 'MALE' END AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (t0.c1) IN ('Female') THEN 'FEMALE' WHEN (t0.c1) IN ('Male') THEN 'MALE' END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (t0.c1) IN ('Female') THEN 'FEMALE' WHEN (t0.c1) IN ('Male') THEN 'MALE' END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 GROUP BY 1
