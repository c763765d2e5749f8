-- The views that the reports use, in SQL for both DuckDB and Spark. TABLE_files are the Parquet files of a table.
-- A dump counts if its row in dumps has the status "counted"; rows of other dumps are left out.

CREATE OR REPLACE TEMP VIEW counted AS
SELECT app, build, day, dump, uri, bytes, fingerprint, seconds
FROM dumps_files WHERE status = 'counted';

-- The builds of an application in order of their first dump, numbered from 1.
CREATE OR REPLACE TEMP VIEW builds AS
SELECT app, build, first_day, dumps,
       row_number() OVER (PARTITION BY app ORDER BY first_day, length(build), build) AS n
FROM (SELECT app, build, min(day) AS first_day, count(*) AS dumps
      FROM counted GROUP BY app, build) AS seen;

CREATE OR REPLACE TEMP VIEW newest AS
SELECT app, max(n) AS n, max_by(build, n) AS build FROM builds GROUP BY app;

CREATE OR REPLACE TEMP VIEW totals AS
SELECT t.* FROM totals_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

CREATE OR REPLACE TEMP VIEW histogram AS
SELECT t.* FROM histogram_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

CREATE OR REPLACE TEMP VIEW owners AS
SELECT t.* FROM owners_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

CREATE OR REPLACE TEMP VIEW leaks AS
SELECT t.* FROM leaks_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

CREATE OR REPLACE TEMP VIEW triage AS
SELECT t.* FROM triage_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

CREATE OR REPLACE TEMP VIEW threads AS
SELECT t.* FROM threads_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

CREATE OR REPLACE TEMP VIEW waste AS
SELECT t.* FROM waste_files AS t LEFT SEMI JOIN counted AS c
ON t.app = c.app AND t.build = c.build AND t.day = c.day AND t.dump = c.dump;

-- Leaks in single dumps: retained bytes by signature. A suspect that is itself "large" is the owner of much memory
-- outside the heap, such as a pool, and no leak. Percentages are rounded because their sum depends on the order of
-- addition.
CREATE OR REPLACE TEMP VIEW sightings AS
SELECT l.app, l.build, b.n, l.day, l.dump, l.signature, l.signature_shape AS shape,
       min(l.signature_text) AS name, sum(l.retained) AS retained,
       round(sum(l.percent), 6) AS percent
FROM leaks AS l JOIN builds AS b ON l.app = b.app AND l.build = b.build
WHERE l.kind IN ('suspect', 'leaking') AND l.signature IS NOT NULL
  AND (l.kind = 'leaking' OR coalesce(l.verdict, '') <> 'large')
GROUP BY l.app, l.build, b.n, l.day, l.dump, l.signature, l.signature_shape;

-- The steps of the paths of signatures, and the class of each.
CREATE OR REPLACE TEMP VIEW steps AS
SELECT app, signature, step,
       CASE WHEN contains(step, '#local variable of ')
            THEN regexp_extract(step, '#local variable of (.*)[.]', 1)
            ELSE split_part(step, '#', 1) END AS class
FROM (SELECT DISTINCT app, signature, explode(split(name, ' > ')) AS step
      FROM sightings WHERE shape IS NOT NULL) AS all_steps;

-- Signatures with the same shape, in order of builds, each with the previous one.
CREATE OR REPLACE TEMP VIEW changes AS
SELECT app, shape, n, signature,
       lag(signature) OVER (PARTITION BY app, shape ORDER BY n, signature) AS was
FROM (SELECT DISTINCT app, shape, n, signature FROM sightings WHERE shape IS NOT NULL) AS once;

-- Changes that are no renaming: a class that occurs only in the earlier path still exists in the later build, so these
-- are two leaks.
CREATE OR REPLACE TEMP VIEW kept AS
SELECT DISTINCT c.app, c.shape
FROM changes AS c
JOIN steps AS s ON s.app = c.app AND s.signature = c.was
LEFT JOIN steps AS same ON same.app = c.app AND same.signature = c.signature AND same.step = s.step
JOIN builds AS b ON b.app = c.app AND b.n = c.n
JOIN histogram AS h ON h.app = c.app AND h.build = b.build AND h.name = s.class
WHERE c.signature <> c.was AND same.step IS NULL;

-- Renamed leaks: shapes that have one signature per build, whose signature changes in a later build and never changes
-- back, and whose earlier classes disappear. Otherwise each signature is a separate leak.
CREATE OR REPLACE TEMP VIEW renamed AS
SELECT c.app, c.shape
FROM changes AS c LEFT JOIN kept AS k ON c.app = k.app AND c.shape = k.shape
WHERE k.shape IS NULL
GROUP BY c.app, c.shape
HAVING count(DISTINCT c.signature) > 1 AND count(*) = count(DISTINCT c.n)
       AND count(DISTINCT c.signature) = sum(CASE WHEN c.signature = c.was THEN 0 ELSE 1 END);

-- Sightings with an identifier of the leak: the shape if it was renamed, otherwise the signature.
CREATE OR REPLACE TEMP VIEW leak_sightings AS
SELECT s.app, s.build, s.n, s.day, s.dump, s.signature, s.shape, s.name, s.retained, s.percent,
       CASE WHEN r.shape IS NULL THEN s.signature ELSE s.shape END AS leak
FROM sightings AS s LEFT JOIN renamed AS r ON s.app = r.app AND s.shape = r.shape;

-- A leak in a build, with average bytes per dump. signature_n is the first build with that signature.
CREATE OR REPLACE TEMP VIEW leak_builds AS
SELECT app, leak, build, n, count(DISTINCT concat(day, dump)) AS dumps, avg(retained) AS retained,
       max(percent) AS percent, min(name) AS name, min(signature) AS signature,
       min(n) OVER (PARTITION BY app, leak, min(signature)) AS signature_n,
       max(CASE WHEN signature = shape THEN 1 ELSE 0 END) AS is_platform
FROM leak_sightings GROUP BY app, leak, build, n;
