-- Sums, means, variances: what one unit moves, and by how much.

SELECT SUM(age) FROM people
--> shows sum(age)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error sum(age) ± 359
--> event Laplace(scale 120, l1 120)
--> sum: discrete Laplace noise of scale 120, one unit moves it by 120 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

SELECT SUM(balance) AS total FROM people
--> shows total
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error total ± 150
--> event Laplace(scale 50, l1 50)
--> sum: discrete Laplace noise of scale 50, one unit moves it by 50 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c8) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c8) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c8) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c8) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c8) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0

SELECT SUM(income) AS total FROM people WHERE income <= 100000
--> shows total
--> groups none
--> touches in people: income <= 100000
--> costs epsilon 1
--> error total ± 299573
--> event Laplace(scale 10000000, l1 10000000)
--> sum: discrete Laplace noise of scale 1e7, one unit moves it by 10,000,000 steps of 0.01 (1)
--> duckdb:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0.c3 > 10000000 THEN 10000000 WHEN t0.c3 < 0 THEN 0 ELSE t0.c3 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c3 BETWEEN 0 AND 10000000)
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0.c3 > 10000000 THEN 10000000 WHEN t0.c3 < 0 THEN 0 ELSE t0.c3 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 WHERE (t0.c3 BETWEEN 0 AND 10000000)
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t0.c3 > 10000000 THEN 10000000 WHEN t0.c3 < 0 THEN 0 ELSE t0.c3 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t0.c3 > 10000000 THEN 10000000 WHEN t0.c3 < 0 THEN 0 ELSE t0.c3 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t0.c3 > 10000000 THEN 10000000 WHEN t0.c3 < 0 THEN 0 ELSE t0.c3 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 WHERE (t0.c3 BETWEEN 0 AND 10000000)

SELECT AVG(age) AS mean FROM people
--> shows mean
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error mean depends on the data
--> event Laplace(scale 240, l1 120) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 240, one unit moves it by 120 (0.5)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t0.c0) AS r1 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

SELECT sex, AVG(income) AS mean, COUNT(*) AS n FROM people GROUP BY sex
--> shows sex, mean, n
--> groups 3: None, Female, Male
--> touches everyone in people
--> costs epsilon 1
--> error mean depends on the data, n ± 6
--> event Laplace(scale 2e8, l1 50000000) and Laplace(scale 4, l1 1) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 2e8, one unit moves it by 50,000,000 steps of 0.01 (0.25)
--> present: discrete Laplace noise of scale 4, one unit moves it by 1 (0.25)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT t0.g1 AS k0, CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c3) AS r1, COUNT(*) AS r2 FROM canon."census.people" AS t0 GROUP BY 1
--> postgres:
-->   SELECT t0.c1 AS k0, CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c3) AS r1, COUNT(*) AS r2 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0 GROUP BY 1
--> spark:
-->   SELECT t0.c1 AS k0, (CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c3) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t0.c3) AS r1, COUNT(*) AS r2 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0 GROUP BY 1

SELECT VARIANCE(age), STDDEV(age), AVG(age), SUM(age) FROM people
--> shows variance(age), stddev(age), avg(age), sum(age)
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error variance(age) depends on the data, stddev(age) depends on the data, avg(age) depends on the data, sum(age) ± 590.5
--> event Laplace(scale 288, l1 120) and Laplace(scale 2.4, l1 1) and Laplace(scale 86400, l1 14400)
--> centred: discrete Laplace noise of scale 288, one unit moves it by 120 (0.416667)
--> present: discrete Laplace noise of scale 2.4, one unit moves it by 1 (0.416667)
--> squares: discrete Laplace noise of scale 86400, one unit moves it by 14,400 (0.166667)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1, CAST(sum_no_overflow(CAST((CAST(t0.c0 AS BIGINT) * CAST(t0.c0 AS BIGINT)) AS BIGINT)) AS DECIMAL(38, 0)) AS r2 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t0.c0) AS r1, CAST(SUM(CAST((CAST(t0.c0 AS BIGINT) * CAST(t0.c0 AS BIGINT)) AS BIGINT)) AS DECIMAL(38, 0)) AS r2 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t0.c0) AS r1, (CAST(SUM(shiftright(CAST((CAST(t0.c0 AS BIGINT) * CAST(t0.c0 AS BIGINT)) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CAST(t0.c0 AS BIGINT) * CAST(t0.c0 AS BIGINT)) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CAST(t0.c0 AS BIGINT) * CAST(t0.c0 AS BIGINT)) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r2 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0

SELECT SUM(debt) AS owed FROM people
--> shows owed
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error owed ± 2995
--> event Laplace(scale 200, l1 200)
--> sum: discrete Laplace noise of scale 200, one unit moves it by 200 steps of 5 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t0.c4) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c4) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."debt" >= -1000 AND s."debt" <= 1000 THEN CASE WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) END END AS c4 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c4) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c4) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c4) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`debt` >= -1000 AND s.`debt` <= 1000 THEN CASE WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) END END AS c4 FROM `census.people` AS s) AS t0

SELECT SUM(income - 12 * debt) AS net FROM people
--> shows net
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error net ± 1.53381e+06
--> event Laplace(scale 51200000, l1 51200000)
--> sum: discrete Laplace noise of scale 5.12e7, one unit moves it by 51,200,000 steps of 0.01 (1)
--> duckdb:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 51200000 THEN 51200000 WHEN t1.c0 < -1200000 THEN -1200000 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT (t0.c3 - (t0.c4) * 6000) AS c0 FROM canon."census.people" AS t0) AS t1
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 51200000 THEN 51200000 WHEN t1.c0 < -1200000 THEN -1200000 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT (t0.c3 - (t0.c4) * 6000) AS c0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s."debt" >= -1000 AND s."debt" <= 1000 THEN CASE WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(CASE WHEN s."debt" > -1.25 AND s."debt" < 1.25 THEN 0.0 ELSE s."debt" / 5.0 END + 0.5) AS BIGINT) END END AS c4 FROM "census.people" AS s) AS t0) AS t1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 51200000 THEN 51200000 WHEN t1.c0 < -1200000 THEN -1200000 ELSE t1.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 51200000 THEN 51200000 WHEN t1.c0 < -1200000 THEN -1200000 ELSE t1.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c0 > 51200000 THEN 51200000 WHEN t1.c0 < -1200000 THEN -1200000 ELSE t1.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT (t0.c3 - (t0.c4) * 6000) AS c0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s.`debt` >= -1000 AND s.`debt` <= 1000 THEN CASE WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) > 200 THEN 200 WHEN CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) < -200 THEN -200 ELSE CAST(FLOOR(s.`debt` / 5.0 + 0.5) AS BIGINT) END END AS c4 FROM `census.people` AS s) AS t0) AS t1

SELECT SUM(age * 2 + 1) AS odd FROM people
--> shows odd
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error odd ± 722
--> event Laplace(scale 241, l1 241)
--> sum: discrete Laplace noise of scale 241, one unit moves it by 241 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t1.c0 > 241 THEN 241 WHEN t1.c0 < 1 THEN 1 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT ((t0.c0) * 2 + 1) AS c0 FROM canon."census.people" AS t0) AS t1
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 241 THEN 241 WHEN t1.c0 < 1 THEN 1 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT ((t0.c0) * 2 + 1) AS c0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0) AS t1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 241 THEN 241 WHEN t1.c0 < 1 THEN 1 ELSE t1.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 241 THEN 241 WHEN t1.c0 < 1 THEN 1 ELSE t1.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c0 > 241 THEN 241 WHEN t1.c0 < 1 THEN 1 ELSE t1.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT ((t0.c0) * 2 + 1) AS c0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0) AS t1

SELECT SUM(income / 100) AS hundreds FROM people
--> shows hundreds
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error hundreds ± 14978.7
--> event Laplace(scale 50000000, l1 50000000)
--> sum: discrete Laplace noise of scale 5e7, one unit moves it by 50,000,000 steps of 0.0001 (1)
--> duckdb:
-->   SELECT CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((t0.c3) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t0.c3) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t0.c3) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0

SELECT SUM(CASE WHEN sex = 'Male' THEN income ELSE 0 END) AS of_men FROM people
--> shows of_men
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error of_men ± 1.49787e+06
--> event Laplace(scale 50000000, l1 50000000)
--> sum: discrete Laplace noise of scale 5e7, one unit moves it by 50,000,000 steps of 0.01 (1)
--> duckdb:
-->   SELECT CAST(SUM(CAST((CASE WHEN ((t0.g1) = ('Male')) THEN t0.c3 ELSE 0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN ((t0.c1) = ('Male')) THEN t0.c3 ELSE 0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") IN ('Female', 'Male') THEN (CAST(((CAST((s."sex") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") END AS c1, CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3 FROM "census.people" AS s) AS t0
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN ((t0.c1) = ('Male')) THEN t0.c3 ELSE 0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN ((t0.c1) = ('Male')) THEN t0.c3 ELSE 0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN ((t0.c1) = ('Male')) THEN t0.c3 ELSE 0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`sex` IN ('Female', 'Male') THEN s.`sex` END AS c1, CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3 FROM `census.people` AS s) AS t0

SELECT SUM(LEAST(income, 1000)) AS capped, SUM(GREATEST(balance, 0)) AS plus FROM people
--> shows capped, plus
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error capped ± 5991.46, plus ± 300
--> event Laplace(scale 200000, l1 100000) and Laplace(scale 100, l1 50)
--> sum: discrete Laplace noise of scale 200000, one unit moves it by 100,000 steps of 0.01 (0.5)
--> sum: discrete Laplace noise of scale 100, one unit moves it by 50 (0.5)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t1.c0 > 100000 THEN 100000 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, CAST(sum_no_overflow(CAST((CASE WHEN t1.c1 > 50 THEN 50 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r1 FROM (SELECT CASE WHEN (t0.c3) IS NOT NULL AND (100000) IS NOT NULL THEN LEAST(t0.c3, 100000) END AS c0, CASE WHEN (t0.c8) IS NOT NULL AND (0) IS NOT NULL THEN GREATEST(t0.c8, 0) END AS c1 FROM canon."census.people" AS t0) AS t1
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 100000 THEN 100000 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, CAST(SUM(CAST((CASE WHEN t1.c1 > 50 THEN 50 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r1 FROM (SELECT CASE WHEN (t0.c3) IS NOT NULL AND (100000) IS NOT NULL THEN LEAST(t0.c3, 100000) END AS c0, CASE WHEN (t0.c8) IS NOT NULL AND (0) IS NOT NULL THEN GREATEST(t0.c8, 0) END AS c1 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0) AS t1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 100000 THEN 100000 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 100000 THEN 100000 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c0 > 100000 THEN 100000 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, (CAST(SUM(shiftright(CAST((CASE WHEN t1.c1 > 50 THEN 50 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c1 > 50 THEN 50 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c1 > 50 THEN 50 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r1 FROM (SELECT CASE WHEN (t0.c3) IS NOT NULL AND (100000) IS NOT NULL THEN LEAST(t0.c3, 100000) END AS c0, CASE WHEN (t0.c8) IS NOT NULL AND (0) IS NOT NULL THEN GREATEST(t0.c8, 0) END AS c1 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0) AS t1

SELECT SUM(age) FROM people WHERE age IS NULL OR age <= 5
--> shows sum(age)
--> groups none
--> touches in people: (age <= 5 or unknown)
--> costs epsilon 1
--> error sum(age) ± 15
--> event Laplace(scale 5, l1 5)
--> sum: discrete Laplace noise of scale 5, one unit moves it by 5 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t0.c0 > 5 THEN 5 WHEN t0.c0 < 0 THEN 0 ELSE t0.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM canon."census.people" AS t0 WHERE (t0.c0 BETWEEN 0 AND 5 OR t0.c0 IS NULL)
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0.c0 > 5 THEN 5 WHEN t0.c0 < 0 THEN 0 ELSE t0.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CASE WHEN s."age" BETWEEN 0 AND 120 THEN CAST(s."age" AS BIGINT) END AS c0 FROM "census.people" AS s) AS t0 WHERE (t0.c0 BETWEEN 0 AND 5 OR t0.c0 IS NULL)
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t0.c0 > 5 THEN 5 WHEN t0.c0 < 0 THEN 0 ELSE t0.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t0.c0 > 5 THEN 5 WHEN t0.c0 < 0 THEN 0 ELSE t0.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t0.c0 > 5 THEN 5 WHEN t0.c0 < 0 THEN 0 ELSE t0.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CASE WHEN s.`age` BETWEEN 0 AND 120 THEN CAST(s.`age` AS BIGINT) END AS c0 FROM `census.people` AS s) AS t0 WHERE (t0.c0 BETWEEN 0 AND 5 OR t0.c0 IS NULL)

SELECT AVG(balance) FROM people WHERE balance <= -10 OR balance IS NULL
--> shows avg(balance)
--> groups none
--> touches in people: (balance <= -10 or unknown)
--> costs epsilon 1
--> error avg(balance) depends on the data
--> event Laplace(scale 80, l1 40) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 80, one unit moves it by 40 (0.5)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS r1 FROM canon."census.people" AS t0 WHERE (t0.c8 BETWEEN -50 AND -10 OR t0.c8 IS NULL)
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS r1 FROM (SELECT CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0 WHERE (t0.c8 BETWEEN -50 AND -10 OR t0.c8 IS NULL)
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(CASE WHEN t0.c8 > -10 THEN -10 WHEN t0.c8 < -50 THEN -50 ELSE t0.c8 END) AS r1 FROM (SELECT CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0 WHERE (t0.c8 BETWEEN -50 AND -10 OR t0.c8 IS NULL)

SELECT SUM(member::INTEGER) FROM people WHERE NOT member
--> shows sum(cast(member as int))
--> groups none
--> touches in people: member = false
--> costs epsilon 1
--> error sum(cast(member as int)) ± 3
--> event Laplace(scale 1, l1 1)
--> sum: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t1.c0 > 1 THEN 1 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CAST(CASE WHEN (t0.c5) IN (FALSE) THEN 0 WHEN (t0.c5) IN (TRUE) THEN 1 END AS BIGINT) AS c0 FROM canon."census.people" AS t0 WHERE (NOT t0.c5)) AS t1
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 1 THEN 1 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT CAST(CASE WHEN (t0.c5) IN (FALSE) THEN 0 WHEN (t0.c5) IN (TRUE) THEN 1 END AS BIGINT) AS c0 FROM (SELECT s."member" AS c5 FROM "census.people" AS s) AS t0 WHERE (NOT t0.c5)) AS t1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 1 THEN 1 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 1 THEN 1 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c0 > 1 THEN 1 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT CAST(CASE WHEN (t0.c5) IN (FALSE) THEN 0 WHEN (t0.c5) IN (TRUE) THEN 1 END AS BIGINT) AS c0 FROM (SELECT s.`member` AS c5 FROM `census.people` AS s) AS t0 WHERE (NOT t0.c5)) AS t1

SELECT SUM(COALESCE(balance, 0)) FROM people
--> shows sum(coalesce(balance, 0))
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error sum(coalesce(balance, 0)) ± 150
--> event Laplace(scale 50, l1 50)
--> sum: discrete Laplace noise of scale 50, one unit moves it by 50 (1)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < -50 THEN -50 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT COALESCE(t0.c8, 0) AS c0 FROM canon."census.people" AS t0) AS t1
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < -50 THEN -50 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT COALESCE(t0.c8, 0) AS c0 FROM (SELECT CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0) AS t1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < -50 THEN -50 ELSE t1.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < -50 THEN -50 ELSE t1.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < -50 THEN -50 ELSE t1.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT COALESCE(t0.c8, 0) AS c0 FROM (SELECT CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0) AS t1

SELECT SUM(ABS(balance)) AS a, SUM(FLOOR(income)) AS f, SUM(CEIL(income)) AS c FROM people
--> shows a, f, c
--> groups none
--> touches everyone in people
--> costs epsilon 1
--> error a ± 449, f ± 4.4936e+06, c ± 4.4936e+06
--> event Laplace(scale 150, l1 50) and Laplace(scale 1500000, l1 500000) and Laplace(scale 1500000, l1 500000)
--> sum: discrete Laplace noise of scale 150, one unit moves it by 50 (0.333333)
--> sum: discrete Laplace noise of scale 1.5e6, one unit moves it by 500,000 (0.333333)
--> sum: discrete Laplace noise of scale 1.5e6, one unit moves it by 500,000 (0.333333)
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, CAST(sum_no_overflow(CAST((CASE WHEN t1.c1 > 500000 THEN 500000 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r1, CAST(sum_no_overflow(CAST((CASE WHEN t1.c2 > 500000 THEN 500000 WHEN t1.c2 < 0 THEN 0 ELSE t1.c2 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r2 FROM (SELECT ABS(t0.c8) AS c0, (CASE WHEN (100) <> 0 THEN CAST((t0.c3) AS BIGINT) // CAST((100) AS BIGINT) END) AS c1, -((CASE WHEN (100) <> 0 THEN CAST(((-(t0.c3)) - -50000000) AS BIGINT) // CAST((100) AS BIGINT) END + -500000)) AS c2 FROM canon."census.people" AS t0) AS t1
--> postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, CAST(SUM(CAST((CASE WHEN t1.c1 > 500000 THEN 500000 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r1, CAST(SUM(CAST((CASE WHEN t1.c2 > 500000 THEN 500000 WHEN t1.c2 < 0 THEN 0 ELSE t1.c2 END) AS BIGINT)) AS DECIMAL(38, 0)) AS r2 FROM (SELECT ABS(t0.c8) AS c0, (CASE WHEN (100) <> 0 THEN CAST((t0.c3) AS BIGINT) / CAST((100) AS BIGINT) END) AS c1, -((CASE WHEN (100) <> 0 THEN CAST(((-(t0.c3)) - -50000000) AS BIGINT) / CAST((100) AS BIGINT) END + -500000)) AS c2 FROM (SELECT CASE WHEN s."income" >= 0 AND s."income" <= 500000 THEN CAST(FLOOR(s."income" * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s."balance" BETWEEN -50 AND 50 THEN CAST(s."balance" AS BIGINT) END AS c8 FROM "census.people" AS s) AS t0) AS t1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c0 > 50 THEN 50 WHEN t1.c0 < 0 THEN 0 ELSE t1.c0 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, (CAST(SUM(shiftright(CAST((CASE WHEN t1.c1 > 500000 THEN 500000 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c1 > 500000 THEN 500000 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c1 > 500000 THEN 500000 WHEN t1.c1 < 0 THEN 0 ELSE t1.c1 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r1, (CAST(SUM(shiftright(CAST((CASE WHEN t1.c2 > 500000 THEN 500000 WHEN t1.c2 < 0 THEN 0 ELSE t1.c2 END) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((CASE WHEN t1.c2 > 500000 THEN 500000 WHEN t1.c2 < 0 THEN 0 ELSE t1.c2 END) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((CASE WHEN t1.c2 > 500000 THEN 500000 WHEN t1.c2 < 0 THEN 0 ELSE t1.c2 END) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r2 FROM (SELECT ABS(t0.c8) AS c0, (CASE WHEN (100) <> 0 THEN CAST((t0.c3) AS BIGINT) div CAST((100) AS BIGINT) END) AS c1, -((CASE WHEN (100) <> 0 THEN CAST(((-(t0.c3)) - -50000000) AS BIGINT) div CAST((100) AS BIGINT) END + -500000)) AS c2 FROM (SELECT CASE WHEN s.`income` >= 0 AND s.`income` <= 500000 THEN CAST(FLOOR(s.`income` * 100 + 0.5) AS BIGINT) END AS c3, CASE WHEN s.`balance` BETWEEN -50 AND 50 THEN CAST(s.`balance` AS BIGINT) END AS c8 FROM `census.people` AS s) AS t0) AS t1

SELECT SUM(cost) AS spent FROM visits WHERE emergency
--> shows spent
--> groups none
--> touches everyone
--> costs epsilon 1
--> error spent ± 149787
--> event Laplace(scale 5000000, l1 5000000)
--> sum: discrete Laplace noise of scale 5e6, one unit moves it by 5,000,000 steps of 0.01 (1)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c3 AS c0, t0.c4 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0 WHERE (t0.c4)) AS t1 WHERE t1.n <= 5
--> postgres:
-->   SELECT CAST(SUM(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c3 AS c0, t0.c4 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c4) AS TEXT) COLLATE "C"), '')), t0.c3, t0.c4) AS n FROM (SELECT CASE WHEN CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) >= 0 AND CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN lower((substr((CAST((s."emergency") AS TEXT) COLLATE "C"), 1, 1000))) IN ('true', 't', 'yes', 'y', '1') THEN TRUE WHEN lower((substr((CAST((s."emergency") AS TEXT) COLLATE "C"), 1, 1000))) IN ('false', 'f', 'no', 'n', '0') THEN FALSE END AS c4, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0 WHERE (t0.c4)) AS t1 WHERE t1.n <= 5
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t1.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT t0.c3 AS c0, t0.c4 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c3) AS STRING), '') || '|' || COALESCE(CAST((t0.c4) AS STRING), '')), t0.c3, t0.c4) AS n FROM (SELECT CASE WHEN CAST(s.`cost` AS DOUBLE) >= 0 AND CAST(s.`cost` AS DOUBLE) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN lower((CAST((s.`emergency`) AS STRING))) IN ('true', 't', 'yes', 'y', '1') THEN TRUE WHEN lower((CAST((s.`emergency`) AS STRING))) IN ('false', 'f', 'no', 'n', '0') THEN FALSE END AS c4, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0 WHERE (t0.c4)) AS t1 WHERE t1.n <= 5

SELECT AVG(cost) AS mean FROM visits
--> shows mean
--> groups none
--> touches everyone
--> costs epsilon 1
--> error mean depends on the data
--> event Laplace(scale 10000000, l1 5000000) and Laplace(scale 10, l1 5)
--> centred: discrete Laplace noise of scale 1e7, one unit moves it by 5,000,000 steps of 0.01 (0.5)
--> present: discrete Laplace noise of scale 10, one unit moves it by 5 (0.5)
--> at most 5 rows of each unit count
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t1.c0) AS r1 FROM (SELECT t0.c3 AS c0, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.visits" AS t0) AS t1 WHERE t1.n <= 5
--> postgres:
-->   SELECT CAST(SUM(CAST((t1.c0) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(t1.c0) AS r1 FROM (SELECT t0.c3 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '')), t0.c3) AS n FROM (SELECT CASE WHEN CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) >= 0 AND CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(CASE WHEN s."cost" > -1e-300 AND s."cost" < 1e-300 THEN 0 WHEN s."cost" > -1e300 AND s."cost" < 1e300 THEN s."cost" END AS DOUBLE PRECISION) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.visits" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t1.c0) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t1.c0) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0, COUNT(t1.c0) AS r1 FROM (SELECT t0.c3 AS c0, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c3) AS STRING), '')), t0.c3) AS n FROM (SELECT CASE WHEN CAST(s.`cost` AS DOUBLE) >= 0 AND CAST(s.`cost` AS DOUBLE) <= 10000 THEN CASE WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) > 1000000 THEN 1000000 WHEN CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) < 0 THEN 0 ELSE CAST(FLOOR(CAST(s.`cost` AS DOUBLE) * 100 + 0.5) AS BIGINT) END END AS c3, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.visits` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS t0) AS t1 WHERE t1.n <= 5

SELECT SUM(weight) FROM patients WHERE insured
--> shows sum(weight)
--> groups none
--> touches insured = true
--> costs epsilon 1
--> error sum(weight) ± 898.7
--> event Laplace(scale 3000, l1 3000)
--> sum: discrete Laplace noise of scale 3000, one unit moves it by 3,000 steps of 0.1 (1)
--> at most 1 row of each unit count
--> duckdb:
-->   SELECT CAST(sum_no_overflow(CAST((t1.c1) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.u AS u, t0.r AS r0, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY t0.r) AS n FROM canon."clinic.patients" AS t0 WHERE (t0.c2)) AS t1 WHERE t1.n <= 1
--> postgres:
-->   SELECT CAST(SUM(CAST((t1.c1) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE((CAST((t0.c2) AS TEXT) COLLATE "C"), '') || '|' || COALESCE((CAST((t0.c3) AS TEXT) COLLATE "C"), '')), t0.c2, t0.c3) AS n FROM (SELECT BOOL_AND(s.c2) OVER (PARTITION BY s.u) AS c2, s.c3 AS c3, s.u AS u FROM (SELECT CASE WHEN (s."insured") = 1 THEN TRUE WHEN (s."insured") = 0 THEN FALSE END AS c2, CASE WHEN s."weight" >= 0 AND s."weight" <= 300 THEN CAST(FLOOR(s."weight" * 10 + 0.5) AS BIGINT) END AS c3, CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END AS u FROM "clinic.patients" AS s WHERE CASE WHEN ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) LIKE '%0' AND ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) ~ '^((0|-?[1-9][0-9]*)[.]0+)$' THEN split_part(((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")), '.', 1) ELSE ((CAST(((CAST((s."patient_id") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C")) END IS NOT NULL) AS s) AS t0 WHERE (t0.c2)) AS t1 WHERE t1.n <= 1
--> spark:
-->   SELECT (CAST(SUM(shiftright(CAST((t1.c1) AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104 + CAST(SUM(shiftright(CAST((t1.c1) AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152 + CAST(SUM(CAST((t1.c1) AS BIGINT) & 2097151) AS DECIMAL(38, 0))) AS r0 FROM (SELECT t0.c2 AS c0, t0.c3 AS c1, t0.u AS u, ROW_NUMBER() OVER (PARTITION BY t0.u ORDER BY md5(COALESCE(CAST((t0.c2) AS STRING), '') || '|' || COALESCE(CAST((t0.c3) AS STRING), '')), t0.c2, t0.c3) AS n FROM (SELECT MIN(s.c2) OVER (PARTITION BY s.u) AS c2, s.c3 AS c3, s.u AS u FROM (SELECT CASE WHEN (s.`insured`) = 1 THEN TRUE WHEN (s.`insured`) = 0 THEN FALSE END AS c2, CASE WHEN s.`weight` >= 0 AND s.`weight` <= 300 THEN CAST(FLOOR(s.`weight` * 10 + 0.5) AS BIGINT) END AS c3, CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END AS u FROM `clinic.patients` AS s WHERE CASE WHEN (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) LIKE '%0' AND regexp_extract((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '^((0|-?[1-9][0-9]*)[.]0+)$', 0) = (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) THEN split_part((CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)), '.', 1) ELSE (CAST((CAST((s.`patient_id`) AS STRING)) AS STRING)) END IS NOT NULL) AS s) AS t0 WHERE (t0.c2)) AS t1 WHERE t1.n <= 1
