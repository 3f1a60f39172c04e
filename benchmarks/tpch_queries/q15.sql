-- rewritten: ORDER BY and LIMIT 1 instead of the view and its MAX; a count added
-- max_rows: 4
-- counts: n
SELECT s_suppkey, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue, COUNT(*) AS n
FROM supplier, lineitem
WHERE s_suppkey = l_suppkey
  AND l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH
GROUP BY s_suppkey
ORDER BY total_revenue DESC
LIMIT 1
