-- rewritten: EXISTS becomes a join and COUNT(DISTINCT order)
-- max_rows: 8
-- counts: order_count
SELECT o_orderpriority, COUNT(DISTINCT o_orderkey) AS order_count
FROM orders JOIN lineitem ON l_orderkey = o_orderkey
WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH
  AND l_commitdate < l_receiptdate
GROUP BY o_orderpriority
ORDER BY o_orderpriority
