-- Leaks build by build
-- Bytes per dump that each leak retains, for each build that has it.
SELECT app, leak, build, n, dumps, cast(floor(retained) AS bigint) AS bytes
FROM leak_builds
ORDER BY app, leak, n
