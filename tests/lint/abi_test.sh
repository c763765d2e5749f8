#!/bin/sh
# tests/lint/abi_test.sh - a program compiled against a release of this soname runs with this library: the header and
# the library contain everything in tests/data/abi.txt, as required by "Structures" in heapdb.h. `make abi-baseline`
# writes that list, only before the release of a soname.
set -eu

command -v readelf >/dev/null || { echo "readelf is not installed"; exit 77; }
list=$HDB_ROOT/tests/lint/abi_list.py
header=$HDB_ROOT/include/heapdb.h
library=$BUILD/libheapdb.so
python3 "$list" "$header" "$library" --against "$HDB_ROOT/tests/data/abi.txt" || {
	echo "abi: see Releases in CONTRIBUTING.md"
	exit 1
}

# Incompatible changes are detected: each of these would break a program.
mkdir "$TMPDIR/changed"
cd "$TMPDIR"
against()
{
	sed "$1" "$header" >changed/heapdb.h
	cmp -s "$header" changed/heapdb.h && { echo "abi: nothing is changed by: $1"; exit 1; }
	if python3 "$list" changed/heapdb.h "$library" --against "$HDB_ROOT/tests/data/abi.txt" >found; then
		echo "abi: not found: $1"
		exit 1
	fi
	grep -q "$2" found || { echo "abi: $1 is reported as:"; cat found; exit 1; }
}
against 's/^\tuint32_t serial;/\tuint64_t serial;/' 'member hdb_thread.serial'
against 's/^\tuint32_t serial;/\tuint32_t before; uint32_t serial;/' 'member hdb_thread.serial'
against 's/^\tsize_t name_size; .*//' 'is smaller.*hdb_thread'
against 's/HDB_EINTR = -22/HDB_EINTR = -24/' 'constant HDB_EINTR'
against 's/^HDB_API void hdb_close(struct hdb \*db/&, int how/' 'function hdb_close'
against 's/^HDB_API unsigned hdb_has(struct hdb \*db);//' 'function hdb_has'
against 's/^struct hdb_basic {/&\n\tint more;/' 'hdb_basic'
against 's/^\tdouble d;  .*/&\n\tint more;/' 'never changes.*hdb_basic'

# Compatible changes are accepted: an additional function, an additional member at the end of a structure with a size.
sed 's/^\tsize_t name_size; .*/&\n\tuint64_t more;/; s/^HDB_API unsigned hdb_has/HDB_API int hdb_more(int of);\n&/' \
	"$header" >changed/heapdb.h
cmp -s "$header" changed/heapdb.h && { echo "abi: nothing was added"; exit 1; }
python3 "$list" changed/heapdb.h "$library" --against "$HDB_ROOT/tests/data/abi.txt" ||
	{ echo "abi: additions are refused"; exit 1; }
