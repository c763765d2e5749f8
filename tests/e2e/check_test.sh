#!/bin/sh
# check_test.sh - import, top and check of valid dumps under every model of --sizes: nothing fails, and check counts the
# same objects and bytes as import, info and top.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/d.heapdb
failed=0

wrong() {
	echo "FAILED: $*"
	failed=1
}

# said NAME: the first number that check prints for this name; integers only.
said() {
	awk -F '\t' -v name="$1" '$1 == name { split($3, words, " "); print words[1] }' "$work/check"
}

# of NAME: the value of info about the objects.
of() {
	awk -F '\t' -v name="$1" '$1 == "objects" && $2 == name { print $4 }' "$work/info"
}

same() { # WHAT NUMBER NUMBER
	if [ -z "$2" ] || [ "$2" != "$3" ]; then
		wrong "$name, --sizes $model: $1: check says '$2', not '$3'"
	fi
}

try_dump() {
	name=$(basename "$1" .hprof)
	for model in vm mat dump ahat; do
		heapdb import "$1" -o "$db" --sizes $model --force --json > "$work/import"
		heapdb query top --db "$db" --json --limit 1 > "$work/top"
		heapdb query dominators --db "$db" > /dev/null
		heapdb check --db "$db" --format tsv --limit all > "$work/check" ||
			wrong "$name, --sizes $model: $(grep failed "$work/check")"
		heapdb info --db "$db" --format tsv --limit all > "$work/info"
		objects=$(sed -n 's/.*"objects": *\([0-9]*\).*/\1/p' "$work/import" | head -n 1)
		same identifiers "$(said identifiers)" "$objects"
		same objects "$(said objects)" "$objects"
		same "objects of info" "$(said objects)" "$(of objects)"
		same retained "$(said retained)" "$(of reachable)"
		same "retained bytes" "$(sed -n 's/^retained\t.* all \([0-9]*\) reachable.*/\1/p' "$work/check")" \
			"$(of 'reachable bytes')"
		same whole "$(said whole)" "$(of reachable)"
		same "top level" "$(said 'top level')" \
			"$(sed -n 's/.*"total_rows": *\([0-9]*\).*/\1/p' "$work/top" | head -n 1)"
		same children "$(said children)" "$(of reachable)"
	done
}

# shellcheck disable=SC2153
try_dump "$DUMP"
dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in nio_j17 android_ahat_base android_service_leak oracle_jdk7_21_hprofagent; do
		zstd -dqf "$dumps/$name.hprof.zst" -o "$work/$name.hprof"
		try_dump "$work/$name.hprof"
	done
fi
exit $failed
