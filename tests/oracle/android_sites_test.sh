#!/bin/sh
# android_sites_test.sh - allocation sites of the objects in ahat's test dump, from their stack traces, and the native
# memory that its objects own.
# shellcheck disable=SC2015,SC2094
set -eu
command -v zstd > /dev/null || { echo "no zstd here"; exit 77; }
dump=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}/android_ahat_test.hprof.zst
[ -f "$dump" ] || { echo "no $dump; HDB_DUMPS names another folder"; exit 77; }
cd "$TMPDIR"
zstd -dqf -o dump.hprof "$dump"
heapdb import dump.hprof -o dump.heapdb --quiet > import.log
failed=0
complain() {
	echo "FAILED: $*"
	failed=1
}
# From the source of DumpedStuff: one array of a million bytes, and twice 10,000 objects.
heapdb query object-sites --db dump.heapdb --csv --columns objects,shallow,frames,site,stack > sites
grep -q '^1,1000016,2,DumpedStuff.<init>(.*:35),Main.main(.*:6)$' sites || complain "no array of 1,000,000 bytes"
[ "$(grep -c '^10000,160000,2,DumpedStuff.<init>(.*:5[36]),Main.main(.*:6)$' sites)" = 2 ] ||
	complain "not 10,000 twice"
heapdb query object-sites --by class --db dump.heapdb --csv --columns class,objects,site |
	grep -q '^byte\[\],1,DumpedStuff.<init>(.*:35)$' || complain "no class of that array"
# The dump has no record of allocation sites, so the traces of its objects are used.
heapdb query alloc-sites --db dump.heapdb --csv --columns objects,shallow,frames,site,stack | cmp -s - sites ||
	complain "alloc-sites says something else"
# Each object is either at a site or counted as other.
heapdb query object-sites --all --db dump.heapdb --limit 1 > facts
grep -q '^objects: 20,868; .*; others: 5,206$' facts || complain "other counts: $(tail -n 3 facts)"
heapdb query native --db dump.heapdb --csv > native
# Two objects have registered 50,000 bytes; the cleaner of one has run, and the registry counts one allocation.
grep -qx 'java.lang.Object,1,50000,8' native || complain "no native memory of one object"
heapdb query native --objects --limit 1 --bytes --db dump.heapdb | grep -q 'native bytes: 50,098$' ||
	complain "not 50,098 bytes"
exit $failed
