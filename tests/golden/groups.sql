-- Group keys: public ones are all listed, private ones pass a threshold.

SELECT region, member, COUNT(*) AS n FROM people GROUP BY region, member
--> shows region, member, n
--> groups 10: North, O'Brien, back\slash, say "hi", Sør x False, True
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.c2 AS k0, t0.c5 AS k1, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT t0.c2 AS k0, t0.c5 AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, s."member" AS c5 FROM "census.people" AS s) AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.c2 AS k0, t0.c5 AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2, s.`member` AS c5 FROM `census.people` AS s) AS t0 GROUP BY 1, 2

SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM people GROUP BY decade ORDER BY decade
--> shows decade, n
--> groups 13: 0, 10, 20, 30, 40, 50, …
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT (CASE WHEN (10) <> 0 THEN CAST((t0.c0) AS BIGINT) // CAST((10) AS BIGINT) END) AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (CASE WHEN (10) <> 0 THEN CAST((t0.c0) AS BIGINT) / CAST((10) AS BIGINT) END) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT (CASE WHEN (10) <> 0 THEN CAST((t0.c0) AS BIGINT) div CAST((10) AS BIGINT) END) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS stage, COUNT(*) AS n FROM people GROUP BY 1
--> shows stage, n
--> groups 3: adult, child, old
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT CASE WHEN ((t0.c0) < (18)) THEN 'child' WHEN ((t0.c0) < (65)) THEN 'adult' ELSE 'old' END AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN ((t0.c0) < (18)) THEN 'child' WHEN ((t0.c0) < (65)) THEN 'adult' ELSE 'old' END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN ((t0.c0) < (18)) THEN 'child' WHEN ((t0.c0) < (65)) THEN 'adult' ELSE 'old' END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT sex, COUNT(*) AS n FROM people WHERE sex = 'Female' GROUP BY sex
--> shows sex, n
--> groups 1: Female
--> touches in people: sex = 'Female'
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.g1 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c1 IN ('Female')) GROUP BY 1
--> postgres:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 WHERE (t0.c1 IN ('Female')) GROUP BY 1
--> spark:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 WHERE (t0.c1 IN ('Female')) GROUP BY 1

SELECT age, COUNT(*) FROM people WHERE age BETWEEN 30 AND 33 GROUP BY age
--> shows age, count(*)
--> groups 4: 30, 31, 32, 33
--> touches in people: age 30 to 33
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.g0 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c0 BETWEEN 30 AND 33) GROUP BY 1
--> postgres:
-->   SELECT t0.c0 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 WHERE (t0.c0 BETWEEN 30 AND 33) GROUP BY 1
--> spark:
-->   SELECT t0.c0 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 WHERE (t0.c0 BETWEEN 30 AND 33) GROUP BY 1

SELECT DATE_TRUNC('month', joined) AS month, COUNT(*) AS n FROM people GROUP BY month
--> shows month, n
--> groups 24: 2023-01-01, 2023-02-01, 2023-03-01, 2023-04-01, 2023-05-01, 2023-06-01, …
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT CASE WHEN (t0.c7) BETWEEN DATE '2023-01-01' AND DATE '2023-01-31' THEN DATE '2023-01-01' WHEN (t0.c7) BETWEEN DATE '2023-02-01' AND DATE '2023-02-28' THEN DATE '2023-02-01' WHEN (t0.c7) BETWEEN DATE '2023-03-01' AND DATE '2023-03-31' THEN DATE '2023-03-01' WHEN (t0.c7) BETWEEN DATE '2023-04-01' AND DATE '2023-04-30' THEN DATE '2023-04-01' WHEN (t0.c7) BETWEEN DATE '2023-05-01' AND DATE '2023-05-31' THEN DATE '2023-05-01' WHEN (t0.c7) BETWEEN DATE '2023-06-01' AND DATE '2023-06-30' THEN DATE '2023-06-01' WHEN (t0.c7) BETWEEN DATE '2023-07-01' AND DATE '2023-07-31' THEN DATE '2023-07-01' WHEN (t0.c7) BETWEEN DATE '2023-08-01' AND DATE '2023-08-31' THEN DATE '2023-08-01' WHEN (t0.c7) BETWEEN DATE '2023-09-01' AND DATE '2023-09-30' THEN DATE '2023-09-01' WHEN (t0.c7) BETWEEN DATE '2023-10-01' AND DATE '2023-10-31' THEN DATE '2023-10-01' WHEN (t0.c7) BETWEEN DATE '2023-11-01' AND DATE '2023-11-30' THEN DATE '2023-11-01' WHEN (t0.c7) BETWEEN DATE '2023-12-01' AND DATE '2023-12-31' THEN DATE '2023-12-01' WHEN (t0.c7) BETWEEN DATE '2024-01-01' AND DATE '2024-01-31' THEN DATE '2024-01-01' WHEN (t0.c7) BETWEEN DATE '2024-02-01' AND DATE '2024-02-29' THEN DATE '2024-02-01' WHEN (t0.c7) BETWEEN DATE '2024-03-01' AND DATE '2024-03-31' THEN DATE '2024-03-01' WHEN (t0.c7) BETWEEN DATE '2024-04-01' AND DATE '2024-04-30' THEN DATE '2024-04-01' WHEN (t0.c7) BETWEEN DATE '2024-05-01' AND DATE '2024-05-31' THEN DATE '2024-05-01' WHEN (t0.c7) BETWEEN DATE '2024-06-01' AND DATE '2024-06-30' THEN DATE '2024-06-01' WHEN (t0.c7) BETWEEN DATE '2024-07-01' AND DATE '2024-07-31' THEN DATE '2024-07-01' WHEN (t0.c7) BETWEEN DATE '2024-08-01' AND DATE '2024-08-31' THEN DATE '2024-08-01' WHEN (t0.c7) BETWEEN DATE '2024-09-01' AND DATE '2024-09-30' THEN DATE '2024-09-01' WHEN (t0.c7) BETWEEN DATE '2024-10-01' AND DATE '2024-10-31' THEN DATE '2024-10-01' WHEN (t0.c7) BETWEEN DATE '2024-11-01' AND DATE '2024-11-30' THEN DATE '2024-11-01' WHEN (t0.c7) BETWEEN DATE '2024-12-01' AND DATE '2024-12-31' THEN DATE '2024-12-01' END AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (t0.c7) BETWEEN DATE '2023-01-01' AND DATE '2023-01-31' THEN DATE '2023-01-01' WHEN (t0.c7) BETWEEN DATE '2023-02-01' AND DATE '2023-02-28' THEN DATE '2023-02-01' WHEN (t0.c7) BETWEEN DATE '2023-03-01' AND DATE '2023-03-31' THEN DATE '2023-03-01' WHEN (t0.c7) BETWEEN DATE '2023-04-01' AND DATE '2023-04-30' THEN DATE '2023-04-01' WHEN (t0.c7) BETWEEN DATE '2023-05-01' AND DATE '2023-05-31' THEN DATE '2023-05-01' WHEN (t0.c7) BETWEEN DATE '2023-06-01' AND DATE '2023-06-30' THEN DATE '2023-06-01' WHEN (t0.c7) BETWEEN DATE '2023-07-01' AND DATE '2023-07-31' THEN DATE '2023-07-01' WHEN (t0.c7) BETWEEN DATE '2023-08-01' AND DATE '2023-08-31' THEN DATE '2023-08-01' WHEN (t0.c7) BETWEEN DATE '2023-09-01' AND DATE '2023-09-30' THEN DATE '2023-09-01' WHEN (t0.c7) BETWEEN DATE '2023-10-01' AND DATE '2023-10-31' THEN DATE '2023-10-01' WHEN (t0.c7) BETWEEN DATE '2023-11-01' AND DATE '2023-11-30' THEN DATE '2023-11-01' WHEN (t0.c7) BETWEEN DATE '2023-12-01' AND DATE '2023-12-31' THEN DATE '2023-12-01' WHEN (t0.c7) BETWEEN DATE '2024-01-01' AND DATE '2024-01-31' THEN DATE '2024-01-01' WHEN (t0.c7) BETWEEN DATE '2024-02-01' AND DATE '2024-02-29' THEN DATE '2024-02-01' WHEN (t0.c7) BETWEEN DATE '2024-03-01' AND DATE '2024-03-31' THEN DATE '2024-03-01' WHEN (t0.c7) BETWEEN DATE '2024-04-01' AND DATE '2024-04-30' THEN DATE '2024-04-01' WHEN (t0.c7) BETWEEN DATE '2024-05-01' AND DATE '2024-05-31' THEN DATE '2024-05-01' WHEN (t0.c7) BETWEEN DATE '2024-06-01' AND DATE '2024-06-30' THEN DATE '2024-06-01' WHEN (t0.c7) BETWEEN DATE '2024-07-01' AND DATE '2024-07-31' THEN DATE '2024-07-01' WHEN (t0.c7) BETWEEN DATE '2024-08-01' AND DATE '2024-08-31' THEN DATE '2024-08-01' WHEN (t0.c7) BETWEEN DATE '2024-09-01' AND DATE '2024-09-30' THEN DATE '2024-09-01' WHEN (t0.c7) BETWEEN DATE '2024-10-01' AND DATE '2024-10-31' THEN DATE '2024-10-01' WHEN (t0.c7) BETWEEN DATE '2024-11-01' AND DATE '2024-11-30' THEN DATE '2024-11-01' WHEN (t0.c7) BETWEEN DATE '2024-12-01' AND DATE '2024-12-31' THEN DATE '2024-12-01' END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s."joined") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."joined") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."joined") AS DATE) END BETWEEN DATE '2023-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."joined") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."joined") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."joined") AS DATE) END END AS c7 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (t0.c7) BETWEEN DATE '2023-01-01' AND DATE '2023-01-31' THEN DATE '2023-01-01' WHEN (t0.c7) BETWEEN DATE '2023-02-01' AND DATE '2023-02-28' THEN DATE '2023-02-01' WHEN (t0.c7) BETWEEN DATE '2023-03-01' AND DATE '2023-03-31' THEN DATE '2023-03-01' WHEN (t0.c7) BETWEEN DATE '2023-04-01' AND DATE '2023-04-30' THEN DATE '2023-04-01' WHEN (t0.c7) BETWEEN DATE '2023-05-01' AND DATE '2023-05-31' THEN DATE '2023-05-01' WHEN (t0.c7) BETWEEN DATE '2023-06-01' AND DATE '2023-06-30' THEN DATE '2023-06-01' WHEN (t0.c7) BETWEEN DATE '2023-07-01' AND DATE '2023-07-31' THEN DATE '2023-07-01' WHEN (t0.c7) BETWEEN DATE '2023-08-01' AND DATE '2023-08-31' THEN DATE '2023-08-01' WHEN (t0.c7) BETWEEN DATE '2023-09-01' AND DATE '2023-09-30' THEN DATE '2023-09-01' WHEN (t0.c7) BETWEEN DATE '2023-10-01' AND DATE '2023-10-31' THEN DATE '2023-10-01' WHEN (t0.c7) BETWEEN DATE '2023-11-01' AND DATE '2023-11-30' THEN DATE '2023-11-01' WHEN (t0.c7) BETWEEN DATE '2023-12-01' AND DATE '2023-12-31' THEN DATE '2023-12-01' WHEN (t0.c7) BETWEEN DATE '2024-01-01' AND DATE '2024-01-31' THEN DATE '2024-01-01' WHEN (t0.c7) BETWEEN DATE '2024-02-01' AND DATE '2024-02-29' THEN DATE '2024-02-01' WHEN (t0.c7) BETWEEN DATE '2024-03-01' AND DATE '2024-03-31' THEN DATE '2024-03-01' WHEN (t0.c7) BETWEEN DATE '2024-04-01' AND DATE '2024-04-30' THEN DATE '2024-04-01' WHEN (t0.c7) BETWEEN DATE '2024-05-01' AND DATE '2024-05-31' THEN DATE '2024-05-01' WHEN (t0.c7) BETWEEN DATE '2024-06-01' AND DATE '2024-06-30' THEN DATE '2024-06-01' WHEN (t0.c7) BETWEEN DATE '2024-07-01' AND DATE '2024-07-31' THEN DATE '2024-07-01' WHEN (t0.c7) BETWEEN DATE '2024-08-01' AND DATE '2024-08-31' THEN DATE '2024-08-01' WHEN (t0.c7) BETWEEN DATE '2024-09-01' AND DATE '2024-09-30' THEN DATE '2024-09-01' WHEN (t0.c7) BETWEEN DATE '2024-10-01' AND DATE '2024-10-31' THEN DATE '2024-10-01' WHEN (t0.c7) BETWEEN DATE '2024-11-01' AND DATE '2024-11-30' THEN DATE '2024-11-01' WHEN (t0.c7) BETWEEN DATE '2024-12-01' AND DATE '2024-12-31' THEN DATE '2024-12-01' END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s.`joined`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`joined`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`joined`) AS DATE) END BETWEEN DATE '2023-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`joined`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`joined`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`joined`) AS DATE) END END AS c7 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT WIDTH_BUCKET(income, 0, 100000, 10) AS bucket, COUNT(*) AS n FROM people GROUP BY bucket
--> shows bucket, n
--> groups 11: 1, 2, 3, 4, 5, 6, …
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT CASE WHEN (CASE WHEN (((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) // CAST((1000000) AS BIGINT) END) + 1)) IS NOT NULL AND (11) IS NOT NULL THEN LEAST(((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) // CAST((1000000) AS BIGINT) END) + 1), 11) END) IS NOT NULL AND (0) IS NOT NULL THEN GREATEST(CASE WHEN (((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) // CAST((1000000) AS BIGINT) END) + 1)) IS NOT NULL AND (11) IS NOT NULL THEN LEAST(((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) // CAST((1000000) AS BIGINT) END) + 1), 11) END, 0) END AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (CASE WHEN (((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) / CAST((1000000) AS BIGINT) END) + 1)) IS NOT NULL AND (11) IS NOT NULL THEN LEAST(((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) / CAST((1000000) AS BIGINT) END) + 1), 11) END) IS NOT NULL AND (0) IS NOT NULL THEN GREATEST(CASE WHEN (((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) / CAST((1000000) AS BIGINT) END) + 1)) IS NOT NULL AND (11) IS NOT NULL THEN LEAST(((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) / CAST((1000000) AS BIGINT) END) + 1), 11) END, 0) END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (CASE WHEN (((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) div CAST((1000000) AS BIGINT) END) + 1)) IS NOT NULL AND (11) IS NOT NULL THEN LEAST(((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) div CAST((1000000) AS BIGINT) END) + 1), 11) END) IS NOT NULL AND (0) IS NOT NULL THEN GREATEST(CASE WHEN (((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) div CAST((1000000) AS BIGINT) END) + 1)) IS NOT NULL AND (11) IS NOT NULL THEN LEAST(((CASE WHEN (1000000) <> 0 THEN CAST(((t0.c3 - 0)) AS BIGINT) div CAST((1000000) AS BIGINT) END) + 1), 11) END, 0) END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 10 ORDER BY n DESC LIMIT 3
--> shows region, n
--> groups 5: North, O'Brien, back\slash, say "hi", Sør
--> touches everyone in people
--> costs epsilon 1
--> error n ± 4
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.g2 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT region FROM people GROUP BY region
--> shows region
--> groups 5: North, O'Brien, back\slash, say "hi", Sør
--> touches everyone in people
--> costs epsilon 1
--> error none
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.g2 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT sex, balance > 0 AS rich, COUNT(*) FROM people GROUP BY sex, balance > 0
--> shows sex, rich, count(*)
--> groups 9: None, Female, Male x None, False, True
--> touches everyone in people
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT t0.c1 AS k0, ((t0.c8) > (0)) AS k1, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT t0.c1 AS k0, ((t0.c8) > (0)) AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.c1 AS k0, ((t0.c8) > (0)) AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0 GROUP BY 1, 2

SELECT job, COUNT(*) AS n FROM forms GROUP BY job
--> shows job, n
--> groups private
--> touches everyone
--> costs epsilon 1, delta 3.90625e-9
--> error n ± 3
--> event Laplace(scale 1, l1 1), failing with 3.90625e-9
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> groups appear from 21 noisy units on
--> duckdb:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM canon."survey.forms" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT SUBSTR((CAST(((CAST((s."job") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C"), 1, 10000) AS c1 FROM "survey.forms" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT SUBSTR(CAST((CAST((s.`job`) AS STRING)) AS STRING), 1, 10000) AS c1 FROM `survey.forms` AS s) AS t0 GROUP BY 1

SELECT job, AVG(salary) AS mean FROM forms GROUP BY job
--> shows job, mean
--> groups private
--> touches everyone
--> costs epsilon 1, delta 3.90625e-9
--> error mean depends on the data
--> event Laplace(scale 4000000, l1 1000000) and Laplace(scale 4, l1 1) and Laplace(scale 2, l1 1), failing with 3.90625e-9
--> centred: discrete Laplace noise of scale 4e6, one unit moves it by 1,000,000 (0.25)
--> present: discrete Laplace noise of scale 4, one unit moves it by 1 (0.25)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> groups appear from 39 noisy units on
--> duckdb:
-->   SELECT t0.c1 AS k0, CAST(sum_no_overflow(CAST((t0.c2) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c2) AS r1, COUNT(*) AS r2 FROM canon."survey.forms" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c1 AS k0, CAST(SUM(CAST((t0.c2) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c2) AS r1, COUNT(*) AS r2 FROM (SELECT SUBSTR((CAST(((CAST((s."job") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C"), 1, 10000) AS c1, CASE WHEN s."salary" BETWEEN 0 AND 1000000 THEN CAST(s."salary" AS BIGINT) END AS c2 FROM "survey.forms" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c1 AS k0, (CAST(SUM(shiftright(CAST((t0.c2) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c2) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c2) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t0.c2) AS r1, COUNT(*) AS r2 FROM (SELECT SUBSTR(CAST((CAST((s.`job`) AS STRING)) AS STRING), 1, 10000) AS c1, CASE WHEN s.`salary` BETWEEN 0 AND 1000000 THEN CAST(s.`salary` AS BIGINT) END AS c2 FROM `survey.forms` AS s) AS t0 GROUP BY 1

SELECT salary, COUNT(*) AS n FROM forms GROUP BY salary
--> shows salary, n
--> groups private
--> touches everyone
--> costs epsilon 1, delta 3.90625e-9
--> error n ± 3
--> event Laplace(scale 1, l1 1), failing with 3.90625e-9
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> groups appear from 21 noisy units on
--> duckdb:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM canon."survey.forms" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."salary" BETWEEN 0 AND 1000000 THEN CAST(s."salary" AS BIGINT) END AS c2 FROM "survey.forms" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`salary` BETWEEN 0 AND 1000000 THEN CAST(s.`salary` AS BIGINT) END AS c2 FROM `survey.forms` AS s) AS t0 GROUP BY 1

SELECT diagnosis, SUM(cost) AS spent FROM visits GROUP BY diagnosis
--> shows diagnosis, spent
--> groups private
--> touches everyone
--> costs epsilon 1, delta 3.90625e-9
--> error spent ± 299573
--> event Laplace(scale 10000000, l1 5000000) and Laplace(scale 10, l1 5), failing with 3.90625e-9
--> sum: discrete Laplace noise of scale 1e7, one unit moves it by 5,000,000 steps of 0.01 (0.5)
--> units: discrete Laplace noise of scale 10, one unit moves it by 5 (0.5)
--> groups appear from 205 noisy units on
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT t1.c1 AS k0, CAST(sum_no_overflow(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(DISTINCT t1.u) AS r1 FROM (SELECT t0.c3 AS c0, t0.c5 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
--> postgres:
-->   SELECT t1.c1 AS k0, CAST(SUM(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(DISTINCT t1.u) AS r1 FROM (SELECT t0.c3 AS c0, t0.c5 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c5) AS TEXT) COLLATE "C"), '')), t0.c3, t0.c5) AS n FROM (SELECT CASE WHEN CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) >= 0 AND CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) END END AS c3, SUBSTR((CAST(((CAST((s."diagnosis") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C"), 1, 10000) AS c5, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
--> spark:
-->   SELECT t1.c1 AS k0, (CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t1.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(DISTINCT t1.u) AS r1 FROM (SELECT t0.c3 AS c0, t0.c5 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c3) AS STRING), '') || '|' || COALESCE(CAST((t0.c5) AS STRING), '')), t0.c3, t0.c5) AS n FROM (SELECT CASE WHEN CAST(s.`cost` AS DOUBLE) >= 0 AND CAST(s.`cost` AS DOUBLE) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) END END AS c3, SUBSTR(CAST((CAST((s.`diagnosis`) AS STRING)) AS STRING), 1, 10000) AS c5, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1

SELECT job, age // 10 AS decade, COUNT(*) FROM forms GROUP BY job, decade
--> shows job, decade, count(*)
--> groups private
--> touches everyone
--> costs epsilon 1, delta 3.90625e-9
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1), failing with 3.90625e-9
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> groups appear from 21 noisy units on
--> duckdb:
-->   SELECT t0.c1 AS k0, (CASE WHEN (10) <> 0 THEN CAST((t0.c0) AS BIGINT) // CAST((10) AS BIGINT) END) AS k1, COUNT(*) AS r0 FROM canon."survey.forms" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT t0.c1 AS k0, (CASE WHEN (10) <> 0 THEN CAST((t0.c0) AS BIGINT) / CAST((10) AS BIGINT) END) AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s."age") >= -9007199254740991 AND (s."age") <= 9007199254740991 AND (s."age") = floor((s."age")) THEN CAST((s."age") AS BIGINT) END BETWEEN 0 AND 120 THEN CASE WHEN (s."age") >= -9007199254740991 AND (s."age") <= 9007199254740991 AND (s."age") = floor((s."age")) THEN CAST((s."age") AS BIGINT) END END AS c0, SUBSTR((CAST(((CAST((s."job") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C"), 1, 10000) AS c1 FROM "survey.forms" AS s) AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.c1 AS k0, (CASE WHEN (10) <> 0 THEN CAST((t0.c0) AS BIGINT) div CAST((10) AS BIGINT) END) AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s.`age`) >= -9007199254740991 AND (s.`age`) <= 9007199254740991 AND (s.`age`) = floor((s.`age`)) THEN CAST((s.`age`) AS BIGINT) END BETWEEN 0 AND 120 THEN CASE WHEN (s.`age`) >= -9007199254740991 AND (s.`age`) <= 9007199254740991 AND (s.`age`) = floor((s.`age`)) THEN CAST((s.`age`) AS BIGINT) END END AS c0, SUBSTR(CAST((CAST((s.`job`) AS STRING)) AS STRING), 1, 10000) AS c1 FROM `survey.forms` AS s) AS t0 GROUP BY 1, 2

SELECT sex, AVG(income - debt) AS net FROM people GROUP BY sex
--> shows sex, net
--> groups 3: None, Female, Male
--> touches everyone in people
--> costs epsilon 1
--> error net depends on the data
--> event Laplace(scale 1.004e8, l1 50200000) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 1.004e8, one unit moves it by 50,200,000 steps of 0.01 (0.5)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT t1.g0 AS k0, CAST(SUM(CAST((CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS r1 FROM (SELECT t0.c1 AS c0, t0.g1 AS g0, (t0.c3 - (t0.c4) * 500) AS c1 FROM canon."census.people" AS t0) AS t1 GROUP BY 1
--> postgres:
-->   SELECT t1.c0 AS k0, CAST(SUM(CAST((CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS r1 FROM (SELECT t0.c1 AS c0, (t0.c3 - (t0.c4) * 500) AS c1 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s."debt" >= -1000 AND s."debt" <= 1000 THEN CASE WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) END END AS c4 FROM "census.people" AS s) AS t0) AS t1 GROUP BY 1
--> spark:
-->   SELECT t1.c0 AS k0, (CAST(SUM(shiftright(CAST((CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(CASE WHEN t1.c1 > 50100000 THEN 50100000 WHEN t1.c1 < -100000 THEN -100000 ELSE t1.c1 END) AS r1 FROM (SELECT t0.c1 AS c0, (t0.c3 - (t0.c4) * 500) AS c1 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s.`debt` >= -1000 AND s.`debt` <= 1000 THEN CASE WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) END END AS c4 FROM `census.people` AS s) AS t0) AS t1 GROUP BY 1

SELECT ward, SUM(CASE WHEN emergency THEN cost END) AS spent FROM visits GROUP BY ward
--> shows ward, spent
--> groups 3: A, B, C
--> touches everyone
--> costs epsilon 1
--> error spent ± 149787
--> event Laplace(scale 5000000, l1 5000000)
--> sum: discrete Laplace noise of scale 5e6, one unit moves it by 5,000,000 steps of 0.01 (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT t1.c0 AS k0, CAST(sum_no_overflow(CAST((CASE WHEN t1.c2 THEN t1.c1 ELSE 0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.c4 AS c2, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
--> postgres:
-->   SELECT t1.c0 AS k0, CAST(SUM(CAST((CASE WHEN t1.c2 THEN t1.c1 ELSE 0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.c4 AS c2, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c4) AS TEXT) COLLATE "C"), '')), t0.c2, t0.c3, t0.c4) AS n FROM (SELECT CASE WHEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('A', 'B', 'C') THEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) >= 0 AND CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN lower((substr((CAST((s."emergency") AS TEXT) COLLATE "C"), 1, 1000))) IN ('true', 't', 'yes', 'y', '1') THEN TRUE WHEN lower((substr((CAST((s."emergency") AS TEXT) COLLATE "C"), 1, 1000))) IN ('false', 'f', 'no', 'n', '0') THEN FALSE END AS c4, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
--> spark:
-->   SELECT t1.c0 AS k0, (CAST(SUM(shiftright(CAST((CASE WHEN t1.c2 THEN t1.c1 ELSE 0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c2 THEN t1.c1 ELSE 0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c2 THEN t1.c1 ELSE 0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.c4 AS c2, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '') || '|' || COALESCE(CAST((t0.c3) AS STRING), '') || '|' || COALESCE(CAST((t0.c4) AS STRING), '')), t0.c2, t0.c3, t0.c4) AS n FROM (SELECT CASE WHEN s.`ward` IN ('A', 'B', 'C') THEN s.`ward` END AS c2, CASE WHEN CAST(s.`cost` AS DOUBLE) >= 0 AND CAST(s.`cost` AS DOUBLE) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN lower((CAST((s.`emergency`) AS STRING))) IN ('true', 't', 'yes', 'y', '1') THEN TRUE WHEN lower((CAST((s.`emergency`) AS STRING))) IN ('false', 'f', 'no', 'n', '0') THEN FALSE END AS c4, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
