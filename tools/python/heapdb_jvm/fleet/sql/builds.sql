-- Trends by build
-- Averages per dump for each build, in order of the builds' first dumps. leak_bytes is the retained size of the leaks
-- in the report "leaks".
SELECT b.app, b.build, b.first_day, b.dumps, cast(floor(t.bytes) AS bigint) AS bytes,
       cast(floor(t.objects) AS bigint) AS objects, cast(floor(t.garbage) AS bigint) AS unreachable_bytes,
       coalesce(l.leaks, 0) AS leaks, coalesce(l.bytes, 0) AS leak_bytes
FROM builds AS b
JOIN (SELECT app, build, avg(reachable_bytes) AS bytes, avg(reachable_objects) AS objects,
             avg(unreachable_bytes) AS garbage
      FROM totals GROUP BY app, build) AS t ON b.app = t.app AND b.build = t.build
LEFT JOIN (SELECT app, build, count(*) AS leaks, cast(floor(sum(retained)) AS bigint) AS bytes
           FROM leak_builds GROUP BY app, build) AS l ON b.app = l.app AND b.build = l.build
ORDER BY b.app, b.n
