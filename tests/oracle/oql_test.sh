#!/bin/sh
# oql_test.sh - `heapdb oql` compared with Eclipse MAT: 195 statements on real dumps, with MAT's answers in
# ../shared/oql. oql_answers.py compares. Statements that MAT refuses must be refused; extensions of its language must
# be answered.
set -eu
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
command -v zstd >/dev/null || { echo "zstd is not installed"; exit 77; }
shared=$HDB_ROOT/../shared
[ -f "$shared/oql/queries.tsv" ] || { echo "no ../shared/oql here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$HDB_ROOT/tests/oracle/oql_answers.py" heapdb "$shared" "$work"
