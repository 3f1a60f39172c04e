-- Quantiles, MIN and MAX: chosen among public values by the exponential mechanism.

SELECT MEDIAN(age) FROM people
--> shows median(age)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error median(age) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 121 public values, rank off by at most 8 rows at 95% (1)
--> duckdb, postgres:
-->   SELECT (CASE WHEN t0."age" BETWEEN 0 AND 120 THEN CAST(t0."age" AS BIGINT) END) AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> spark:
-->   SELECT (CASE WHEN t0.`age` BETWEEN 0 AND 120 THEN CAST(t0.`age` AS BIGINT) END) AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1

SELECT MIN(age) AS least, MAX(age) AS most FROM people
--> shows least, most
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error least depends on the data, most depends on the data
--> event Select(0.5) and Select(0.5)
--> quantile 0: exponential mechanism over 121 public values, rank off by at most 32 rows at 95% (0.5)
--> quantile 1: exponential mechanism over 121 public values, rank off by at most 32 rows at 95% (0.5)
--> duckdb, postgres:
-->   SELECT (CASE WHEN t0."age" BETWEEN 0 AND 120 THEN CAST(t0."age" AS BIGINT) END) AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
-->   SELECT (CASE WHEN t0."age" BETWEEN 0 AND 120 THEN CAST(t0."age" AS BIGINT) END) AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> spark:
-->   SELECT (CASE WHEN t0.`age` BETWEEN 0 AND 120 THEN CAST(t0.`age` AS BIGINT) END) AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1
-->   SELECT (CASE WHEN t0.`age` BETWEEN 0 AND 120 THEN CAST(t0.`age` AS BIGINT) END) AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1

SELECT QUANTILE_CONT(income, 0.9) AS ninth FROM people
--> shows ninth
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error ninth depends on the data
--> event Select(1)
--> quantile 0.9: exponential mechanism over 4,096 public values, rank off by at most 21 rows at 95% (1)
--> duckdb:
-->   SELECT CASE WHEN (12208) <> 0 THEN CAST(((CASE WHEN t0."income" >= 0 AND t0."income" <= 500000 AND NOT isnan(t0."income") THEN TRY_CAST(FLOOR(t0."income" * 100 + 0.5) AS BIGINT) END)) AS BIGINT) // CAST((12208) AS BIGINT) END AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (12208) <> 0 THEN CAST(((CASE WHEN t0."income" >= 0 AND t0."income" <= 500000 THEN CAST(FLOOR(t0."income" * 100 + 0.5) AS BIGINT) END)) AS BIGINT) / CAST((12208) AS BIGINT) END AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (12208) <> 0 THEN CAST(((CASE WHEN t0.`income` >= 0 AND t0.`income` <= 500000 THEN CAST(FLOOR(t0.`income` * 100 + 0.5) AS BIGINT) END)) AS BIGINT) div CAST((12208) AS BIGINT) END AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1

SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age DESC) AS q FROM people
--> shows q
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error q depends on the data
--> event Select(1)
--> quantile 0.75: exponential mechanism over 121 public values, rank off by at most 12 rows at 95% (1)
--> duckdb, postgres:
-->   SELECT (CASE WHEN t0."age" BETWEEN 0 AND 120 THEN CAST(t0."age" AS BIGINT) END) AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> spark:
-->   SELECT (CASE WHEN t0.`age` BETWEEN 0 AND 120 THEN CAST(t0.`age` AS BIGINT) END) AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1

SELECT sex, MEDIAN(income) FROM people GROUP BY sex
--> shows sex, median(income)
--> groups 3: None, Female, Male
--> touches everyone in people
--> costs epsilon 1
--> error median(income) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 4,096 public values, rank off by at most 12 rows at 95% (1)
--> duckdb:
-->   SELECT t0."sex" AS k0, CASE WHEN (12208) <> 0 THEN CAST(((CASE WHEN t0."income" >= 0 AND t0."income" <= 500000 AND NOT isnan(t0."income") THEN TRY_CAST(FLOOR(t0."income" * 100 + 0.5) AS BIGINT) END)) AS BIGINT) // CAST((12208) AS BIGINT) END AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT (CAST(((CAST((t0."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") AS k0, CASE WHEN (12208) <> 0 THEN CAST(((CASE WHEN t0."income" >= 0 AND t0."income" <= 500000 THEN CAST(FLOOR(t0."income" * 100 + 0.5) AS BIGINT) END)) AS BIGINT) / CAST((12208) AS BIGINT) END AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.`sex` AS k0, CASE WHEN (12208) <> 0 THEN CAST(((CASE WHEN t0.`income` >= 0 AND t0.`income` <= 500000 THEN CAST(FLOOR(t0.`income` * 100 + 0.5) AS BIGINT) END)) AS BIGINT) div CAST((12208) AS BIGINT) END AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1, 2

SELECT MEDIAN(born) AS day FROM people
--> shows day
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error day depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 4,018 public values, rank off by at most 12 rows at 95% (1)
--> duckdb:
-->   SELECT CASE WHEN (11) <> 0 THEN CAST(((date_diff('day', DATE '1970-01-01', (CASE WHEN t0."born" BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN t0."born" END)) - date_diff('day', DATE '1970-01-01', (DATE '1900-01-01')))) AS BIGINT) // CAST((11) AS BIGINT) END AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT CASE WHEN (11) <> 0 THEN CAST(((CAST((CASE WHEN t0."born" BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN t0."born" END) - DATE '1970-01-01' AS BIGINT) - CAST((DATE '1900-01-01') - DATE '1970-01-01' AS BIGINT))) AS BIGINT) / CAST((11) AS BIGINT) END AS b, COUNT(*) AS n FROM "census.people" AS t0 GROUP BY 1
--> spark:
-->   SELECT CASE WHEN (11) <> 0 THEN CAST(((CAST(unix_date((CASE WHEN t0.`born` BETWEEN DATE '1900-01-01' AND DATE '2020-12-31' THEN t0.`born` END)) AS BIGINT) - CAST(unix_date((DATE '1900-01-01')) AS BIGINT))) AS BIGINT) div CAST((11) AS BIGINT) END AS b, COUNT(*) AS n FROM `census.people` AS t0 GROUP BY 1

SELECT MEDIAN(balance) FROM people WHERE balance < 0 OR balance IS NULL
--> shows median(balance)
--> groups none
--> touches in people: (balance <= -1 or unknown)
--> costs epsilon 1
--> error median(balance) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 50 public values, rank off by at most 7 rows at 95% (1)
--> duckdb, postgres:
-->   SELECT ((CASE WHEN t0."balance" BETWEEN -50 AND 50 THEN CAST(t0."balance" AS BIGINT) END) - -50) AS b, COUNT(*) AS n FROM "census.people" AS t0 WHERE (t0."balance" BETWEEN -50 AND -1 OR (CASE WHEN t0."balance" BETWEEN -50 AND 50 THEN CAST(t0."balance" AS BIGINT) END) IS NULL) GROUP BY 1
--> spark:
-->   SELECT ((CASE WHEN t0.`balance` BETWEEN -50 AND 50 THEN CAST(t0.`balance` AS BIGINT) END) - -50) AS b, COUNT(*) AS n FROM `census.people` AS t0 WHERE (t0.`balance` BETWEEN -50 AND -1 OR (CASE WHEN t0.`balance` BETWEEN -50 AND 50 THEN CAST(t0.`balance` AS BIGINT) END) IS NULL) GROUP BY 1

SELECT MEDIAN(2 * age) FROM people WHERE age BETWEEN 30 AND 40
--> shows median(2 * age)
--> groups none
--> touches in people: age 30 to 40
--> costs epsilon 1
--> error median(2 * age) depends on the data
--> event Select(1)
--> quantile 0.5: exponential mechanism over 11 public values, rank off by at most 6 rows at 95% (1)
--> duckdb, postgres:
-->   SELECT ((((1) * (CASE WHEN t0."age" BETWEEN 0 AND 120 THEN CAST(t0."age" AS BIGINT) END))) - 30) AS b, COUNT(*) AS n FROM "census.people" AS t0 WHERE (t0."age" BETWEEN 30 AND 40) GROUP BY 1
--> spark:
-->   SELECT ((((1) * (CASE WHEN t0.`age` BETWEEN 0 AND 120 THEN CAST(t0.`age` AS BIGINT) END))) - 30) AS b, COUNT(*) AS n FROM `census.people` AS t0 WHERE (t0.`age` BETWEEN 30 AND 40) GROUP BY 1

SELECT ward, MAX(cost) FROM visits GROUP BY ward
--> shows ward, max(cost)
--> groups 3: A, B, C
--> touches everyone
--> costs epsilon 1
--> error max(cost) depends on the data
--> event Select(1)
--> quantile 1: exponential mechanism over 4,082 public values, rank off by at most 114 rows at 95% (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT t1.c0 AS k0, CASE WHEN (245) <> 0 THEN CAST(((t1.c1)) AS BIGINT) // CAST((245) AS BIGINT) END AS b, COUNT(*) AS n FROM (WITH b AS NOT MATERIALIZED (SELECT t0."ward" AS c0, CASE WHEN t0."cost" >= 0 AND t0."cost" <= 10000 THEN GREATEST(0, LEAST(1000000, TRY_CAST(FLOOR(t0."cost" * 100 + 0.5) AS BIGINT))) END AS c1, t0."patient_id" AS u FROM "clinic.visits" AS t0 WHERE t0."patient_id" IS NOT NULL), h AS (SELECT u FROM b GROUP BY u HAVING COUNT(*) > 5) SELECT c0, c1, u FROM b WHERE NOT EXISTS (SELECT 1 FROM h WHERE h.u = b.u) UNION ALL SELECT c0, c1, u FROM (SELECT b.*, ROW_NUMBER() OVER (PARTITION BY b.u ORDER BY CAST('0x' || substr(md5((COALESCE(CAST((b.c0) AS VARCHAR), '') || '|' || COALESCE(CAST((b.c1) AS VARCHAR), ''))), 1, 15) AS BIGINT), b.c0, b.c1) AS n FROM b JOIN h ON h.u = b.u) AS w WHERE w.n <= 5) AS t1 GROUP BY 1, 2
--> postgres:
-->   SELECT t1.c0 AS k0, CASE WHEN (245) <> 0 THEN CAST(((t1.c1)) AS BIGINT) / CAST((245) AS BIGINT) END AS b, COUNT(*) AS n FROM (WITH b AS NOT MATERIALIZED (SELECT (CAST(((CAST((t0."ward") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") AS c0, CASE WHEN t0."cost" >= 0 AND t0."cost" <= 10000 THEN GREATEST(0, LEAST(1000000, CAST(FLOOR(t0."cost" * 100 + 0.5) AS BIGINT))) END AS c1, t0."patient_id" AS u FROM "clinic.visits" AS t0 WHERE t0."patient_id" IS NOT NULL), h AS (SELECT u FROM b GROUP BY u HAVING COUNT(*) > 5) SELECT c0, c1, u FROM b WHERE NOT EXISTS (SELECT 1 FROM h WHERE h.u = b.u) UNION ALL SELECT c0, c1, u FROM (SELECT b.*, ROW_NUMBER() OVER (PARTITION BY b.u ORDER BY CAST(CAST('x' || substr(md5((COALESCE((CAST((b.c0) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((b.c1) AS TEXT) COLLATE "C"), ''))), 1, 15) AS BIT(60)) AS BIGINT), b.c0, b.c1) AS n FROM b JOIN h ON h.u = b.u) AS w WHERE w.n <= 5) AS t1 GROUP BY 1, 2
--> spark:
-->   SELECT t1.c0 AS k0, CASE WHEN (245) <> 0 THEN CAST(((t1.c1)) AS BIGINT) div CAST((245) AS BIGINT) END AS b, COUNT(*) AS n FROM (WITH b AS (SELECT t0.`ward` AS c0, CASE WHEN t0.`cost` >= 0 AND t0.`cost` <= 10000 THEN GREATEST(0, LEAST(1000000, CAST(FLOOR(t0.`cost` * 100 + 0.5) AS BIGINT))) END AS c1, t0.`patient_id` AS u FROM `clinic.visits` AS t0 WHERE t0.`patient_id` IS NOT NULL), h AS (SELECT u FROM b GROUP BY u HAVING COUNT(*) > 5) SELECT c0, c1, u FROM b WHERE NOT EXISTS (SELECT 1 FROM h WHERE h.u = b.u) UNION ALL SELECT c0, c1, u FROM (SELECT b.*, ROW_NUMBER() OVER (PARTITION BY b.u ORDER BY CAST(conv(substr(md5((COALESCE(CAST((b.c0) AS STRING), '') || '|' || COALESCE(CAST((b.c1) AS STRING), ''))), 1, 15), 16, 10) AS BIGINT), b.c0, b.c1) AS n FROM b JOIN h ON h.u = b.u) AS w WHERE w.n <= 5) AS t1 GROUP BY 1, 2

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
-->   SELECT (CASE WHEN t0."score" >= 0 AND t0."score" <= 1 AND NOT isnan(t0."score") THEN TRY_CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM "panel.replies" AS t0 GROUP BY 1
-->   SELECT (CASE WHEN t0."score" >= 0 AND t0."score" <= 1 AND NOT isnan(t0."score") THEN TRY_CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM "panel.replies" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM "panel.replies" AS t0 GROUP BY 1
-->   SELECT (CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM "panel.replies" AS t0 GROUP BY 1
--> spark:
-->   SELECT (CASE WHEN t0.`score` >= 0 AND t0.`score` <= 1 THEN CAST(FLOOR(t0.`score` * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM `panel.replies` AS t0 GROUP BY 1
-->   SELECT (CASE WHEN t0.`score` >= 0 AND t0.`score` <= 1 THEN CAST(FLOOR(t0.`score` * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM `panel.replies` AS t0 GROUP BY 1

SELECT party, QUANTILE_DISC(score, 0.75) FROM replies GROUP BY party
--> shows party, quantile_disc(score, 0.75)
--> groups 3: red, green, blue
--> touches everyone
--> costs epsilon 1
--> error quantile_disc(score, 0.75) depends on the data
--> event Select(1)
--> quantile 0.75: exponential mechanism over 1,001 public values, rank off by at most 30 rows at 95% (1)
--> duckdb:
-->   SELECT t0."party" AS k0, (CASE WHEN t0."score" >= 0 AND t0."score" <= 1 AND NOT isnan(t0."score") THEN TRY_CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM "panel.replies" AS t0 GROUP BY 1, 2
--> postgres:
-->   SELECT (CAST(((CAST((t0."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") AS k0, (CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM "panel.replies" AS t0 GROUP BY 1, 2
--> spark:
-->   SELECT t0.`party` AS k0, (CASE WHEN t0.`score` >= 0 AND t0.`score` <= 1 THEN CAST(FLOOR(t0.`score` * 1000 + 0.5) AS BIGINT) END) AS b, COUNT(*) AS n FROM `panel.replies` AS t0 GROUP BY 1, 2
