#!/bin/sh
# man_examples_test.sh - runs the examples of the manual pages as printed, on the sample dump. sql_manual_test.sh runs
# those of heapdb-sql(1), query_examples_test.sh those of heapdb-queries(1). Examples that need a running JVM, a device,
# a browser or a recording are only parsed: their options must exist.
set -eu
cd "$TMPDIR"
unset HEAPDB
if heapdb sql --db "$DUMP" "SELECT 1" 2>&1 | grep -q "built without SQLite"; then
	echo "this heapdb was built without SQLite"
	exit 77
fi
for name in dump before after 1 2 3; do
	cp "$DUMP" "$name.hprof"
done
for name in smaps:smaps nmt_detail:nmt vm_info:info; do
	cp "$HDB_ROOT/tests/corpus/memory/${name%:*}" "${name#*:}"
done

# The lines after "$ " with their continuation lines, separated by empty lines.
awk '/^\$ / { print ""; print substr($0, 3); on = 1; next } on && /^      / { print; next } { on = 0 }' \
	"$HDB_ROOT"/tools/heapdb/heapdb.1 "$HDB_ROOT"/tools/heapdb/heapdb-[a-p]*.1 \
	"$HDB_ROOT"/tools/heapdb/heapdb-serve.1 | sed 's/\\e$/\\/' >lines
awk -v RS= '{ file = sprintf("example.%03d", NR); print >file; close(file) }' lines
heapdb help --names | cut -f 3 >names
ran=0 bad=0
for file in example.*; do
	case $(cat "$file") in
	*4711* | *capture* | *adb* | *serve* | *fleet* | *app.heapdb* | *trace.pftrace*)
		grep -o -e '--[a-z-]*' "$file" >options || true
		while read -r option; do
			grep -qxe "$option" names || { echo "no option $option: $(cat "$file")"; bad=1; }
		done <options
		continue
		;;
	esac
	ran=$((ran + 1))
	sh "$file" >out 2>err || { echo "exit $?: $(cat "$file" err)"; bad=1; }
	[ -s out ] || grep -q 'hprof\|html\|-o' "$file" || { echo "no answer: $(cat "$file")"; bad=1; }
done
[ "$ran" -ge 20 ] || { echo "only $ran examples"; bad=1; }
exit $bad
