-- Quantiles, MIN and MAX: chosen among public values by the exponential mechanism.

SELECT MEDIAN(age) FROM people
--> shows median(age)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error median(age) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 121 public values, rank off by at most 8 rows at 95% (1)
--> duckdb:
-->   SELECT t0.g0 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT MIN(age) AS least, MAX(age) AS most FROM people
--> shows least, most
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error least depends on the data, most depends on the data
--> event Select(0.5) and Select(0.5)
--> quantile 0: exponential mechanism over 121 public values, rank off by at most 32 rows at 95% (0.5)
--> quantile 1: exponential mechanism over 121 public values, rank off by at most 32 rows at 95% (0.5)
--> duckdb:
-->   SELECT t0.g0 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
-->   SELECT t0.g0 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 GROUP BY 1
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 GROUP BY 1
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT QUANTILE_CONT(income, 0.9) AS ninth FROM people
--> shows ninth
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error ninth depends on the data
--> event Select(1)
--> quantile 0.9: exponential mechanism over 4,096 public ranges of 12,208 values each, the middle of one is shown, its rank off by at most 21 rows at 95% (1)
--> duckdb:
-->   SELECT CASE WHEN (12208) <> 0 THEN CAST(((t0.c3)) AS BIGINT) // CAST((12208) AS BIGINT) END AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (12208) <> 0 THEN CAST(((t0.c3)) AS BIGINT) / CAST((12208) AS BIGINT) END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (12208) <> 0 THEN CAST(((t0.c3)) AS BIGINT) div CAST((12208) AS BIGINT) END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age DESC) AS q FROM people
--> shows q
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error q depends on the data
--> event Select(1)
--> quantile 0.75: exponential mechanism over 121 public values, rank off by at most 12 rows at 95% (1)
--> duckdb:
-->   SELECT t0.g0 AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT sex, MEDIAN(income) FROM people GROUP BY sex
--> shows sex, median(income)
--> groups 3: None, Female, Male
--> touches everyone in people
--> costs epsilon 1
--> error median(income) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 4,096 public ranges of 12,208 values each, the middle of one is shown, its rank off by at most 12 rows at 95% (1)
--> duckdb:
-->   SELECT t0.c1 AS k0, CASE WHEN (12208) <> 0 THEN CAST(((t0.c3)) AS BIGINT) // CAST((12208) AS BIGINT) END AS k1, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT t0.c1 AS k0, CASE WHEN (12208) <> 0 THEN CAST(((t0.c3)) AS BIGINT) / CAST((12208) AS BIGINT) END AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.c1 AS k0, CASE WHEN (12208) <> 0 THEN CAST(((t0.c3)) AS BIGINT) div CAST((12208) AS BIGINT) END AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 GROUP BY 1, 2

SELECT MEDIAN(born) AS day FROM people
--> shows day
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error day depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 4,018 public ranges of 11 values each, the middle of one is shown, its rank off by at most 12 rows at 95% (1)
--> duckdb:
-->   SELECT CASE WHEN (11) <> 0 THEN CAST(((date_diff('day', DATE '1970-01-01', (t0.c6)) - date_diff('day', DATE '1970-01-01', (DATE '1900-01-01')))) AS BIGINT) // CAST((11) AS BIGINT) END AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (11) <> 0 THEN CAST(((CAST((t0.c6) - DATE '1970-01-01' AS BIGINT) - CAST((DATE '1900-01-01') - DATE '1970-01-01' AS BIGINT))) AS BIGINT) / CAST((11) AS BIGINT) END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."born" BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN s."born" END AS c6 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (11) <> 0 THEN CAST(((CAST(unix_date((t0.c6)) AS BIGINT) - CAST(unix_date((DATE '1900-01-01')) AS BIGINT))) AS BIGINT) div CAST((11) AS BIGINT) END AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`born` BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN s.`born` END AS c6 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT MEDIAN(balance) FROM people WHERE balance < 0 OR balance IS NULL
--> shows median(balance)
--> groups none
--> touches in people: (balance <= -1 or unknown)
--> costs epsilon 1
--> error median(balance) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 50 public values, rank off by at most 7 rows at 95% (1)
--> duckdb:
-->   SELECT CAST(((t0.c8) - -50) AS UTINYINT) AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c8 BETWEEN -50 AND -1 OR t0.c8 IS NULL) GROUP BY 1
--> postgres:
-->   SELECT ((t0.c8) - -50) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0 WHERE (t0.c8 BETWEEN -50 AND -1 OR t0.c8 IS NULL) GROUP BY 1
--> spark:
-->   SELECT ((t0.c8) - -50) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0 WHERE (t0.c8 BETWEEN -50 AND -1 OR t0.c8 IS NULL) GROUP BY 1

SELECT MEDIAN(2 * age) FROM people WHERE age BETWEEN 30 AND 40
--> shows median(2 * age)
--> groups none
--> touches in people: age 30 to 40
--> costs epsilon 1
--> error median(2 * age) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 11 public values, rank off by at most 6 rows at 95% (1)
--> duckdb:
-->   SELECT ((t0.c0) - 30) AS k0, COUNT(*) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c0 BETWEEN 30 AND 40) GROUP BY 1
--> postgres:
-->   SELECT ((t0.c0) - 30) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 WHERE (t0.c0 BETWEEN 30 AND 40) GROUP BY 1
--> spark:
-->   SELECT ((t0.c0) - 30) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 WHERE (t0.c0 BETWEEN 30 AND 40) GROUP BY 1

SELECT ward, MAX(cost) FROM visits GROUP BY ward
--> shows ward, max(cost)
--> groups 3: A, B, C
--> touches everyone
--> costs epsilon 1
--> error max(cost) depends on the data
--> event Select(1)
--> quantile 1: exponential mechanism over 4,082 public ranges of 245 values each, the middle of one is shown, its rank off by at most 114 rows at 95% (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT t1.c0 AS k0, CASE WHEN (245) <> 0 THEN CAST(((t1.c1)) AS BIGINT) // CAST((245) AS BIGINT) END AS k1, COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1, 2
--> postgres:
-->   SELECT t1.c0 AS k0, CASE WHEN (245) <> 0 THEN CAST(((t1.c1)) AS BIGINT) / CAST((245) AS BIGINT) END AS k1, COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '')), t0.c2, t0.c3) AS n FROM (SELECT CASE WHEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('A', 'B', 'C') THEN (CAST(((CAST((s."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2, CASE WHEN CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) >= 0 AND CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1, 2
--> spark:
-->   SELECT t1.c0 AS k0, CASE WHEN (245) <> 0 THEN CAST(((t1.c1)) AS BIGINT) div CAST((245) AS BIGINT) END AS k1, COUNT(*) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '') || '|' || COALESCE(CAST((t0.c3) AS STRING), '')), t0.c2, t0.c3) AS n FROM (SELECT CASE WHEN s.`ward` IN ('A', 'B', 'C') THEN s.`ward` END AS c2, CASE WHEN CAST(s.`cost` AS DOUBLE) >= 0 AND CAST(s.`cost` AS DOUBLE) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5 GROUP BY 1, 2

SELECT MEDIAN(score), MAX(score) FROM replies
--> shows median(score), max(score)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error median(score) depends on the data, max(score) depends on the data
--> event Select(0.5) and Select(0.5)
--> quantile 0.5: exponential mechanism over 1,001 public values, rank off by at most 40 rows at 95% (0.5)
--> quantile 1: exponential mechanism over 1,001 public values, rank off by at most 40 rows at 95% (0.5)
--> duckdb:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM canon."panel.replies" AS t0 GROUP BY 1
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM canon."panel.replies" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."score" >= 0 AND s."score" <= 1 THEN CAST(FLOOR(s."score" * 1000 + 0.5) AS BIGINT) END AS c0 FROM "panel.replies" AS s) AS t0 GROUP BY 1
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."score" >= 0 AND s."score" <= 1 THEN CAST(FLOOR(s."score" * 1000 + 0.5) AS BIGINT) END AS c0 FROM "panel.replies" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`score` >= 0 AND s.`score` <= 1 THEN CAST(FLOOR(s.`score` * 1000 + 0.5) AS BIGINT) END AS c0 FROM `panel.replies` AS s) AS t0 GROUP BY 1
-->   SELECT (t0.c0) AS k0, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`score` >= 0 AND s.`score` <= 1 THEN CAST(FLOOR(s.`score` * 1000 + 0.5) AS BIGINT) END AS c0 FROM `panel.replies` AS s) AS t0 GROUP BY 1

SELECT party, QUANTILE_DISC(score, 0.75) FROM replies GROUP BY party
--> shows party, quantile_disc(score, 0.75)
--> groups 3: red, green, blue
--> touches everyone
--> costs epsilon 1
--> error quantile_disc(score, 0.75) depends on the data
--> event Select(1)
--> quantile 0.75: exponential mechanism over 1,001 public values, rank off by at most 30 rows at 95% (1)
--> duckdb:
-->   SELECT t0.c2 AS k0, (t0.c0) AS k1, COUNT(*) AS r0 FROM canon."panel.replies" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT t0.c2 AS k0, (t0.c0) AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN s."score" >= 0 AND s."score" <= 1 THEN CAST(FLOOR(s."score" * 1000 + 0.5) AS BIGINT) END AS c0, CASE WHEN (CAST(((CAST((s."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('red', 'green', 'blue') THEN (CAST(((CAST((s."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c2 FROM "panel.replies" AS s) AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.c2 AS k0, (t0.c0) AS k1, COUNT(*) AS r0 FROM (SELECT CASE WHEN s.`score` >= 0 AND s.`score` <= 1 THEN CAST(FLOOR(s.`score` * 1000 + 0.5) AS BIGINT) END AS c0, CASE WHEN s.`party` IN ('red', 'green', 'blue') THEN s.`party` END AS c2 FROM `panel.replies` AS s) AS t0 GROUP BY 1, 2
