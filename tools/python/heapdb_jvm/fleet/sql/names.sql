-- Names of renamed leaks
-- The names of each renamed leak, with their builds and retained bytes.
SELECT l.app, l.leak, min_by(l.build, l.n) AS first_build, max_by(l.build, l.n) AS last_build,
       cast(floor(max_by(l.retained, l.n)) AS bigint) AS bytes, l.name, l.signature
FROM leak_builds AS l JOIN renamed AS r ON l.app = r.app AND l.leak = r.shape
GROUP BY l.app, l.leak, l.name, l.signature
ORDER BY l.app, l.leak, min(l.n)
