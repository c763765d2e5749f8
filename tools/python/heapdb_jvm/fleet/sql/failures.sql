-- Failures and copies
-- Dumps that do not count: why, or of which they are a copy.
SELECT app, build, day, dump, code, error AS reason FROM failures_files
UNION ALL
SELECT app, build, day, dump, 'copy', concat('the same as ', duplicate_of)
FROM dumps_files WHERE status = 'duplicate'
ORDER BY app, build, day, dump
