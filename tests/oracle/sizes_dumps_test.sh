#!/bin/sh
# tests/oracle/sizes_dumps_test.sh - real dumps, including old ones: no object may be larger than its distance to the
# next one.
#
# A directory of dumps has NAME.hprof.zst. HDB_DUMPS is the directory (default: ../shared/dumps). For each dump whose
# identifiers are addresses: no class is shortened to fit, the widths are those of its VM, at least 99 % of the bytes
# are in classes with an object that ends exactly where the next one begins, and the sizes of neighbours, added up again
# here, do not overlap.
set -eu

dumps=${HDB_DUMPS:-$HDB_ROOT/../shared/dumps}

# name, header, reference, alignment, version. Dumps by agents have no addresses, so nothing can be checked.
known='
basics_j17 12 4 8 17
basics_j17_i386 8 4 8 17
basics_j17_nocoops_noccp 16 8 8 17
basics_j25 12 4 8 25
javac_j25 12 4 8 25
loaders_j17 12 4 8 17
mid_j17_align16 12 4 16 17
mid_j17_g1_all 12 4 8 17
mid_j25_compactheaders 8 4 8 25
openjdk_jdk11_04_x64 12 4 8 11
oracle_jdk8_05_x64 12 4 8 8
refs_j17_all 12 4 8 17
slurp_64 12 4 8 8
sun_jdk5_13_x32 8 4 8 5
sun_jdk6_18_x32 8 4 8 6
threads_j17 12 4 8 17
tomcat9_j17 12 4 8 17
vthreads_j25_live 12 4 8 25
'

check_one()
{
	cd "$TMPDIR"
	zstd -dqf -o "$1.hprof" "$dumps/$1.hprof.zst"
	heapdb import "$1.hprof" -o "$1.heapdb" --quiet >/dev/null
	heapdb info --sizes --format tsv --limit all --db "$1.heapdb" >"$1.info"
	heapdb export objects --columns id,shallow --format tsv --db "$1.heapdb" >"$1.tsv"
	have=$(awk -F '\t' '$1 == "sizes" { v[$2] = $4 } END {
		print v["header"], v["reference"], v["alignment"], v["version"] }' "$1.info")
	if [ "$have" != "$2 $3 $4 $5" ]; then
		echo "$1: header, reference, alignment, version $have; it was $2 $3 $4 $5"
		return 1
	fi
	awk -F '\t' -v name="$1" '
		$1 == "classes" && $2 ~ /^cut( class objects)?$/ { cut += $4 }
		$1 == "totals" && $2 == "exact" { exact = $3 + 0 }
		END {
			printf "%s: %d classes cut, %s %% of the bytes exact\n", name, cut, exact
			exit cut > 0 || exact < 99
		}' "$1.info"
	# Addresses fit in a double: at most 2^53.
	awk -F '\t' '
		function hex(s,   i, v) {
			v = 0
			for (i = 3; i <= length(s); i++)
				v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return v
		}
		NR == 1 || hex($1) < 4096 { next }
		{
			at = hex($1)
			if (last && at < last + size) {
				if (bad++ < 5)
					printf "0x%x of %d bytes reaches into 0x%x\n", last, size, at
			}
			last = at
			size = $2
		}
		END { exit bad > 0 }' "$1.tsv"
	rm -f "$1".*
}

if [ $# -gt 0 ]; then
	check_one "$@"
	exit
fi
if ! command -v zstd >/dev/null; then
	echo "zstd is not installed"
	exit 77
fi
list=$(echo "$known" | while read -r name rest; do
	[ -z "$name" ] || [ ! -f "$dumps/$name.hprof.zst" ] || echo "$name $rest"
done)
if [ -z "$list" ]; then
	echo "no dumps in $dumps; HDB_DUMPS names another folder"
	exit 77
fi
echo "$list" | xargs -P 2 -L 1 sh "$HDB_ROOT/tests/oracle/sizes_dumps_test.sh"
