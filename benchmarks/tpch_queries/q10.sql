-- rewritten: by the customers' nation instead of by single customer; a count added
-- max_rows: 8
-- counts: n
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue, COUNT(*) AS n
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH
  AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY n_name
ORDER BY revenue DESC
LIMIT 20
