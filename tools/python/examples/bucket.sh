#!/bin/sh
# bucket.sh - the dumps of a bucket as tables, without Spark: s3://BUCKET/app/build/2026-03-02/name.hprof.gz.
# A dump is fetched, taken in and deleted here, one after the other: the disk has room for one. The list
# of what was done is beside the tables.
set -eu
bucket=${BUCKET:-s3://heap-dumps} tables=${TABLES:-/var/lib/heapdb/fleet} keep=${KEEP:-30d}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$tables"
touch "$tables/.fetched"
oldest=$(date -u -d "${keep%d} days ago" +%F)

aws s3 ls --recursive "$bucket/" | awk '{ print $4 }' | grep '\.hprof' > "$work/all"
grep -vxF -f "$tables/.fetched" "$work/all" > "$work/new" || true
while read -r key; do
	day=$(echo "$key" | grep -oE '[0-9]{4}-[0-9]{2}-[0-9]{2}' | head -n 1)
	# Days are compared as texts.
	[ "$(printf '%s\n%s\n' "$oldest" "$day" | sort | head -n 1)" = "$oldest" ] || continue
	mkdir -p "$work/dumps/$(dirname "$key")"
	aws s3 cp --only-show-errors "$bucket/$key" "$work/dumps/$key" < /dev/null
	# A dump that cannot be taken is a row of failures, and does not stop the rest.
	heapdb fleet run "$work/dumps/*/*/*/*.hprof*" "$tables" --memory 2G --quiet < /dev/null
	echo "$key" >> "$tables/.fetched"
	rm -rf "$work/dumps"
done < "$work/new"

heapdb fleet prune "$tables" --keep "$keep"
heapdb fleet "$tables" --report leaks --html "$work/fleet.html" --fail-if new-leak && code=0 || code=$?
aws s3 cp --only-show-errors "$work/fleet.html" "$bucket/reports/fleet.html" --content-type text/html
exit "$code"
