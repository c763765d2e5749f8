#!/bin/sh
# serve_test.sh - the page's server gives the same answers as the command, and refuses what SECURITY.md lists.
# serve_client.py has the requests.
# shellcheck disable=SC2016
set -eu

work=$(mktemp -d)
# shellcheck source=tests/support/serve.sh
. "$HDB_ROOT/tests/support/serve.sh"
trap 'rm -rf "$work"; [ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
cd "$work"
mkdir dump
# A heap whose names and strings are markup, control characters and bidirectional characters.
LC_ALL=C sed 's/Sample$Node/<script>\&"b/; s/hello, heap/<script>\x1b\xe2\x80\xae/' "$DUMP" >dump/evil.hprof
heapdb import "$DUMP" -o dump/s.heapdb --quiet >out 2>&1
heapdb import dump/evil.hprof --quiet >out 2>&1 || true
start_serve dump/s.heapdb dump/evil.heapdb

python3 "$HDB_ROOT/tests/e2e/serve_client.py" "$(cat url)" dump/s.heapdb

# It ends on request and leaves no files.
kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
[ "$code" -eq 0 ] || { echo "FAILED: serve ended with $code"; cat err; exit 1; }
if grep -E 'Sanitizer|runtime error' err; then exit 1; fi
[ "$(find dump -name '*.heapdb' | wc -l)" -eq 2 ]

# Names of stages are shown in full.
most=$(sed -n 's/^#define SERVE_STAGE_SIZE //p' "$HDB_ROOT/tools/serve/serve_jobs.h")
grep -rhoE 'base_stage\([^"]*"[^"]*"|\.stage = "[^"]*"' "$HDB_ROOT/src" | sed 's/^[^"]*"//; s/"$//' >stages
[ "$(wc -l <stages)" -gt 20 ]
longest=$(awk '{ print length }' stages | sort -n | tail -n 1)
[ "$longest" -lt "$most" ] || { echo "FAILED: a stage has a name of $longest letters"; exit 1; }
! grep 'process that is building' stages || exit 1

# Errors for files that cannot be served.
heapdb serve nothing.heapdb >out 2>err && exit 1
grep -q 'nothing.heapdb' err
heapdb serve dump/s.heapdb --listen here >out 2>err && exit 1
grep -q 'not an IPv4 or IPv6 address' err
