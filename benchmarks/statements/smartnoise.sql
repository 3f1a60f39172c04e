-- The constructs of SmartNoise's own queries, in words of our own: a survey of people, crashing devices, shops.
SELECT COUNT(*) AS everybody, COUNT(sex) AS known_sex, COUNT(age) AS known_age FROM PUMS.PUMS;
SELECT COUNT(DISTINCT pid) AS persons FROM PUMS.PUMS;
SELECT SUM(income) AS total FROM PUMS.PUMS;
SELECT VAR(income) AS v, STD(income) AS s FROM PUMS.PUMS;
SELECT married, VAR(age) AS v FROM PUMS.PUMS GROUP BY married;
SELECT educ, AVG(income) AS pay FROM PUMS.PUMS GROUP BY educ ORDER BY educ;
SELECT TOP 4 educ, COUNT(*) AS n FROM PUMS.PUMS GROUP BY educ ORDER BY n DESC;
SELECT educ, COUNT(*) AS n FROM PUMS.PUMS GROUP BY educ HAVING n > 30;
SELECT educ, COUNT(DISTINCT pid) AS n FROM PUMS.PUMS GROUP BY educ HAVING COUNT(*) > 30;
SELECT age, sex, SUM(income) AS pay FROM PUMS.PUMS GROUP BY age, sex HAVING sex = 0;
SELECT age, sex, SUM(income) AS pay FROM PUMS.PUMS GROUP BY age, sex HAVING pay > 90000 OR sex = 1;
SELECT age, married, COUNT(*) AS n FROM PUMS.PUMS GROUP BY age, married HAVING married;
SELECT age, married, COUNT(*) AS n FROM PUMS.PUMS GROUP BY age, married HAVING n > 5 OR NOT married;
SELECT age, married, COUNT(*) AS n FROM PUMS.PUMS GROUP BY age, married HAVING married = 0;
SELECT age, COUNT(*) * 10 AS tens FROM PUMS.PUMS GROUP BY age HAVING (age < 20 OR age > 70) AND tens > 100;
SELECT educ AS level, sex AS gender FROM PUMS.PUMS GROUP BY sex, educ ORDER BY gender, level;
SELECT educ AS sex, sex AS educ, COUNT(*) AS n FROM PUMS.PUMS GROUP BY sex, educ HAVING educ > 3;
SELECT sex AS gender, educ FROM PUMS.PUMS GROUP BY sex, educ ORDER BY (CAST(gender AS INTEGER) * -1) DESC;
SELECT educ, SUM(income) AS pay FROM PUMS.PUMS WHERE educ IN (4, 5, 6) GROUP BY educ ORDER BY educ DESC;
SELECT COUNT(*) AS n FROM PUMS.PUMS WHERE age > 60 AND educ < 3;
SELECT COUNT(*) AS n FROM PUMS.PUMS WHERE age > 80 AND educ = '7';
SELECT SUM(income) AS pay FROM PUMS.PUMS WHERE sex = True;
SELECT income, COUNT(pid) AS n FROM PUMS.PUMS GROUP BY income;
SELECT 7 AS seven, p.married, educ, AVG(p.income) FROM PUMS.PUMS AS p GROUP BY educ, married;
SELECT PI() AS pi, POWER(AVG(age), 2) AS square FROM PUMS.PUMS;
SELECT AVG(age) + 5, SUM(age) / 4, COUNT(age) * 3 FROM PUMS.PUMS;
SELECT SUM(age) AS s FROM PUMS.PUMS GROUP BY married, CASE WHEN age > 50 THEN 1 ELSE 0 END;
SELECT Region, AVG(Temperature) AS heat FROM Telemetry.Crashes WHERE Temperature > 40.5 GROUP BY Region ORDER BY Region DESC;
SELECT COUNT(DISTINCT DeviceID) AS devices, Region, Building FROM Telemetry.Crashes WHERE Refurbished = TRUE GROUP BY Region, Building;
SELECT SUM(c.Crashes) AS crashes FROM (Telemetry.Crashes) AS c;
SELECT OEM, AVG(Temperature) AS heat FROM Telemetry.Census JOIN Telemetry.Crashes USING (DeviceID) GROUP BY OEM ORDER BY OEM;
SELECT OEM, TrialGroup, COUNT(DeviceID) AS n FROM (SELECT Crashes, t.* FROM Telemetry.Crashes JOIN (SELECT DeviceID, OEM, TrialGroup FROM (Telemetry.Census JOIN Telemetry.Rollouts USING (DeviceID)) AS q) AS t USING (DeviceID)) AS z GROUP BY OEM, TrialGroup;
SELECT (2 * COUNT(Temperature)) AS twice FROM (SELECT * FROM (SELECT Temperature, Crashes FROM Telemetry.Census JOIN Telemetry.Crashes USING (DeviceID)) AS a) AS b;
SELECT ngram, COUNT(*) AS n FROM reddit.reddit GROUP BY ngram ORDER BY n DESC;
SELECT SUM(price) AS p FROM (SELECT AVG(Fuel_Price) AS price FROM features GROUP BY IsHoliday) AS t;
SELECT "Date" AS d, SUM(Store) AS s FROM sales GROUP BY "date";
SELECT "IsHoliday" AS off, SUM(features."Store") AS s FROM features GROUP BY off;
-- refused
SELECT COUNT(s.Store) FROM sales AS s, features AS f;
-- refused
SELECT educ FROM PUMS.PUMS GROUP BY educ ORDER BY sex;
-- refused
SELECT age FROM PUMS.PUMS WHERE age > 100;
