-- Failures and copies
-- Dumps that do not count: failed imports with their reason, and copies of other dumps.
SELECT app, build, day, dump, code, error AS reason FROM failures_files
UNION ALL
SELECT app, build, day, dump, 'copy', concat('the same as ', duplicate_of)
FROM dumps_files WHERE status = 'duplicate'
ORDER BY app, build, day, dump
