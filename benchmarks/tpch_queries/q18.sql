-- rewritten: how many such orders, instead of their list
-- max_rows: 1
-- counts: n
SELECT COUNT(*) AS n, SUM(quantity) AS total_quantity
FROM (
  SELECT l_custkey, l_orderkey, SUM(l_quantity) AS quantity
  FROM lineitem
  GROUP BY l_custkey, l_orderkey
  HAVING SUM(l_quantity) > 300
) AS large
