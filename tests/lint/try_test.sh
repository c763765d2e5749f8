#!/bin/sh
# tests/lint/try_test.sh - TRY_ERRORS is used only if the callee may return HDB_END or HDB_NOTFOUND.
set -eu
python3 "$HDB_ROOT/tests/lint/try.py" "$HDB_ROOT" || exit 1

# Cases that are reported and that are not: three callees are never positive, the other four may be.
mkdir -p "$TMPDIR/src" "$TMPDIR/tools"
cat >"$TMPDIR/src/some.c" <<'END'
static int write_one(int x)
{
	int r = x < 0 ? HDB_EUSAGE : HDB_OK;

	return r;
}

static int write_all(int x)
{
	TRY(write_one(x)); /* TRY(find_one(x)) */
	return write_one(x + 1);
}

static int find_one(int x)
{
	return x ? HDB_OK : HDB_NOTFOUND;
}

static int find_two(int x)
{
	int r = HDB_OK;

	if (x > 2)
		r = find_one(x);
	return r;
}

static int find_three(int x)
{
	int r = find_one(x);

	return r > 0 ? hdb_fail(err, HDB_ECORRUPT, "missing") : r;
}

static int find_four(int x)
{
	int r;

	if ((r = find_one(x)) < 0)
		return r;
	if (r < 0) {
		free(x);
		return r;
	}
	return api_end(x, write_all(x), err);
}

static int find_five(int x)
{
	int r;

	if ((r = find_one(x)) != HDB_OK || r < 0)
		return r;
	return HDB_OK;
}

static int all(int (*step)(int), int x)
{
	TRY_ERRORS(find_three(x));
	TRY_ERRORS(find_four(x));
	TRY_ERRORS(find_five(x));
	TRY_ERRORS(write_all(x));
	TRY_ERRORS(find_one(x));
	TRY_ERRORS(find_two(x));
	TRY_ERRORS(step(x));
	return HDB_OK;
}
END
python3 "$HDB_ROOT/tests/lint/try.py" "$TMPDIR" >"$TMPDIR/found" && { echo "nothing was found"; exit 1; }
for line in 59 60 62; do
	echo "$TMPDIR/src/some.c:$line: never positive: TRY, not TRY_ERRORS"
done >"$TMPDIR/want"
sort -t: -k2n "$TMPDIR/found" | cmp - "$TMPDIR/want" ||
	{ cat "$TMPDIR/found"; exit 1; }
python3 "$HDB_ROOT/tests/lint/try.py" --fix "$TMPDIR" >/dev/null
python3 "$HDB_ROOT/tests/lint/try.py" "$TMPDIR"
