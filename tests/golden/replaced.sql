-- Replace-one neighbours: a removal and an addition at once.

SELECT COUNT(*) FROM replies
--> shows count(*)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb, postgres:
-->   SELECT COUNT(*) AS r0 FROM "panel.replies" AS t0
--> spark:
-->   SELECT COUNT(*) AS r0 FROM `panel.replies` AS t0

SELECT COUNT(*) FROM replies WHERE yes
--> shows count(*)
--> groups none
--> touches yes = true
--> costs epsilon 1
--> error count(*) ± 3
--> event Laplace(scale 1, l1 1)
--> rows: discrete Laplace noise of scale 1, one unit moves it by 1 (1)
--> duckdb, postgres:
-->   SELECT COUNT(*) AS r0 FROM "panel.replies" AS t0 WHERE (t0."yes")
--> spark:
-->   SELECT COUNT(*) AS r0 FROM `panel.replies` AS t0 WHERE (t0."yes")

SELECT party, COUNT(*) AS n FROM replies GROUP BY party
--> shows party, n
--> groups 3: red, green, blue
--> touches everyone
--> costs epsilon 1
--> error n ± 6
--> event Laplace(scale 2, l1 2)
--> rows: discrete Laplace noise of scale 2, one unit moves it by 2 (1)
--> duckdb:
-->   SELECT t0."party" AS k0, COUNT(*) AS r0 FROM "panel.replies" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (CAST(((CAST((t0."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") AS k0, COUNT(*) AS r0 FROM "panel.replies" AS t0 GROUP BY 1
--> spark:
-->   SELECT t0."party" AS k0, COUNT(*) AS r0 FROM `panel.replies` AS t0 GROUP BY 1

SELECT SUM(score) FROM replies
--> shows sum(score)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error sum(score) ± 2.996
--> event Laplace(scale 1000, l1 1000)
--> sum: discrete Laplace noise of scale 1000, one unit moves it by 1,000 steps of 0.001 (1)
--> duckdb, postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN GREATEST(0, LEAST(1000, CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT))) END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM "panel.replies" AS t0
--> spark:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN GREATEST(0, LEAST(1000, CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT))) END) AS DECIMAL(19, 0))) AS DECIMAL(38, 0)) AS r0 FROM `panel.replies` AS t0

SELECT SUM(change) FROM replies
--> shows sum(change)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error sum(change) ± 33
--> event Laplace(scale 11, l1 11)
--> sum: discrete Laplace noise of scale 11, one unit moves it by 11 (1)
--> duckdb, postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0."change" BETWEEN -3 AND 8 THEN CAST(t0."change" AS BIGINT) END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM "panel.replies" AS t0
--> spark:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0."change" BETWEEN -3 AND 8 THEN CAST(t0."change" AS BIGINT) END) AS DECIMAL(19, 0))) AS DECIMAL(38, 0)) AS r0 FROM `panel.replies` AS t0

SELECT party, SUM(change) FROM replies GROUP BY party
--> shows party, sum(change)
--> groups 3: red, green, blue
--> touches everyone
--> costs epsilon 1
--> error sum(change) ± 48
--> event Laplace(scale 16, l1 16)
--> sum: discrete Laplace noise of scale 16, one unit moves it by 16 (1)
--> duckdb:
-->   SELECT t0."party" AS k0, CAST(SUM(CAST((CASE WHEN t0."change" BETWEEN -3 AND 8 THEN CAST(t0."change" AS BIGINT) END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM "panel.replies" AS t0 GROUP BY 1
--> postgres:
-->   SELECT (CAST(((CAST((t0."party") AS TEXT) COLLATE "C")) AS TEXT) COLLATE "C") AS k0, CAST(SUM(CAST((CASE WHEN t0."change" BETWEEN -3 AND 8 THEN CAST(t0."change" AS BIGINT) END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM "panel.replies" AS t0 GROUP BY 1
--> spark:
-->   SELECT t0."party" AS k0, CAST(SUM(CAST((CASE WHEN t0."change" BETWEEN -3 AND 8 THEN CAST(t0."change" AS BIGINT) END) AS DECIMAL(19, 0))) AS DECIMAL(38, 0)) AS r0 FROM `panel.replies` AS t0 GROUP BY 1

SELECT AVG(score) FROM replies
--> shows avg(score)
--> groups none
--> touches everyone
--> costs epsilon 1
--> error avg(score) depends on the data
--> event Laplace(scale 4000, l1 2000) and Laplace(scale 2, l1 1)
--> centred: discrete Laplace noise of scale 4000, one unit moves it by 2,000 steps of 0.001 (0.5)
--> present: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)
--> duckdb, postgres:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN GREATEST(0, LEAST(1000, CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT))) END) AS BIGINT)) AS DECIMAL(38, 0)) AS r0, COUNT(CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN GREATEST(0, LEAST(1000, CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT))) END) AS r1 FROM "panel.replies" AS t0
--> spark:
-->   SELECT CAST(SUM(CAST((CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN GREATEST(0, LEAST(1000, CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT))) END) AS DECIMAL(19, 0))) AS DECIMAL(38, 0)) AS r0, COUNT(CASE WHEN t0."score" >= 0 AND t0."score" <= 1 THEN GREATEST(0, LEAST(1000, CAST(FLOOR(t0."score" * 1000 + 0.5) AS BIGINT))) END) AS r1 FROM `panel.replies` AS t0
