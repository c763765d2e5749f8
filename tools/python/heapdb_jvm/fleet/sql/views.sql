-- What the reports look at. For DuckDB and Spark alike; TABLE_files are the Parquet files of a table.
-- A dump counts once it has a row in dumps that says so: rows of others are left out.

CREATE OR REPLACE TEMP VIEW counted AS
SELECT app, build, day, dump, uri, bytes, fingerprint, seconds
FROM dumps_files WHERE status = 'counted';

-- The builds of an application in the order in which they were first seen, from 1.
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

-- Leaks of single dumps: what one signature retains there.
CREATE OR REPLACE TEMP VIEW sightings AS
SELECT l.app, l.build, b.n, l.day, l.dump, l.signature, l.signature_shape AS shape,
       min(l.signature_text) AS name, sum(l.retained) AS retained, sum(l.percent) AS percent
FROM leaks AS l JOIN builds AS b ON l.app = b.app AND l.build = b.build
WHERE l.kind IN ('suspect', 'leaking') AND l.signature IS NOT NULL
GROUP BY l.app, l.build, b.n, l.day, l.dump, l.signature, l.signature_shape;

-- Shapes of an application whose signature changes from one build to a later one, and never back, and
-- is one in each build: a leak that was renamed. Two leaks of the same shape are in one build at once,
-- or come and go; then each signature is a leak of its own.
CREATE OR REPLACE TEMP VIEW renamed AS
SELECT app, shape
FROM (SELECT app, shape, n, signature,
             CASE WHEN signature = lag(signature) OVER (PARTITION BY app, shape ORDER BY n, signature)
                  THEN 0 ELSE 1 END AS is_change
      FROM (SELECT DISTINCT app, shape, n, signature FROM sightings WHERE shape IS NOT NULL) AS once)
     AS marked
GROUP BY app, shape
HAVING count(DISTINCT signature) > 1 AND count(DISTINCT signature) = sum(is_change)
       AND count(*) = count(DISTINCT n);

-- Sightings by leak: `leak` is the shape of what was renamed, else the signature.
CREATE OR REPLACE TEMP VIEW leak_sightings AS
SELECT s.app, s.build, s.n, s.day, s.dump, s.signature, s.shape, s.name, s.retained, s.percent,
       CASE WHEN r.shape IS NULL THEN s.signature ELSE s.shape END AS leak
FROM sightings AS s LEFT JOIN renamed AS r ON s.app = r.app AND s.shape = r.shape;

-- A leak in a build: bytes a dump, on average.
CREATE OR REPLACE TEMP VIEW leak_builds AS
SELECT app, leak, build, n, count(DISTINCT concat(day, dump)) AS dumps, avg(retained) AS retained,
       max(percent) AS percent, min(name) AS name, min(signature) AS signature,
       max(CASE WHEN signature = shape THEN 1 ELSE 0 END) AS is_platform
FROM leak_sightings GROUP BY app, leak, build, n;
