#!/bin/sh
# nightly.sh - imports the dumps of a directory, DUMPS/app/build/2026-03-02/name.hprof, into tables and writes a report
# page. Exits with status 1 if a leak is new or growing. The file WEBHOOK contains the address to which a message is
# posted.
set -eu
dumps=${DUMPS:-/var/dumps} tables=${TABLES:-/var/lib/heapdb/fleet} keep=${KEEP:-30d}
page=${PAGE:-/var/www/heap/index.html}

# One run at a time.
mkdir -p "$tables"
exec 9> "$tables/.lock"
flock -n 9 || { echo "nightly: another run is in progress" >&2; exit 0; }

heapdb fleet run "$dumps/*/*/*/*.hprof*" "$tables" --jobs 2 --memory 2G --keep "$keep" --quiet
heapdb fleet prune "$tables" --keep "$keep"
set -- --report leaks --html "$page" --fail-if new-leak --fail-if growing
[ ! -r "${WEBHOOK:-/etc/heapdb/webhook}" ] || set -- "$@" --webhook "@${WEBHOOK:-/etc/heapdb/webhook}"
heapdb fleet "$tables" "$@"
