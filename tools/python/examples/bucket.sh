#!/bin/sh
# bucket.sh - imports the dumps of a bucket into tables, without Spark: s3://BUCKET/app/build/2026-03-02/name.hprof.gz.
# Up to JOBS dumps at a time are piped into their imports without writing them to disk. Dumps that are already in the
# tables are not fetched again.
set -eu
bucket=${BUCKET:-s3://heap-dumps} tables=${TABLES:-/var/lib/heapdb/fleet} keep=${KEEP:-30d}
page=$(mktemp)
trap 'rm -f "$page"' EXIT

aws s3 ls --recursive "$bucket/" |
	heapdb fleet run - "$tables" --fetch "aws s3 cp $bucket/{} -" --jobs "${JOBS:-4}" --memory 2G \
		--keep "$keep" --quiet
heapdb fleet prune "$tables" --keep "$keep"
heapdb fleet "$tables" --report leaks --html "$page" --fail-if new-leak && code=0 || code=$?
aws s3 cp --only-show-errors "$page" "$bucket/reports/fleet.html" --content-type text/html
exit "$code"
