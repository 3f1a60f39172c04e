-- Counts of rows, values and people.

SELECT COUNT(*) AS n FROM people
--> shows n
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error n ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM `census.people` AS s) AS t0

-- epsilon=0.5
SELECT sex, COUNT(*) AS n FROM people GROUP BY sex
--> shows sex, n
--> groups 3: None, Female, Male
--> touches everyone in people
--> costs epsilon 0.5
--> error n ± 6
--> event Laplace(scale 2, l1 1)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT t0.g1 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c1 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0 GROUP BY 1

-- epsilon=0.1
SELECT COUNT(*) FROM people WHERE age > 20
--> shows count(*)
--> groups none
--> touches in people: age > 20
--> costs epsilon 0.1
--> error count(*) ± 30
--> event Laplace(scale 10, l1 1)
--> rows: discrete Laplace noise of scale 10, one unit moves it by 1 (0.1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c0 BETWEEN 21 AND 120)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 WHERE (t0.c0 BETWEEN 21 AND 120)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 WHERE (t0.c0 BETWEEN 21 AND 120)

SELECT COUNT(age) AS known, COUNT(*) - COUNT(age) AS unknown FROM people
--> shows known, unknown
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error known ± 6, unknown ± 8
--> event Laplace(scale 2, l1 1) and Laplace(scale 2, l1 1)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT COUNT(t0.c0) AS r0, COUNT(*) AS r1 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(t0.c0) AS r0, COUNT(*) AS r1 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(t0.c0) AS r0, COUNT(*) AS r1 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

SELECT COUNT(1), COUNT(*) FROM people
--> shows count(1), count(*)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error count(1) ± 3, count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM `census.people` AS s) AS t0

SELECT COUNT(DISTINCT region) AS regions FROM people
--> shows regions
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error regions ± 3
--> event Laplace(scale 1, l1 1)
--> distinct: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(DISTINCT t0.g2) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(DISTINCT t0.c2) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('North', 'O''Brien', 'back\slash', 'say "hi"', 'Sør') THEN (CAST(((CAST((s."region") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(DISTINCT t0.c2) AS r0 FROM (SELECT CASE WHEN s.`region` IN ('North', 'O\'Brien', 'back\\slash', 'say "hi"', 'Sør') THEN s.`region` END AS c2 FROM `census.people` AS s) AS t0

SELECT COUNT(DISTINCT serial) AS serials FROM people
--> shows serials
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error serials ± 3
--> event Laplace(scale 1, l1 1)
--> distinct: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(DISTINCT t0.c13) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(DISTINCT t0.c13) AS r0 FROM (SELECT SUBSTR((CAST((s."serial") AS TEXT) COLLATE "C"), 1, 10000) AS c13 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(DISTINCT t0.c13) AS r0 FROM (SELECT SUBSTR(CAST((s.`serial`) AS STRING), 1, 10000) AS c13 FROM `census.people` AS s) AS t0

SELECT COUNT(*) FILTER (WHERE sex = 'Female') AS women, COUNT(*) AS all_people FROM people
--> shows women, all_people
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error women ± 6, all_people ± 6
--> event Laplace(scale 2, l1 1) and Laplace(scale 2, l1 1)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT COUNT(CAST(CASE WHEN ((t0.g1) = ('Female')) THEN 1 ELSE NULL END AS BIGINT)) AS r0, COUNT(*) AS r1 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(CAST(CASE WHEN ((t0.c1) = ('Female')) THEN 1 ELSE NULL END AS BIGINT)) AS r0, COUNT(*) AS r1 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(CAST(CASE WHEN ((t0.c1) = ('Female')) THEN 1 ELSE NULL END AS BIGINT)) AS r0, COUNT(*) AS r1 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1 FROM `census.people` AS s) AS t0

SELECT COUNT(CASE WHEN age >= 65 THEN 1 END) AS old FROM people
--> shows old
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error old ± 3
--> event Laplace(scale 1, l1 1)
--> present: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(CAST(CASE WHEN ((t0.c0) >= (65)) THEN 1 ELSE NULL END AS BIGINT)) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(CAST(CASE WHEN ((t0.c0) >= (65)) THEN 1 ELSE NULL END AS BIGINT)) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(CAST(CASE WHEN ((t0.c0) >= (65)) THEN 1 ELSE NULL END AS BIGINT)) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

-- within=20
SELECT COUNT(*) AS n FROM people
--> shows n
--> groups none
--> touches everyone in people
--> costs epsilon 0.147
--> error n ± 20
--> event Laplace(scale 6.8027211, l1 1)
--> rows: discrete Laplace noise of scale 6.80272, one unit moves it by 1 (0.147)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM `census.people` AS s) AS t0

SELECT COUNT(*) AS n FROM visits
--> shows n
--> groups none
--> touches everyone
--> costs epsilon 1
--> error n ± 15
--> event Laplace(scale 5, l1 5)
--> rows: discrete Laplace noise of scale 5, one unit moves it by 5 (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5('')) AS n FROM (SELECT CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5('')) AS n FROM (SELECT CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5

SELECT COUNT(DISTINCT patient_id) AS people FROM visits
--> shows people
--> groups none
--> touches everyone
--> costs epsilon 1
--> error people ± 3
--> event Laplace(scale 1, l1 1)
--> units: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM canon."clinic.visits" AS t0
--> postgres:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM (SELECT CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0
--> spark:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM (SELECT CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0

SELECT ward, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY ward
--> shows ward, people
--> groups 3: A, B, C
--> touches everyone
--> costs epsilon 1
--> error people ± 15
--> event Laplace(scale 5, l1 5)
--> units: discrete Laplace noise of scale 5, one unit moves it by 5 (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT t1.c0 AS k0, COUNT(DISTINCT t1.u) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
--> postgres:
-->   SELECT t1.c0 AS k0, COUNT(DISTINCT t1.u) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c2) AS n FROM (SELECT CASE WHEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('A', 'B', 'C') THEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1
--> spark:
-->   SELECT t1.c0 AS k0, COUNT(DISTINCT t1.u) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '')), t0.c2) AS n FROM (SELECT CASE WHEN s.`ward` IN ('A', 'B', 'C') THEN s.`ward` END AS c2, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1

-- max_rows=2
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward
--> shows ward, n
--> groups 3: A, B, C
--> touches everyone
--> costs epsilon 1
--> error n ± 6
--> event Laplace(scale 2, l1 2)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 2 (1)
--> at most 2 rows of each unit count
--> duckdb:
-->   SELECT t1.c0 AS k0, COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 2 GROUP BY 1
--> postgres:
-->   SELECT t1.c0 AS k0, COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c2) AS n FROM (SELECT CASE WHEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('A', 'B', 'C') THEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 2 GROUP BY 1
--> spark:
-->   SELECT t1.c0 AS k0, COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '')), t0.c2) AS n FROM (SELECT CASE WHEN s.`ward` IN ('A', 'B', 'C') THEN s.`ward` END AS c2, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 2 GROUP BY 1

SELECT COUNT(DISTINCT ward) AS wards FROM visits
--> shows wards
--> groups none
--> touches everyone
--> costs epsilon 1
--> error wards ± 15
--> event Laplace(scale 5, l1 5)
--> distinct: discrete Laplace noise of scale 5, one unit moves it by 5 (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT COUNT(DISTINCT CAST(t1.c0 AS VARCHAR)) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5
--> postgres:
-->   SELECT COUNT(DISTINCT t1.c0) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c2) AS n FROM (SELECT CASE WHEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('A', 'B', 'C') THEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5
--> spark:
-->   SELECT COUNT(DISTINCT t1.c0) AS r0 FROM (SELECT t0.c2 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '')), t0.c2) AS n FROM (SELECT CASE WHEN s.`ward` IN ('A', 'B', 'C') THEN s.`ward` END AS c2, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5

SELECT COUNT(DISTINCT patient_id) FROM patients
--> shows count(distinct patient_id)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error count(distinct patient_id) ± 3
--> event Laplace(scale 1, l1 1)
--> units: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM canon."clinic.patients" AS t0
--> postgres:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM (SELECT CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.patients" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0
--> spark:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM (SELECT CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.patients` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0
