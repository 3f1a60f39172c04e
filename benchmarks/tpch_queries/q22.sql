-- rewritten: country code from the nation key; the average balance, 5000 by the specification, is a constant; NOT EXISTS becomes a LEFT JOIN
-- max_rows: 1
-- counts: numcust
SELECT c_nationkey + 10 AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM customer
LEFT JOIN (SELECT o_custkey, COUNT(*) AS orders_made FROM orders GROUP BY o_custkey) AS o
  ON c_custkey = o_custkey
WHERE c_nationkey + 10 IN (13, 31, 23, 29, 30, 18, 17)
  AND c_acctbal > 5000.00 AND orders_made IS NULL
GROUP BY c_nationkey + 10
ORDER BY cntrycode
