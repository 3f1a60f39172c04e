-- Conditions: which rows are read, and whom that touches.

SELECT COUNT(*) FROM people WHERE sex = 'Female' AND age BETWEEN 20 AND 30
--> shows count(*)
--> groups none
--> touches in people: sex = 'Female' AND age 20 to 30
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c0 BETWEEN 20 AND 30) AND (t0.c1 IN ('Female'))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0, CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 WHERE (t0.c0 BETWEEN 20 AND 30) AND (t0.c1 IN ('Female'))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0, CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 WHERE (t0.c0 BETWEEN 20 AND 30) AND (t0.c1 IN ('Female'))

SELECT COUNT(*) FROM people WHERE region IN ('O''Brien', 'back\slash', 'say "hi"', 'nowhere')
--> shows count(*)
--> groups none
--> touches in people: region in ('O''Brien', 'back\slash', 'say "hi"')
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c2 IN ('O''Brien', 'back\slash', 'say "hi"'))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "census.people" AS s) AS t0 WHERE (t0.c2 IN ('O''Brien', 'back\slash', 'say "hi"'))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2 FROM `census.people` AS s) AS t0 WHERE (t0.c2 IN ('O\'Brien', 'back\\slash', 'say "hi"'))

SELECT COUNT(*) FROM people WHERE sex IS NULL
--> shows count(*)
--> groups none
--> touches in people: sex is missing
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c1 IS NULL)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 WHERE (t0.c1 IS NULL)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 WHERE (t0.c1 IS NULL)

SELECT COUNT(*) FROM people WHERE NOT (sex = 'Female')
--> shows count(*)
--> groups none
--> touches in people: sex = 'Male'
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c1 IN ('Male'))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 WHERE (t0.c1 IN ('Male'))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 WHERE (t0.c1 IN ('Male'))

SELECT COUNT(*) FROM people WHERE sex = 'Female' OR age > 60
--> shows count(*)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (((t0.g1) = ('Female')) OR ((t0.c0) > (60)))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0, CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 WHERE (((t0.c1) = ('Female')) OR ((t0.c0) > (60)))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0, CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 WHERE (((t0.c1) = ('Female')) OR ((t0.c0) > (60)))

SELECT COUNT(*) FROM people WHERE (sex = 'Female' AND age < 10) OR (sex = 'Female' AND age > 90)
--> shows count(*)
--> groups none
--> touches in people: sex = 'Female' AND (age <= 9 or age > 90)
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE ((((t0.g1) = ('Female')) AND ((t0.c0) < (10))) OR (((t0.g1) = ('Female')) AND ((t0.c0) > (90))))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0, CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 WHERE ((((t0.c1) = ('Female')) AND ((t0.c0) < (10))) OR (((t0.c1) = ('Female')) AND ((t0.c0) > (90))))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0, CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 WHERE ((((t0.c1) = ('Female')) AND ((t0.c0) < (10))) OR (((t0.c1) = ('Female')) AND ((t0.c0) > (90))))

SELECT COUNT(*) FROM people WHERE income > debt
--> shows count(*)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE ((t0.c3) > ((t0.c4) * 500))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s."debt" >= -1000 AND s."debt" <= 1000 THEN CASE WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) END END AS c4 FROM "census.people" AS s) AS t0 WHERE ((t0.c3) > ((t0.c4) * 500))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s.`debt` >= -1000 AND s.`debt` <= 1000 THEN CASE WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) END END AS c4 FROM `census.people` AS s) AS t0 WHERE ((t0.c3) > ((t0.c4) * 500))

SELECT COUNT(*) FROM people WHERE income >= 99.995 AND income < 200
--> shows count(*)
--> groups none
--> touches in people: income 100 to 199.99
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c3 BETWEEN 10000 AND 19999)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 WHERE (t0.c3 BETWEEN 10000 AND 19999)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 WHERE (t0.c3 BETWEEN 10000 AND 19999)

SELECT COUNT(*) FROM people WHERE born >= '1990-01-01' AND born < DATE '1991-01-01'
--> shows count(*)
--> groups none
--> touches in people: born 1990-01-01 to 1990-12-31
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c6 BETWEEN DATE '1990-01-01' AND DATE '1990-12-31')
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."born" BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN s."born" END AS c6 FROM "census.people" AS s) AS t0 WHERE (t0.c6 BETWEEN DATE '1990-01-01' AND DATE '1990-12-31')
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`born` BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN s.`born` END AS c6 FROM `census.people` AS s) AS t0 WHERE (t0.c6 BETWEEN DATE '1990-01-01' AND DATE '1990-12-31')

SELECT COUNT(*) FROM people WHERE EXTRACT(YEAR FROM joined) = 2024 AND MONTH(joined) IN (1, 2)
--> shows count(*)
--> groups none
--> touches in people: joined 2024-01-01 to 2024-02-29
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c7 BETWEEN DATE '2024-01-01' AND DATE '2024-02-29')
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s."joined") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."joined") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."joined") AS DATE) END BETWEEN DATE '2023-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."joined") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."joined") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."joined") AS DATE) END END AS c7 FROM "census.people" AS s) AS t0 WHERE (t0.c7 BETWEEN DATE '2024-01-01' AND DATE '2024-02-29')
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s.`joined`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`joined`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`joined`) AS DATE) END BETWEEN DATE '2023-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`joined`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`joined`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`joined`) AS DATE) END END AS c7 FROM `census.people` AS s) AS t0 WHERE (t0.c7 BETWEEN DATE '2024-01-01' AND DATE '2024-02-29')

SELECT COUNT(*) FROM people WHERE joined - born > 365 * 18
--> shows count(*)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (((date_diff('day', DATE '1970-01-01', (t0.c7)) - date_diff('day', DATE '1970-01-01', (t0.c6)))) > (6570))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."born" BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN s."born" END AS c6, CASE WHEN CASE WHEN (s."joined") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."joined") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."joined") AS DATE) END BETWEEN DATE '2023-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."joined") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."joined") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."joined") AS DATE) END END AS c7 FROM "census.people" AS s) AS t0 WHERE (((CAST((t0.c7) - DATE '1970-01-01' AS BIGINT) - CAST((t0.c6) - DATE '1970-01-01' AS BIGINT))) > (6570))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`born` BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN s.`born` END AS c6, CASE WHEN CASE WHEN (s.`joined`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`joined`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`joined`) AS DATE) END BETWEEN DATE '2023-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`joined`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`joined`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`joined`) AS DATE) END END AS c7 FROM `census.people` AS s) AS t0 WHERE (((CAST(unix_date((t0.c7)) AS BIGINT) - CAST(unix_date((t0.c6)) AS BIGINT))) > (6570))

SELECT COUNT(*) FROM people WHERE region LIKE '%r%' AND UPPER(sex) = 'MALE'
--> shows count(*)
--> groups none
--> touches in people: region in ('North', 'O''Brien', 'Sør') AND sex = 'Male'
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c1 IN ('Male')) AND (t0.c2 IN ('North', 'O''Brien', 'Sør'))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "census.people" AS s) AS t0 WHERE (t0.c1 IN ('Male')) AND (t0.c2 IN ('North', 'O''Brien', 'Sør'))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2 FROM `census.people` AS s) AS t0 WHERE (t0.c1 IN ('Male')) AND (t0.c2 IN ('North', 'O\'Brien', 'Sør'))

SELECT COUNT(*) FROM people WHERE member IS TRUE
--> shows count(*)
--> groups none
--> touches in people: member = true
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c5)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT s."member" AS c5 FROM "census.people" AS s) AS t0 WHERE (t0.c5)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT s.`member` AS c5 FROM `census.people` AS s) AS t0 WHERE (t0.c5)

SELECT COUNT(*) FROM people WHERE age > 200
--> shows count(*)
--> groups none
--> touches nobody
--> costs nothing
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE FALSE
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 WHERE FALSE
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 WHERE FALSE

SELECT COUNT(*) FROM people WHERE age % 10 = 3 AND code // 1000 = 7
--> shows count(*)
--> groups none
--> touches in people: age in 12 ranges AND code 7000 to 7999
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE ((t0.c0 = 3 OR t0.c0 = 13 OR t0.c0 = 23 OR t0.c0 = 33 OR t0.c0 = 43 OR t0.c0 = 53 OR t0.c0 = 63 OR t0.c0 = 73 OR t0.c0 = 83 OR t0.c0 = 93 OR t0.c0 = 103 OR t0.c0 = 113)) AND (t0.c9 BETWEEN 7000 AND 7999)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0, CASE WHEN s."code" BETWEEN 0 AND 1000000000 THEN CAST(s."code" AS BIGINT) END AS c9 FROM "census.people" AS s) AS t0 WHERE ((t0.c0 = 3 OR t0.c0 = 13 OR t0.c0 = 23 OR t0.c0 = 33 OR t0.c0 = 43 OR t0.c0 = 53 OR t0.c0 = 63 OR t0.c0 = 73 OR t0.c0 = 83 OR t0.c0 = 93 OR t0.c0 = 103 OR t0.c0 = 113)) AND (t0.c9 BETWEEN 7000 AND 7999)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0, CASE WHEN s.`code` BETWEEN 0 AND 1000000000 THEN CAST(s.`code` AS BIGINT) END AS c9 FROM `census.people` AS s) AS t0 WHERE ((t0.c0 = 3 OR t0.c0 = 13 OR t0.c0 = 23 OR t0.c0 = 33 OR t0.c0 = 43 OR t0.c0 = 53 OR t0.c0 = 63 OR t0.c0 = 73 OR t0.c0 = 83 OR t0.c0 = 93 OR t0.c0 = 103 OR t0.c0 = 113)) AND (t0.c9 BETWEEN 7000 AND 7999)

SELECT COUNT(*) FROM people WHERE code > 5 AND code IS NOT NULL
--> shows count(*)
--> groups none
--> touches in people: code > 5
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c9 BETWEEN 6 AND 1000000000)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."code" BETWEEN 0 AND 1000000000 THEN CAST(s."code" AS BIGINT) END AS c9 FROM "census.people" AS s) AS t0 WHERE (t0.c9 BETWEEN 6 AND 1000000000)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`code` BETWEEN 0 AND 1000000000 THEN CAST(s.`code` AS BIGINT) END AS c9 FROM `census.people` AS s) AS t0 WHERE (t0.c9 BETWEEN 6 AND 1000000000)

SELECT COUNT(*) FROM people WHERE "shoe size" >= 40
--> shows count(*)
--> groups none
--> touches in people: shoe size > 39
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c11 BETWEEN 40 AND 50)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) ~ '^([+-]?[0-9]{1,18})$' THEN CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS BIGINT) WHEN (substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) ~ '^([+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?)$' THEN CASE WHEN CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) >= -9007199254740991 AND CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) <= 9007199254740991 AND CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) = floor(CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION)) THEN CAST(CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) AS BIGINT) END END BETWEEN 20 AND 50 THEN CASE WHEN (substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) ~ '^([+-]?[0-9]{1,18})$' THEN CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS BIGINT) WHEN (substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) ~ '^([+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?)$' THEN CASE WHEN CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) >= -9007199254740991 AND CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) <= 9007199254740991 AND CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) = floor(CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION)) THEN CAST(CAST((substr((CAST((s."shoe size") AS TEXT) COLLATE "C"), 1, 1000)) AS DOUBLE PRECISION) AS BIGINT) END END END AS c11 FROM "census.people" AS s) AS t0 WHERE (t0.c11 BETWEEN 40 AND 50)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN regexp_extract((CAST((s.`shoe size`) AS STRING)), '^([+-]?[0-9]{1,18})$', 0) = (CAST((s.`shoe size`) AS STRING)) THEN CAST((CAST((s.`shoe size`) AS STRING)) AS BIGINT) WHEN regexp_extract((CAST((s.`shoe size`) AS STRING)), '^([+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?)$', 0) = (CAST((s.`shoe size`) AS STRING)) THEN CASE WHEN CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) >= -9007199254740991 AND CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) <= 9007199254740991 AND CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) = floor(CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE)) THEN CAST(CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) AS BIGINT) END END BETWEEN 20 AND 50 THEN CASE WHEN regexp_extract((CAST((s.`shoe size`) AS STRING)), '^([+-]?[0-9]{1,18})$', 0) = (CAST((s.`shoe size`) AS STRING)) THEN CAST((CAST((s.`shoe size`) AS STRING)) AS BIGINT) WHEN regexp_extract((CAST((s.`shoe size`) AS STRING)), '^([+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?)$', 0) = (CAST((s.`shoe size`) AS STRING)) THEN CASE WHEN CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) >= -9007199254740991 AND CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) <= 9007199254740991 AND CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) = floor(CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE)) THEN CAST(CAST((CAST((s.`shoe size`) AS STRING)) AS DOUBLE) AS BIGINT) END END END AS c11 FROM `census.people` AS s) AS t0 WHERE (t0.c11 BETWEEN 40 AND 50)

SELECT COUNT(*) FROM patients WHERE sex = 'Female' AND NOT insured
--> shows count(*)
--> groups none
--> touches insured = false AND sex = 'Female'
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> at most 1 row of each unit count
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.patients" AS t0 WHERE (t0.c1 IN ('Female')) AND (NOT t0.c2)) AS t1 WHERE t1.n <= 1
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c1) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c1, t0.c2) AS n FROM (SELECT MIN(s.c1) OVER (PARTITION BY s.u) AS c1, BOOL_AND(s.c2) OVER (PARTITION BY s.u) AS c2, s.u AS u FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN (s."insured") = 1 THEN TRUE WHEN (s."insured") = 0 THEN FALSE END AS c2, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.patients" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS s) AS t0 WHERE (t0.c1 IN ('Female')) AND (NOT t0.c2)) AS t1 WHERE t1.n <= 1
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c1) AS STRING), '') || '|' || COALESCE(CAST((t0.c2) AS STRING), '')), t0.c1, t0.c2) AS n FROM (SELECT MIN(s.c1) OVER (PARTITION BY s.u) AS c1, MIN(s.c2) OVER (PARTITION BY s.u) AS c2, s.u AS u FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN (s.`insured`) = 1 THEN TRUE WHEN (s.`insured`) = 0 THEN FALSE END AS c2, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.patients` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS s) AS t0 WHERE (t0.c1 IN ('Female')) AND (NOT t0.c2)) AS t1 WHERE t1.n <= 1

SELECT COUNT(*) FROM visits WHERE ward = 'A'
--> shows count(*)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error count(*) ± 15
--> event Laplace(scale 5, l1 5)
--> rows: discrete Laplace noise of scale 5, one unit moves it by 5 (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0 WHERE (t0.c2 IN ('A'))) AS t1 WHERE t1.n <= 5
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c2) AS n FROM (SELECT CASE WHEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('A', 'B', 'C') THEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0 WHERE (t0.c2 IN ('A'))) AS t1 WHERE t1.n <= 5
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '')), t0.c2) AS n FROM (SELECT CASE WHEN s.`ward` IN ('A', 'B', 'C') THEN s.`ward` END AS c2, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0 WHERE (t0.c2 IN ('A'))) AS t1 WHERE t1.n <= 5

SELECT COUNT(*) FROM people WHERE balance IN (1, 2, NULL) OR balance NOT IN (3, 4)
--> shows count(*)
--> groups none
--> touches in people: (balance <= 2 or balance > 4)
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE ((t0.c8 BETWEEN -50 AND 2 OR t0.c8 BETWEEN 5 AND 50))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0 WHERE ((t0.c8 BETWEEN -50 AND 2 OR t0.c8 BETWEEN 5 AND 50))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0 WHERE ((t0.c8 BETWEEN -50 AND 2 OR t0.c8 BETWEEN 5 AND 50))

SELECT COUNT(*) FROM people WHERE age = '42' AND zip = '10115'
--> shows count(*)
--> groups none
--> touches in people: zip = '10115' AND age = 42
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c0 = 42) AND (t0.c10 IN ('10115'))
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0, CASE WHEN (CAST((s."zip") AS TEXT) COLLATE "C") IN ('10115', '20095') THEN (CAST((s."zip") AS TEXT) COLLATE "C") END AS c10 FROM "census.people" AS s) AS t0 WHERE (t0.c0 = 42) AND (t0.c10 IN ('10115'))
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0, CASE WHEN CAST((s.`zip`) AS STRING) IN ('10115', '20095') THEN CAST((s.`zip`) AS STRING) END AS c10 FROM `census.people` AS s) AS t0 WHERE (t0.c0 = 42) AND (t0.c10 IN ('10115'))
