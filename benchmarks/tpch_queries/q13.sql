-- rewritten: the condition on o_comment is the prepared column o_special, inside a subquery
-- max_rows: 40
-- counts: custdist
SELECT c_count, COUNT(*) AS custdist
FROM (
  SELECT c_custkey, COUNT(kept) AS c_count
  FROM customer
  LEFT JOIN (SELECT o_custkey, o_orderkey AS kept FROM orders WHERE NOT o_special) AS o
    ON c_custkey = o_custkey
  GROUP BY c_custkey
) AS c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC
