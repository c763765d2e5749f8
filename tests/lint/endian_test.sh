#!/bin/sh
# endian_test.sh - compiling heapdb for a big-endian processor fails, because it would misread dumps.
set -eu
if ${CC:-gcc} -I"$HDB_ROOT/src" -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ -w -fsyntax-only -x c \
	"$HDB_ROOT/src/base/bytes.h" 2>"$TMPDIR/said"; then
	echo "FAILED: bytes.h compiles for a big-endian processor"
	exit 1
fi
grep -q 'little-endian' "$TMPDIR/said"
