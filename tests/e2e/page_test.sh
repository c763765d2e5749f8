#!/bin/sh
# page_test.sh - the page in a real browser (Debian's chromium): each view, clicks, keys, a narrow window, a heap full
# of markup, and the report as one file. Skipped without chromium. page_client.py has the clicks; page_big_test.sh uses
# a big heap, page_looks_test.sh all sizes. SHOTS=FOLDER keeps screenshots of the views.
# shellcheck disable=SC2016
set -eu

# shellcheck source=tests/support/page.sh
. "$HDB_ROOT/tests/support/page.sh"
bidi=$(printf '\342\200\256')
LC_ALL=C sed "s/Sample\$Node/<script>\&\"b/; s/Sample\$Order/Samp${bidi}Order/g; s/hello, heap/<img onerror>/" \
	"$DUMP" >evil.hprof
heapdb import "$DUMP" -o s.heapdb --quiet >out 2>&1
heapdb import evil.hprof --quiet >out 2>&1 || true
heapdb query leaks --db s.heapdb >out
heapdb report s.heapdb --html report.html --quiet
heapdb report evil.heapdb --html evil.html --no-values --quiet 2>out
# Strings of the heap are in one report and not in the other: keys, names of threads and loaders, arguments.
heapdb report s.heapdb --html plain.html --no-values --quiet
for text in 'worker with locals' plugins-a 'Sample sample.hprof'; do
	grep -qF "$text" report.html || { echo "no \"$text\" in the report"; exit 1; }
	! grep -F "$text" plain.html >out || { echo "\"$text\" is in a report without values"; exit 1; }
done
# A dump of Android's runtime, if there is one.
set -- s.heapdb evil.heapdb
if [ -r "$HDB_ROOT/../shared/dumps/android_service_leak.hprof.zst" ]; then
	zstd -dqf "$HDB_ROOT/../shared/dumps/android_service_leak.hprof.zst" -o android.hprof
	heapdb import android.hprof --quiet >out 2>&1 && set -- "$@" android.heapdb
fi
many=$HDB_ROOT/../shared/dumps/vthreads_j25_live.hprof.zst
if [ -r "$many" ]; then
	heapdb import "$many" -o vthreads.heapdb --quiet >out 2>&1 && set -- "$@" vthreads.heapdb
fi
# The report of a real server, whose size and number of pages are measured.
if [ -r "$HDB_ROOT/../shared/dumps/tomcat9_j17.hprof.zst" ]; then
	heapdb import "$HDB_ROOT/../shared/dumps/tomcat9_j17.hprof.zst" -o tomcat.heapdb --quiet >out 2>&1
	heapdb report tomcat.heapdb --html tomcat.html --quiet
fi
start_serve "$@"
code=0
limit=290
[ "${HEAPDB_PAGE:-small}" = small ] || limit=1500
timeout $limit python3 "$HDB_ROOT/tests/e2e/${CLIENT:-page_client.py}" "$(cat url)" "$work" || code=$?
[ "$code" -ne 77 ] || echo "chromium does not start here"
exit "$code"
