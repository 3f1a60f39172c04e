-- Replace-one neighbours: a removal and an addition at once.

SELECT COUNT(*) FROM replies
--> shows count(*)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."panel.replies" AS t0
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM "panel.replies" AS s) AS t0
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT 1 AS c FROM `panel.replies` AS s) AS t0

SELECT COUNT(*) FROM replies WHERE yes
--> shows count(*)
--> groups none
--> touches yes = true
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM canon."panel.replies" AS t0 WHERE (t0.c1)
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT s."yes" AS c1 FROM "panel.replies" AS s) AS t0 WHERE (t0.c1)
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT s.`yes` AS c1 FROM `panel.replies` AS s) AS t0 WHERE (t0.c1)

SELECT party, COUNT(*) AS n FROM replies GROUP BY party
--> shows party, n
--> groups 3: red, green, blue
--> touches everyone
--> costs epsilon 1
--> error n ± 6
--> event Laplace(scale 2, l1 2)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 2 (1)
--> duckdb:
-->   SELECT t0.g2 AS k0, COUNT(*) AS r0 FROM canon."panel.replies" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('red', 'green', 'blue') THEN (CAST(((CAST((s."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "panel.replies" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c2 AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`party` IN ('red', 'green', 'blue') THEN s.`party` END AS c2 FROM `panel.replies` AS s) AS t0 GROUP BY 1

SELECT SUM(score) FROM replies
--> shows sum(score)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error sum(score) ± 2.996
--> event Laplace(scale 1000, l1 1000)
--> sum: discrete Laplace noise of scale 1000, one unit moves it by 1,000 steps of 0.001 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."panel.replies" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."score" >= 0 AND s."score" <= 1 THEN CAST(FLOOR(s."score" * 1000 + 0.5) AS BIGINT) END AS c0 FROM "panel.replies" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`score` >= 0 AND s.`score` <= 1 THEN CAST(FLOOR(s.`score` * 1000 + 0.5) AS BIGINT) END AS c0 FROM `panel.replies` AS s) AS t0

SELECT SUM(change) FROM replies
--> shows sum(change)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error sum(change) ± 33
--> event Laplace(scale 11, l1 11)
--> sum: discrete Laplace noise of scale 11, one unit moves it by 11 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."panel.replies" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."change" BETWEEN -3 AND 8 THEN CAST(s."change" AS BIGINT) END AS c3 FROM "panel.replies" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c3) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`change` BETWEEN -3 AND 8 THEN CAST(s.`change` AS BIGINT) END AS c3 FROM `panel.replies` AS s) AS t0

SELECT party, SUM(change) FROM replies GROUP BY party
--> shows party, sum(change)
--> groups 3: red, green, blue
--> touches everyone
--> costs epsilon 1
--> error sum(change) ± 48
--> event Laplace(scale 16, l1 16)
--> sum: discrete Laplace noise of scale 16, one unit moves it by 16 (1)
--> duckdb:
-->   SELECT t0.g2 AS k0, CAST(sum_no_overflow(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."panel.replies" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c2 AS k0, CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('red', 'green', 'blue') THEN (CAST(((CAST((s."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN s."change" BETWEEN -3 AND 8 THEN CAST(s."change" AS BIGINT) END AS c3 FROM "panel.replies" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c2 AS k0, (CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c3) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`party` IN ('red', 'green', 'blue') THEN s.`party` END AS c2, CASE WHEN s.`change` BETWEEN -3 AND 8 THEN CAST(s.`change` AS BIGINT) END AS c3 FROM `panel.replies` AS s) AS t0 GROUP BY 1

SELECT AVG(score) FROM replies
--> shows avg(score)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error avg(score) depends on the data
--> event Laplace(scale 4000, l1 2000) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 4000, one unit moves it by 2,000 steps of 0.001 (0.5)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1 FROM canon."panel.replies" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1 FROM (SELECT CASE WHEN s."score" >= 0 AND s."score" <= 1 THEN CAST(FLOOR(s."score" * 1000 + 0.5) AS BIGINT) END AS c0 FROM "panel.replies" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t0.c0) AS r1 FROM (SELECT CASE WHEN s.`score` >= 0 AND s.`score` <= 1 THEN CAST(FLOOR(s.`score` * 1000 + 0.5) AS BIGINT) END AS c0 FROM `panel.replies` AS s) AS t0

SELECT SUM(fee) FROM members
--> shows sum(fee)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error sum(fee) ± 899
--> event Laplace(scale 300, l1 300)
--> sum: discrete Laplace noise of scale 300, one unit moves it by 300 (1)
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c1 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0) AS t1 WHERE t1.n <= 3
--> postgres:
-->   SELECT CAST(SUM(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c1 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c1) AS TEXT) COLLATE "C"), '')), t0.c1) AS n FROM (SELECT CASE WHEN s."fee" BETWEEN -10 AND 90 THEN CAST(s."fee" AS BIGINT) END AS c1, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t1.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT t0.c1 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c1) AS STRING), '')), t0.c1) AS n FROM (SELECT CASE WHEN s.`fee` BETWEEN -10 AND 90 THEN CAST(s.`fee` AS BIGINT) END AS c1, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3

SELECT grade, SUM(fee) AS fees, COUNT(*) AS n FROM members GROUP BY grade
--> shows grade, fees, n
--> groups 2: bronze, gold
--> touches everyone
--> costs epsilon 1
--> error fees ± 3235, n ± 36
--> event Laplace(scale 1080, l1 540) and Laplace(scale 12, l1 6)
--> sum: discrete Laplace noise of scale 1080, one unit moves it by 540 (0.5)
--> rows: discrete Laplace noise of scale 12, one unit moves it by 6 (0.5)
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT t1.c1 AS k0, CAST(sum_no_overflow(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(*) AS r1 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> postgres:
-->   SELECT t1.c1 AS k0, CAST(SUM(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(*) AS r1 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c1) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c1, t0.c2) AS n FROM (SELECT CASE WHEN s."fee" BETWEEN -10 AND 90 THEN CAST(s."fee" AS BIGINT) END AS c1, CASE WHEN (CAST(((CAST((s."grade") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('bronze', 'gold') THEN (CAST(((CAST((s."grade") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> spark:
-->   SELECT t1.c1 AS k0, (CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t1.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(*) AS r1 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c1) AS STRING), '') || '|' || COALESCE(CAST((t0.c2) AS STRING), '')), t0.c1, t0.c2) AS n FROM (SELECT CASE WHEN s.`fee` BETWEEN -10 AND 90 THEN CAST(s.`fee` AS BIGINT) END AS c1, CASE WHEN s.`grade` IN ('bronze', 'gold') THEN s.`grade` END AS c2, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1

SELECT town, COUNT(DISTINCT member_id) AS people FROM members GROUP BY town
--> shows town, people
--> groups private
--> touches everyone
--> costs epsilon 1, delta 3.90625e-9
--> error people ± 18
--> event Laplace(scale 6, l1 6), failing with 3.90625e-9
--> units: discrete Laplace noise of scale 6, one unit moves it by 6 (1)
--> groups appear from 125 noisy units on
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT t1.c0 AS k0, COUNT(DISTINCT t1.u) AS r0 FROM (SELECT t0.c3 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> postgres:
-->   SELECT t1.c0 AS k0, COUNT(DISTINCT t1.u) AS r0 FROM (SELECT t0.c3 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '')), t0.c3) AS n FROM (SELECT SUBSTR((CAST(((CAST((s."town") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C"), 1, 10000) AS c3, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> spark:
-->   SELECT t1.c0 AS k0, COUNT(DISTINCT t1.u) AS r0 FROM (SELECT t0.c3 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c3) AS STRING), '')), t0.c3) AS n FROM (SELECT SUBSTR(CAST((CAST((s.`town`) AS STRING)) AS STRING), 1, 10000) AS c3, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1

SELECT grade, MEDIAN(fee) FROM members GROUP BY grade
--> shows grade, median(fee)
--> groups 2: bronze, gold
--> touches everyone
--> costs epsilon 1
--> error median(fee) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 101 public values, rank off by at most 46 rows at 95% (1)
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT t1.c1 AS k0, CAST(((t1.c0) - -10) AS UTINYINT) AS k1, COUNT(*) AS r0 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1, 2
--> postgres:
-->   SELECT t1.c1 AS k0, ((t1.c0) - -10) AS k1, COUNT(*) AS r0 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c1) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '')), t0.c1, t0.c2) AS n FROM (SELECT CASE WHEN s."fee" BETWEEN -10 AND 90 THEN CAST(s."fee" AS BIGINT) END AS c1, CASE WHEN (CAST(((CAST((s."grade") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('bronze', 'gold') THEN (CAST(((CAST((s."grade") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1, 2
--> spark:
-->   SELECT t1.c1 AS k0, ((t1.c0) - -10) AS k1, COUNT(*) AS r0 FROM (SELECT t0.c1 AS c0, t0.c2 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c1) AS STRING), '') || '|' || COALESCE(CAST((t0.c2) AS STRING), '')), t0.c1, t0.c2) AS n FROM (SELECT CASE WHEN s.`fee` BETWEEN -10 AND 90 THEN CAST(s.`fee` AS BIGINT) END AS c1, CASE WHEN s.`grade` IN ('bronze', 'gold') THEN s.`grade` END AS c2, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1, 2

SELECT COUNT(DISTINCT member_id) FROM members WHERE seen >= '2024-06-01' AND seen < TIMESTAMP '2024-07-01 00:00:00'
--> shows count(distinct member_id)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error count(distinct member_id) ± 3
--> event Laplace(scale 1, l1 1)
--> units: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM canon."club.members" AS t0 WHERE (t0.c4 BETWEEN DATE '2024-06-01' AND DATE '2024-06-30')
--> postgres:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END AS c4, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0 WHERE (t0.c4 BETWEEN DATE '2024-06-01' AND DATE '2024-06-30')
--> spark:
-->   SELECT COUNT(DISTINCT t0.u) AS r0 FROM (SELECT CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END AS c4, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0 WHERE (t0.c4 BETWEEN DATE '2024-06-01' AND DATE '2024-06-30')

SELECT COUNT(*) FROM members WHERE seen > TIMESTAMP '2024-07-01 12:00:00'
--> shows count(*)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error count(*) ± 9
--> event Laplace(scale 3, l1 3)
--> rows: discrete Laplace noise of scale 3, one unit moves it by 3 (1)
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0 WHERE (t0.c4 BETWEEN DATE '2024-07-01' AND DATE '2024-12-31') AND (((t0.c4) > (DATE '2024-07-01')) OR ((t0.c9) > (43200)))) AS t1 WHERE t1.n <= 3
--> postgres:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c4) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c9) AS TEXT) COLLATE "C"), '')), t0.c4, t0.c9) AS n FROM (SELECT CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END AS c4, CASE WHEN CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END IS NOT NULL THEN CAST(EXTRACT(HOUR FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END) * 3600 + EXTRACT(MINUTE FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END) * 60 + FLOOR(EXTRACT(SECOND FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END)) AS BIGINT) END AS c9, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0 WHERE (t0.c4 BETWEEN DATE '2024-07-01' AND DATE '2024-12-31') AND (((t0.c4) > (DATE '2024-07-01')) OR ((t0.c9) > (43200)))) AS t1 WHERE t1.n <= 3
--> spark:
-->   SELECT COUNT(*) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c4) AS STRING), '') || '|' || COALESCE(CAST((t0.c9) AS STRING), '')), t0.c4, t0.c9) AS n FROM (SELECT CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END AS c4, CASE WHEN CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END IS NOT NULL THEN CAST(EXTRACT(HOUR FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END) * 3600 + EXTRACT(MINUTE FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END) * 60 + FLOOR(EXTRACT(SECOND FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END)) AS BIGINT) END AS c9, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0 WHERE (t0.c4 BETWEEN DATE '2024-07-01' AND DATE '2024-12-31') AND (((t0.c4) > (DATE '2024-07-01')) OR ((t0.c9) > (43200)))) AS t1 WHERE t1.n <= 3

SELECT EXTRACT(hour FROM seen) AS hour, COUNT(DISTINCT DATE_TRUNC('minute', seen)) AS minutes FROM members GROUP BY 1
--> shows hour, minutes
--> groups 24: 0, 1, 2, 3, 4, 5, …
--> touches everyone
--> costs epsilon 1
--> error minutes ± 18
--> event Laplace(scale 6, l1 6)
--> distinct: discrete Laplace noise of scale 6, one unit moves it by 6 (1)
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT (CASE WHEN (3600) <> 0 THEN CAST((t1.c1) AS BIGINT) // CAST((3600) AS BIGINT) END) AS k0, COUNT(DISTINCT (((date_diff('day', DATE '1970-01-01', (t1.c0)) - date_diff('day', DATE '1970-01-01', (DATE '1970-01-01')))) * 1440 + (CASE WHEN (60) <> 0 THEN CAST((t1.c1) AS BIGINT) // CAST((60) AS BIGINT) END))) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> postgres:
-->   SELECT (CASE WHEN (3600) <> 0 THEN CAST((t1.c1) AS BIGINT) / CAST((3600) AS BIGINT) END) AS k0, COUNT(DISTINCT (((CAST((t1.c0) - DATE '1970-01-01' AS BIGINT) - CAST((DATE '1970-01-01') - DATE '1970-01-01' AS BIGINT))) * 1440 + (CASE WHEN (60) <> 0 THEN CAST((t1.c1) AS BIGINT) / CAST((60) AS BIGINT) END))) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c4) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c9) AS TEXT) COLLATE "C"), '')), t0.c4, t0.c9) AS n FROM (SELECT CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END AS c4, CASE WHEN CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END IS NOT NULL THEN CAST(EXTRACT(HOUR FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END) * 3600 + EXTRACT(MINUTE FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END) * 60 + FLOOR(EXTRACT(SECOND FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END)) AS BIGINT) END AS c9, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> spark:
-->   SELECT (CASE WHEN (3600) <> 0 THEN CAST((t1.c1) AS BIGINT) div CAST((3600) AS BIGINT) END) AS k0, COUNT(DISTINCT (((CAST(unix_date((t1.c0)) AS BIGINT) - CAST(unix_date((DATE '1970-01-01')) AS BIGINT))) * 1440 + (CASE WHEN (60) <> 0 THEN CAST((t1.c1) AS BIGINT) div CAST((60) AS BIGINT) END))) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c4) AS STRING), '') || '|' || COALESCE(CAST((t0.c9) AS STRING), '')), t0.c4, t0.c9) AS n FROM (SELECT CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END AS c4, CASE WHEN CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END IS NOT NULL THEN CAST(EXTRACT(HOUR FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END) * 3600 + EXTRACT(MINUTE FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END) * 60 + FLOOR(EXTRACT(SECOND FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END)) AS BIGINT) END AS c9, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 3 GROUP BY 1

SELECT DATE_TRUNC('hour', seen) AS hour, COUNT(*) FROM members WHERE seen BETWEEN '2024-03-01' AND '2024-03-02' GROUP BY 1
--> shows hour, count(*)
--> groups 48: 2024-03-01 00:00:00, 2024-03-01 01:00:00, 2024-03-01 02:00:00, 2024-03-01 03:00:00, 2024-03-01 04:00:00, 2024-03-01 05:00:00, …
--> touches everyone
--> costs epsilon 1
--> error count(*) ± 18
--> event Laplace(scale 6, l1 6)
--> rows: discrete Laplace noise of scale 6, one unit moves it by 6 (1)
--> at most 3 rows of each unit count
--> duckdb:
-->   SELECT (((date_diff('day', DATE '1970-01-01', (t1.c0)) - date_diff('day', DATE '1970-01-01', (DATE '1970-01-01')))) * 24 + (CASE WHEN (3600) <> 0 THEN CAST((t1.c1) AS BIGINT) // CAST((3600) AS BIGINT) END)) AS k0, COUNT(*) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."club.members" AS t0 WHERE (t0.c4 BETWEEN DATE '2024-03-01' AND DATE '2024-03-02') AND (((t0.c4) < (DATE '2024-03-02')) OR ((t0.c9) <= (0)))) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> postgres:
-->   SELECT (((CAST((t1.c0) - DATE '1970-01-01' AS BIGINT) - CAST((DATE '1970-01-01') - DATE '1970-01-01' AS BIGINT))) * 24 + (CASE WHEN (3600) <> 0 THEN CAST((t1.c1) AS BIGINT) / CAST((3600) AS BIGINT) END)) AS k0, COUNT(*) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c4) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c9) AS TEXT) COLLATE "C"), '')), t0.c4, t0.c9) AS n FROM (SELECT CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END AS c4, CASE WHEN CASE WHEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s."seen") AS DATE) END END IS NOT NULL THEN CAST(EXTRACT(HOUR FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END) * 3600 + EXTRACT(MINUTE FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END) * 60 + FLOOR(EXTRACT(SECOND FROM CASE WHEN (s."seen") >= TIMESTAMP '0001-01-01 00:00:00' AND (s."seen") < TIMESTAMP '9999-12-31 00:00:00' THEN (s."seen") END)) AS BIGINT) END AS c9, CAST(s."member_id" AS BIGINT) AS u FROM "club.members" AS s WHERE CAST(s."member_id" AS BIGINT) IS NOT NULL) AS t0 WHERE (t0.c4 BETWEEN DATE '2024-03-01' AND DATE '2024-03-02') AND (((t0.c4) < (DATE '2024-03-02')) OR ((t0.c9) <= (0)))) AS t1 WHERE t1.n <= 3 GROUP BY 1
--> spark:
-->   SELECT (((CAST(unix_date((t1.c0)) AS BIGINT) - CAST(unix_date((DATE '1970-01-01')) AS BIGINT))) * 24 + (CASE WHEN (3600) <> 0 THEN CAST((t1.c1) AS BIGINT) div CAST((3600) AS BIGINT) END)) AS k0, COUNT(*) AS r0 FROM (SELECT t0.c4 AS c0, t0.c9 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c4) AS STRING), '') || '|' || COALESCE(CAST((t0.c9) AS STRING), '')), t0.c4, t0.c9) AS n FROM (SELECT CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END AS c4, CASE WHEN CASE WHEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN CAST((s.`seen`) AS DATE) END END IS NOT NULL THEN CAST(EXTRACT(HOUR FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END) * 3600 + EXTRACT(MINUTE FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END) * 60 + FLOOR(EXTRACT(SECOND FROM CASE WHEN (s.`seen`) >= TIMESTAMP '0001-01-01 00:00:00' AND (s.`seen`) < TIMESTAMP '9999-12-31 00:00:00' THEN (s.`seen`) END)) AS BIGINT) END AS c9, CAST((s.`member_id`) AS STRING) AS u FROM `club.members` AS s WHERE CAST((s.`member_id`) AS STRING) IS NOT NULL) AS t0 WHERE (t0.c4 BETWEEN DATE '2024-03-01' AND DATE '2024-03-02') AND (((t0.c4) < (DATE '2024-03-02')) OR ((t0.c9) <= (0)))) AS t1 WHERE t1.n <= 3 GROUP BY 1
