-- Leaks by build
-- State: new (only in the newest build), growing (more than 20 % larger than in its first build), renamed (under a
-- new name in the newest build), steady, or gone (not in the newest build). If a class disappears from a leak and a
-- leak of the same shape appears, they count as one leak: `name` is the last name, `was` the first. Bytes are retained
-- bytes per dump. Leaks whose paths contain only platform classes are listed last.
SELECT app, state, first_build, last_build, builds, names, cast(floor(first_bytes) AS bigint) AS first_bytes,
       cast(floor(last_bytes) AS bigint) AS last_bytes, round(last_percent, 1) AS percent,
       last_name AS name, CASE WHEN first_name = last_name THEN NULL ELSE first_name END AS was, leak,
       is_new_name
FROM (SELECT *, CASE WHEN last_n < newest_n THEN 'gone'
                     WHEN first_n = newest_n AND newest_n > 1 THEN 'new'
                     WHEN last_bytes > 1.2 * first_bytes THEN 'growing'
                     WHEN is_new_name THEN 'renamed'
                     ELSE 'steady' END AS state
      FROM (SELECT l.app, l.leak, min(l.n) AS first_n, max(l.n) AS last_n, min_by(l.build, l.n) AS first_build,
                   max_by(l.build, l.n) AS last_build, count(*) AS builds,
                   count(DISTINCT l.signature) AS names, min_by(l.retained, l.n) AS first_bytes,
                   max_by(l.retained, l.n) AS last_bytes, max_by(l.percent, l.n) AS last_percent,
                   min_by(l.name, l.n) AS first_name, max_by(l.name, l.n) AS last_name,
                   max(l.is_platform) AS is_platform, max(w.n) AS newest_n,
                   max(l.signature_n) = max(w.n) AND max(w.n) > 1 AS is_new_name
            FROM leak_builds AS l JOIN newest AS w ON l.app = w.app
            GROUP BY l.app, l.leak) AS found) AS leaks_by_state
ORDER BY is_platform,
         CASE state WHEN 'new' THEN 0 WHEN 'growing' THEN 1 WHEN 'gone' THEN 3 ELSE 2 END,
         last_bytes DESC, app, leak
