-- What people write on an ordinary day, over the example town (docs/town.md).
-- A statement after "-- refused" must stay refused: it would show single people.
SELECT COUNT(*) FROM people;
SELECT COUNT(*) AS n, AVG(age) AS mean_age FROM people WHERE sex = 'Female';
SELECT sex, COUNT(*) FROM people GROUP BY sex;
SELECT sex, COUNT(*) AS n FROM people GROUP BY 1 ORDER BY 2 DESC;
SELECT region AS place, COUNT(*) AS n FROM people GROUP BY place ORDER BY n DESC LIMIT 10;
SELECT job, AVG(income) AS pay FROM people WHERE income > 0 GROUP BY job HAVING pay > 20000 ORDER BY pay DESC;
SELECT job, COUNT(*) AS n FROM people GROUP BY job HAVING n > 100;
SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM people GROUP BY decade ORDER BY decade;
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM people GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS band, COUNT(*) AS n FROM people GROUP BY band;
SELECT sex, smoker, COUNT(*) AS n FROM people GROUP BY sex, smoker ORDER BY sex, smoker;
SELECT COUNT(*) FILTER (WHERE smoker) AS smokers, COUNT(*) AS everybody FROM people;
SELECT COUNT_IF(smoker) AS smokers FROM people;
SELECT SUM(smoker::INT) AS smokers FROM people;
SELECT SUM(CASE WHEN smoker THEN 1 ELSE 0 END) * 100.0 / COUNT(*) AS percent FROM people;
SELECT AVG(CASE WHEN married THEN 1.0 ELSE 0.0 END) AS share FROM people WHERE age >= 18;
SELECT AVG(smoker::INT) AS share FROM people;
SELECT MIN(age), MAX(age), MEDIAN(age) FROM people;
SELECT STDDEV(income) AS spread, VARIANCE(income) AS v FROM people;
SELECT VAR_SAMP(age) AS v, STDDEV_SAMP(age) AS s FROM people;
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY income) AS median FROM people;
SELECT QUANTILE_CONT(height, 0.9) AS tall FROM people WHERE age >= 18;
SELECT APPROX_QUANTILE(income, 0.75) AS q FROM people;
SELECT QUANTILE_CONT(age, [0.25, 0.5, 0.75]) AS quartiles FROM people;
SELECT CORR(age, height) AS r FROM people WHERE age < 20;
SELECT COVAR_POP(age, height) AS c FROM people;
SELECT REGR_SLOPE(height, age) AS slope FROM people WHERE age BETWEEN 2 AND 15;
SELECT MODE(job) AS commonest FROM people;
SELECT COUNT(DISTINCT job) AS jobs FROM people;
SELECT COUNT(DISTINCT person_id) AS patients FROM visits;
SELECT APPROX_COUNT_DISTINCT(person_id) AS patients FROM visits;
SELECT SUM(DISTINCT household_size) AS s FROM people;
SELECT DISTINCT sex FROM people;
SELECT DISTINCT sex, smoker FROM people ORDER BY sex, smoker;
SELECT job FROM people GROUP BY job;
SELECT ward, SUM(cost) AS spent, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY spent DESC;
SELECT ward, ROUND(AVG(cost), 2) AS mean FROM visits GROUP BY ward;
SELECT EXTRACT(YEAR FROM date) AS year, COUNT(*) AS n FROM visits GROUP BY year ORDER BY year;
SELECT DATE_TRUNC('month', date) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month;
SELECT DATE_TRUNC('year', birth_date) AS y, COUNT(*) AS n FROM people GROUP BY y ORDER BY y;
SELECT STRFTIME(date, '%Y-%m') AS month, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
SELECT WEEK(date) AS w, COUNT(*) AS n FROM visits WHERE date >= '2024-01-01' GROUP BY w ORDER BY w;
SELECT DAYNAME(date) AS day, COUNT(*) AS n FROM visits GROUP BY day;
SELECT EXTRACT(DOW FROM date) AS dow, AVG(days) AS stay FROM visits GROUP BY dow ORDER BY dow;
SELECT COUNT(*) FROM visits WHERE date >= DATE '2024-12-31' - INTERVAL 90 DAY;
SELECT COUNT(*) FROM visits WHERE date > CURRENT_DATE - INTERVAL '10 years';
SELECT COUNT(*) FROM visits WHERE date BETWEEN '2023-01-01' AND '2023-06-30';
SELECT COUNT(*) FROM visits WHERE YEAR(date) = 2023 AND MONTH(date) IN (6, 7, 8);
SELECT COUNT(*) FROM people WHERE birth_date + INTERVAL 18 YEAR <= DATE '2024-12-31';
SELECT AVG(DATE_DIFF('year', birth_date, DATE '2024-12-31')) AS age FROM people;
SELECT COUNT(*) FROM people WHERE AGE >= 18 AND Sex <> 'Male';
SELECT COUNT(*) FROM people WHERE region LIKE 'A%';
SELECT COUNT(*) FROM people WHERE region ILIKE '%wick%' OR job IN ('Nurse', 'Doctor');
SELECT COUNT(*) FROM people WHERE regexp_matches(region, '^[A-D]');
SELECT LEFT(diagnosis, 3) AS code, COUNT(*) AS n FROM visits GROUP BY code ORDER BY n DESC LIMIT 5;
SELECT SPLIT_PART(diagnosis, ' ', 1) AS code, COUNT(*) AS n FROM visits GROUP BY code ORDER BY code;
SELECT UPPER(ward) || '!' AS shout, COUNT(*) AS n FROM visits GROUP BY shout;
SELECT REPLACE(ward, ' ', '_') AS w, COUNT(*) AS n FROM visits GROUP BY w;
SELECT CONCAT(sex, ' ', education) AS who, COUNT(*) AS n FROM people GROUP BY who;
SELECT LENGTH(region) AS letters, COUNT(*) AS n FROM people GROUP BY letters;
SELECT COUNT(*) FROM people WHERE zip = 20100;
SELECT COUNT(*) FROM people WHERE job = ANY(ARRAY['Nurse', 'Doctor']);
SELECT COUNT(*) FROM people WHERE income IS NULL;
SELECT COALESCE(education, 'unknown') AS education, COUNT(*) AS n FROM people GROUP BY 1;
SELECT COUNT(*) - COUNT(income) AS missing FROM people;
SELECT AVG(LN(income + 1)) AS log_income FROM people;
SELECT AVG(height * height) AS h2 FROM people;
SELECT AVG(income / household_size) AS a_head FROM people;
SELECT SUM(ROUND(cost)) AS whole FROM visits;
SELECT SUM(CAST(cost AS INTEGER)) AS whole FROM visits;
SELECT ROUND(income, -4) AS pay, COUNT(*) AS n FROM people GROUP BY pay ORDER BY pay;
SELECT sex, COUNT(*) AS n, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM people GROUP BY sex;
SELECT job, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM people GROUP BY job ORDER BY place;
SELECT ward, diagnosis, COUNT(*) AS n FROM visits GROUP BY ward, diagnosis QUALIFY ROW_NUMBER() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC) <= 2;
WITH m AS (SELECT DATE_TRUNC('month', date) AS month, COUNT(*) AS n FROM visits GROUP BY 1) SELECT month, n, n - LAG(n) OVER (ORDER BY month) AS change FROM m ORDER BY month;
WITH m AS (SELECT DATE_TRUNC('month', date) AS month, SUM(cost) AS spent FROM visits GROUP BY 1) SELECT month, SUM(spent) OVER (ORDER BY month) AS so_far FROM m;
SELECT * FROM (SELECT job, AVG(income) AS pay FROM people GROUP BY job) AS t WHERE pay > 30000 ORDER BY pay DESC;
SELECT MAX(n) AS largest FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS t;
SELECT AVG(n) AS mean_size FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region) AS t;
SELECT sex, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM people) AS share FROM people GROUP BY sex;
SELECT 'women' AS who, COUNT(*) AS n FROM people WHERE sex = 'Female' UNION ALL SELECT 'men', COUNT(*) FROM people WHERE sex = 'Male';
SELECT sex, smoker, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex, smoker);
SELECT sex, married, COUNT(*) AS n FROM people GROUP BY CUBE (sex, married);
SELECT sex, education, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex), (education), ());
SELECT region, county FROM regions ORDER BY county, region;
SELECT county, COUNT(*) AS regions FROM regions GROUP BY county;
SELECT r.county, COUNT(*) AS n FROM people p JOIN regions r ON p.region = r.region GROUP BY r.county;
SELECT county, AVG(income) AS pay FROM people JOIN regions USING (region) GROUP BY county ORDER BY pay DESC;
SELECT county, COUNT(*) AS n FROM people NATURAL JOIN regions GROUP BY county;
SELECT county, COUNT(*) AS n FROM regions RIGHT JOIN people ON regions.region = people.region GROUP BY county;
SELECT p.sex, SUM(v.cost) AS spent FROM visits v JOIN people p ON v.person_id = p.person_id GROUP BY p.sex;
SELECT p.sex, COUNT(v.days) AS n FROM people p LEFT JOIN visits v ON p.person_id = v.person_id AND v.ward = 'Surgery' GROUP BY p.sex;
SELECT COUNT(*) FROM people WHERE person_id IN (SELECT person_id FROM visits WHERE ward = 'Oncology');
SELECT COUNT(*) FROM people WHERE person_id NOT IN (SELECT person_id FROM visits);
SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id AND v.cost > 5000);
SELECT COUNT(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id);
SELECT AVG(n) AS visits_a_patient FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS t;
SELECT AVG(mean_cost) AS m FROM (SELECT person_id, AVG(cost) AS mean_cost FROM visits GROUP BY person_id) AS t;
SELECT n, COUNT(*) AS patients FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS t GROUP BY n ORDER BY n;
-- refused
SELECT * FROM people;
-- refused
SELECT person_id, age FROM people WHERE region = 'Quarrington';
-- refused
SELECT person_id, COUNT(*) FROM visits GROUP BY person_id ORDER BY 2 DESC LIMIT 10;
-- refused
SELECT age, income FROM people ORDER BY income DESC LIMIT 5;
-- refused
SELECT COUNT(*) FROM people WHERE person_id = 17;
-- refused
SELECT STRING_AGG(job, ',') FROM people;
-- refused
SELECT ROW_NUMBER() OVER (ORDER BY income) FROM people;
-- refused
SELECT a.age, b.age FROM people a JOIN people b ON a.zip = b.zip;
-- refused
SELECT COUNT(*) FROM people TABLESAMPLE 10%;
-- refused
INSERT INTO people (age) VALUES (3);
-- refused
SELECT ARG_MAX(job, income) FROM people;
-- refused
SELECT ANY_VALUE(income) FROM people;
