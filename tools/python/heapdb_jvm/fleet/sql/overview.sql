-- Applications
-- Number of imported dumps, failed imports and copies; bytes of reachable objects per dump.
SELECT coalesce(c.app, f.app) AS app, c.builds, c.dumps, coalesce(f.failed, 0) AS failed,
       coalesce(d.copies, 0) AS copies, c.first_day, c.last_day, c.average_bytes, c.most_bytes
FROM (SELECT app, count(DISTINCT build) AS builds, count(*) AS dumps, min(day) AS first_day,
             max(day) AS last_day, cast(floor(avg(reachable_bytes)) AS bigint) AS average_bytes,
             max(reachable_bytes) AS most_bytes
      FROM totals GROUP BY app) AS c
FULL OUTER JOIN (SELECT app, count(*) AS failed FROM failures_files GROUP BY app) AS f
     ON c.app = f.app
LEFT JOIN (SELECT app, count(*) AS copies FROM dumps_files WHERE status = 'duplicate' GROUP BY app)
     AS d ON d.app = coalesce(c.app, f.app)
ORDER BY app
