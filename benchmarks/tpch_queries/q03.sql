-- rewritten: by month of the order instead of by single order; a count added
-- max_rows: 12
-- counts: n
SELECT EXTRACT(YEAR FROM o_orderdate) AS o_year, EXTRACT(MONTH FROM o_orderdate) AS o_month,
       SUM(l_extendedprice * (1 - l_discount)) AS revenue,
       COUNT(*) AS n
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
GROUP BY EXTRACT(YEAR FROM o_orderdate), EXTRACT(MONTH FROM o_orderdate)
ORDER BY revenue DESC
LIMIT 5
