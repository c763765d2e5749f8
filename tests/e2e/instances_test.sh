#!/bin/sh
# instances_test.sh - instances and direct-buffers: the objects of a class with fields as columns, as
# other queries have them; buffers with their capacity.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
HEAPDB=$work/s.heapdb
export HEAPDB
failed=0
same()
{
	if [ "$2" != "$3" ]; then
		printf 'FAILED: %s\n  got:      %s\n  expected: %s\n' "$1" "$2" "$3"
		failed=1
	fi
}

same "all objects of a class" "$(heapdb query instances java.util.HashMap --csv | wc -l)" 281
same "the largest" "$(heapdb query instances java.util.HashMap --fields size --sort size --limit 1 --csv | sed 1d)" \
	"$(heapdb query instances java.util.HashMap --fields size --csv | sort -t, -k6,6nr | head -n 1)"
same "heading" "$(heapdb query instances java.util.HashMap --fields size,table --csv | head -n 1)" \
	"id,label,shallow,retained,reachable,size,table"
same "a path" "$(heapdb query instances java.lang.Thread --fields name,group.name --csv | grep -c ',main,main$')" 1
same "subclasses" "$(heapdb query instances java.lang.Thread --subclasses --all --csv | wc -l)" 13
same "unreachable" "$(heapdb query instances java.lang.Thread --subclasses --unreachable --csv | wc -l)" 4
# As the table of all objects has them.
heapdb export objects --columns id,class,shallow,retained --format csv | grep ',java.util.HashMap,' |
	cut -d, -f1,3,4 | sort >want
heapdb query instances java.util.HashMap --fields size --csv | sed 1d | cut -d, -f1,3,4 | sort >got
cmp want got || { echo "FAILED: sizes differ"; failed=1; }
got=0
heapdb query instances java.util.HashMap --fields size --sort table 2>err || got=$?
same "no such column" "$got" 2
got=0
heapdb query instances java.util.HashMap --fields a,,b 2>err || got=$?
same "no name" "$got" 2
same "buffers" "$(heapdb query direct-buffers --csv | cut -d, -f3,4 | sort | tr '\n' ' ')" \
	"direct,128651445 direct,4096 kind,capacity "
same "capacity" "$(heapdb query direct-buffers --json | grep -o '"capacity":[0-9]*' | head -n 1)" '"capacity":128655541'
exit $failed
