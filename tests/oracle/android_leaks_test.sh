#!/bin/sh
# android_leaks_test.sh - objects that leak according to LeakCanary's rules, in a real Android dump: two of three
# services are unknown to the activity thread, one kept by a static list of binders, the other by a binder that native
# code holds.
# Names of classes in single quotes are not for the shell to expand:
# shellcheck disable=SC2016
set -eu
command -v zstd > /dev/null || { echo "no zstd here"; exit 77; }
dump=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}/android_service_leak.hprof.zst
[ -f "$dump" ] || { echo "no $dump; HDB_DUMPS names another folder"; exit 77; }
cd "$TMPDIR"
zstd -dqf -o dump.hprof "$dump"
heapdb import dump.hprof -o dump.heapdb --quiet > import.log
heapdb query leaks --db dump.heapdb --csv --columns suspect,kind,step,class,via_field,text > rows
cat > want << 'END'
1,leaking,,LeakyService,LeakyService.leakAllTheBinders (static),UNKNOWN; retains 10 objects
1,trace,0,class LeakyService,static leakAllTheBinders,GC root: sticky class; Leaking: NO (classes stay); SUSPECT
1,trace,1,java.util.ArrayList,[0],Leaking: UNKNOWN; SUSPECT
1,trace,2,LeakyService$MyBinder,service,Leaking: UNKNOWN; SUSPECT
1,trace,3,LeakyService,,Leaking: YES (UNKNOWN)
2,leaking,,LeakyService,LeakyService$MyBinder.service,WATCHED and UNKNOWN; retains 10 objects
2,trace,0,LeakyService$MyBinder,service,GC root: JNI global; Leaking: UNKNOWN; SUSPECT
2,trace,1,LeakyService,,Leaking: YES (WATCHED and UNKNOWN)
END
grep -E ',(leaking|trace),' rows |
	sed 's/com\.example\.leakcanary\.//g; s/~~~ suspect reference/SUSPECT/
		s/the activity thread does not know this service/UNKNOWN/
		s/a watcher expects it to be collected/WATCHED/; s/; \(key = \|service: \|mApplication: \).*//' |
	diff -u want -
# Unreachable objects are reported, too: views of a toast.
grep -q '^,unreachable,,android.view.ViewRootImpl,,"ViewRootImpl#mView is null; ' rows
# On a terminal they have their own heading and are not listed among the local variables of another leak.
if python3 -c 'import pty; pty.openpty()' 2> /dev/null; then
	python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' heapdb query leaks --db dump.heapdb < /dev/null > text
	grep -q 'Unreachable leaking objects, ' text
	grep -q 'local: .*ViewRootImpl' text && { echo "FAILED: an unreachable object as a local variable"; exit 1; }
fi
# A third service is known to the activity thread.
heapdb export histogram com.example.leakcanary.LeakyService --db dump.heapdb --columns objects --format csv | grep -qx 3
heapdb dump.heapdb | grep -q '^  heapdb leaks .*dump.heapdb' || { echo "the overview does not name leaks"; exit 1; }
heapdb report dump.heapdb > report.md
# A leaking object is certainly a fault, so it comes before objects that only retain much.
sed -n 3p report.md | grep -q '^\*\*Leaking object: `com.example.leakcanary.LeakyService`'
heapdb query leaks --threshold 5 --brief --db dump.heapdb --csv --columns kind | sed -n '2,4p' | tr '\n' ' ' |
	grep -qx 'leaking leaking suspect '
# Classes and strings are never suspects.
heapdb query leaks --brief --db dump.heapdb --csv --columns kind,class | sed -n 2p |
	grep -qx 'leaking,com.example.leakcanary.LeakyService'
grep -qE '^[0-9]+,suspect,,java\.lang\.(Class|String),' rows &&
	{ echo "FAILED: all classes or strings are suspect"; exit 1; }
head -n 12 report.md | grep -qF 'class com.example.leakcanary.LeakyService . static leakAllTheBinders ~~~`'
[ "$(grep -c '^    [0-9]*\. Leaking object: ' report.md)" = 2 ]
heapdb report dump.heapdb --json > report.json
if command -v python3 > /dev/null; then
	python3 -c 'import json,sys; r=json.load(open("report.json")); assert r["report"][0]["facts"]["leaking"]==2'
fi
# 3,000 objects in one list, and then one elsewhere: all are traced.
many=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}/../android/syn3.hprof.zst
[ -f "$many" ] || exit 0
zstd -dqf -o many.hprof "$many"
heapdb query leaks --db many.hprof --csv --columns kind,objects,via_field 2> import.log | grep '^leaking' > rows
grep -qx 'leaking,3000,app.Main.list (static)' rows || { echo "FAILED: not 3,000 of one leak"; cat rows; exit 1; }
[ "$(grep -c '^leaking,1,' rows)" = 1 ] || { echo "FAILED: the one after them is lost"; cat rows; exit 1; }
