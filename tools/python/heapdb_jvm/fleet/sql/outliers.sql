-- Outliers
-- Dumps that differ from the median of their application by more than nine median deviations and by more than 25 %.
-- Only applications with at least five dumps.
WITH measures AS (
    SELECT app, build, day, dump, 'bytes' AS measure, cast(reachable_bytes AS double) AS value FROM totals
    UNION ALL
    SELECT app, build, day, dump, 'objects', cast(reachable_objects AS double) FROM totals
    UNION ALL
    SELECT app, build, day, dump, 'unreachable bytes', cast(unreachable_bytes AS double) FROM totals
    UNION ALL
    SELECT app, build, day, dump, 'classes', cast(classes AS double) FROM totals
    UNION ALL
    SELECT app, build, day, dump, 'threads', cast(threads AS double) FROM totals),
middles AS (
    SELECT app, measure, median(value) AS middle, count(*) AS dumps FROM measures GROUP BY app, measure),
spreads AS (
    SELECT m.app, m.measure, min(d.middle) AS middle, median(abs(m.value - d.middle)) AS spread
    FROM measures AS m JOIN middles AS d ON m.app = d.app AND m.measure = d.measure
    WHERE d.dumps >= 5 GROUP BY m.app, m.measure)
SELECT m.app, m.build, m.day, m.dump, m.measure, cast(floor(m.value) AS bigint) AS value,
       cast(floor(s.middle) AS bigint) AS median, round(m.value / greatest(s.middle, 1.0), 2) AS times
FROM measures AS m JOIN spreads AS s ON m.app = s.app AND m.measure = s.measure
WHERE abs(m.value - s.middle) > 9 * s.spread AND abs(m.value - s.middle) > 0.25 * s.middle
ORDER BY abs(m.value - s.middle) / greatest(s.middle, 1.0) DESC, m.app, m.build, m.dump, m.measure
LIMIT 40
