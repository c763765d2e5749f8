#!/bin/sh
# peers_read_test.sh - other tools read the output of convert, strip and redact: Eclipse MAT opens converted Android
# dumps and has the same shallow sizes, retained sizes and dominators as heapdb, object by object; Shark and hprof-slurp
# find the same in stripped and redacted dumps as in the original, with heapdb's numbers. PEERS is the directory of
# these tools, JDK17 a JDK. Missing tools are listed and skipped.
set -eu
calls=$HDB_ROOT/../shared/peers/bin
dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}
command -v zstd > /dev/null || { echo "no zstd here"; exit 77; }
[ -n "${PEERS:-}" ] || { echo "PEERS names no folder of peers"; exit 77; }
[ -d "$calls" ] || { echo "no $calls"; exit 77; }
[ -f "$dumps/android_service_leak.hprof.zst" ] || { echo "no dumps in $dumps; HDB_DUMPS names them"; exit 77; }
cd "$TMPDIR"
failed=0 tried=0
complain() { echo "FAILED: $*"; failed=1; }
has_java() { [ -x "${JDK17:-/none}/bin/java" ] || { echo "no JDK17: $1 is left out"; return 1; }; }

# take FILE: copies the dump to dump.hprof.
take() {
	rm -f dump.hprof
	zstd -dqf -o dump.hprof "$1"
}

# MAT, on a converted dump.
mat() {
	take "$1"
	heapdb convert dump.hprof mat.hprof --force --quiet > log
	[ "$(head -c 18 mat.hprof)" = "JAVA PROFILE 1.0.2" ] || complain "$1: not converted"
	"$calls/mat.sh" mat.hprof mat.tsv > log 2>&1 || { complain "MAT: $1: $(tail -n 1 log)"; return; }
	sed -e '/^0x[0-9a-f]\{1,3\}	/d' -e 's/	0$/	0x0/' mat.tsv > want
	heapdb import mat.hprof -o mat.heapdb --sizes mat --force --quiet > log
	heapdb export objects --db mat.heapdb --format tsv \
		--columns id,class,shallow,retained,dominator | tail -n +2 > have
	cmp -s have want || complain "MAT: $1: another table of objects ($(wc -l < want) lines)"
	echo "MAT: $(basename "$1"): $(wc -l < have) objects"
	rm -f mat.*
}
if [ -d "$PEERS/mat/install" ] && has_java MAT; then
	tried=1
	for name in "$dumps/android_service_leak" "$dumps/../android/test-dump" "$dumps/../android/g0"; do
		[ -f "$name.hprof.zst" ] && mat "$name.hprof.zst"
	done
else
	echo "Eclipse MAT is not in $PEERS"
fi

# count PEER FILE: what the peer counts in a dump.
count() {
	if [ "$1" = shark ]; then
		"$calls/shark.sh" open "$2" 2>&1 | sed -n 's/^shark: .*\(objects .*\)/\1/p'
	else
		"$calls/hprof-slurp.sh" "$2" -t 5 2> /dev/null |
			sed -n 's/^\(\.\..* dump: [0-9]*\)$/\1/p; /^Classes loaded: /p'
	fi
}

# written NAME SAME WORD...: the output of heapdb WORD... for dump.hprof reads the same in heapdb and in the peer, and
# if SAME is "all", it has as many objects of each kind as the dump.
written() {
	name=$1
	same=$2
	shift 2
	heapdb "$@" dump.hprof made.hprof --force --quiet > log || complain "$name: $*: $(cat log)"
	cmp -s dump.hprof made.hprof && complain "$name: $*: nothing was changed"
	heapdb import made.hprof --force --quiet > log || complain "$name: $*: $(cat log)"
	objects=$(sed -n 's/^made[^:]*: \([0-9,]*\) objects, .*/\1/p' log | tr -d ,)
	for peer in $peers; do
		count "$peer" made.hprof > "$peer.have"
		[ "$same" != all ] || cmp -s "$peer.have" "$peer.want" ||
			complain "$name: $*: $peer: $(diff "$peer.have" "$peer.want" | head -4)"
	done
	case $peers in *shark*)
		grep -q "^objects $objects " shark.have ||
			complain "$name: $*: Shark has $(cat shark.have), heapdb $objects objects" ;;
	esac
}
peers=
if [ -d "$PEERS/shark/out" ] && has_java Shark; then peers="shark"; else echo "Shark is not in $PEERS"; fi
if [ -x "$PEERS/cargo/bin/hprof-slurp" ]; then peers="$peers slurp"; else echo "hprof-slurp is not in $PEERS"; fi
if [ -n "$peers" ]; then
	tried=1
	for file in "$dumps/../android/syn.hprof.zst" "$dumps/javac_j25.hprof.zst"; do
		[ -f "$file" ] || continue
		take "$file"
		name=$(basename "$file" .hprof.zst)
		for peer in $peers; do
			count "$peer" dump.hprof > "$peer.want"
			[ -s "$peer.want" ] || complain "$name: $peer says nothing"
		done
		written "$name" all strip --zero primitives
		written "$name" fewer strip --keep strings
		written "$name" all redact
		written "$name" all redact --hash
		echo "$peers: $name: $(head -n 1 "${peers%% *}.want")"
	done
fi
[ $tried = 1 ] || exit 77
exit $failed
