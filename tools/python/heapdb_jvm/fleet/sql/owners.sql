-- Owners by build
-- Bytes per dump that an owner (a class and field) retains in each build, for owners of at least 1 % of a heap.
-- bytes_per_build is the change from the first to the last build, divided by the number of builds between them. The
-- owners that grew most come first.
SELECT app, owner, builds, first_build, last_build, cast(floor(first_bytes) AS bigint) AS first_bytes,
       cast(floor(last_bytes) AS bigint) AS last_bytes,
       cast(floor((last_bytes - first_bytes) / greatest(last_n - first_n, 1)) AS bigint) AS bytes_per_build, by_build
FROM (SELECT app, owner, count(*) AS builds, min(n) AS first_n, max(n) AS last_n, min_by(build, n) AS first_build,
             max_by(build, n) AS last_build, min_by(bytes, n) AS first_bytes, max_by(bytes, n) AS last_bytes,
             string_agg(concat(build, ': ', cast(cast(floor(bytes) AS bigint) AS string)), ', ') WITHIN GROUP (ORDER BY n) AS by_build
      FROM (SELECT o.app, b.n, o.build, o.owner, cast(sum(o.retained) AS double) / max(b.dumps) AS bytes
            FROM (SELECT app, build, retained, CASE WHEN field IS NULL THEN owner ELSE concat(owner, '.', field) END AS owner
                  FROM owners WHERE kind = 'suspect' AND owner IS NOT NULL) AS o
            JOIN builds AS b ON o.app = b.app AND o.build = b.build
            GROUP BY o.app, b.n, o.build, o.owner) AS by_build
      GROUP BY app, owner) AS owners_by_build
ORDER BY last_bytes - first_bytes DESC, app, owner
LIMIT 1000
