-- Waste by application
-- Wasted bytes per dump in the newest build of each application, and their share of the reachable bytes.
SELECT w.app, w.kind, cast(floor(avg(w.objects)) AS bigint) AS objects, cast(floor(avg(w.bytes)) AS bigint) AS bytes,
       cast(round(100.0 * sum(w.bytes) / sum(t.reachable_bytes), 1) AS double) AS percent, n.build
FROM waste AS w
JOIN totals AS t ON w.app = t.app AND w.build = t.build AND w.day = t.day AND w.dump = t.dump
JOIN newest AS n ON w.app = n.app AND w.build = n.build
GROUP BY w.app, w.kind, n.build
HAVING avg(w.bytes) > 0
ORDER BY bytes DESC, w.app, w.kind
LIMIT 40
