#!/bin/sh
# contents_test.sh - dumps that are compressed in various ways, or come through a pipe, are stored in the database.
# After the dump is removed, every query's example gives the same answer as with the plain dump, and `export dump`
# returns the dump byte for byte. Uses the sample, and two dumps of ../shared/dumps if they exist.
# Slow: every query's example on dumps compressed in many ways.
set -eu
command -v gzip > /dev/null || { echo "no gzip here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

heapdb help --names | awk -F '\t' '$1 == "example" { print $3 " " $4 }' |
	grep -v '^info\|^check\|tables\|^diff\|^overview' > examples

# answers DB OUT: the output and exit status of every example.
answers() {
	while read -r example; do
		code=0
		eval "heapdb $example --db $1 --json --limit 100" < /dev/null > one 2> /dev/null || code=$?
		echo "== $example: $code"
		sed "s|$1|DB|g" one
	done < examples > "$2"
}

# kept NAME: the database NAME.heapdb, whose dump was removed, has the same content as plain.hprof.
kept() {
	heapdb export dump --db "$1.heapdb" | cmp - plain.hprof || fail "$1: export dump differs"
	heapdb check --db "$1.heapdb" > check.out || fail "$1: $(cat check.out)"
}

try_dump() {
	cp "$1" plain.hprof
	heapdb import plain.hprof --quiet > /dev/null
	answers plain.heapdb plain.answers
	heapdb export dump --db plain.heapdb | cmp - plain.hprof || fail "export of a plain dump differs"

	# one member, many members of all sizes, zstd
	gzip -1 < plain.hprof > one.hprof.gz
	half=$(($(stat -c %s plain.hprof) / 2))
	{ head -c $half plain.hprof | gzip -9; tail -c +$((half + 1)) plain.hprof | gzip -1; } > two.hprof.gz
	split -b 100000 plain.hprof part.
	for part in part.*; do gzip -1 < "$part"; done > many.hprof.gz
	variants="one.hprof.gz two.hprof.gz many.hprof.gz"
	if command -v zstd > /dev/null; then
		zstd -q -1 < plain.hprof > z.hprof.zst
		for part in part.*; do zstd -q -1 < "$part"; done > zmany.hprof.zst
		variants="$variants z.hprof.zst zmany.hprof.zst"
	fi
	rm part.*
	for file in $variants; do
		heapdb import "$file" --quiet > /dev/null || fail "import of $file"
		mv "$file" gone
		kept "${file%%.*}"
		mv gone "$file"
	done
	# pipes, and a plain file with --contents keep
	heapdb import - -o stdin.heapdb --quiet < plain.hprof > /dev/null || fail "import from stdin"
	gzip -dc one.hprof.gz | heapdb import - -o pipe.heapdb --quiet > /dev/null || fail "import from a pipe"
	dev=
	if [ -e /dev/stdin ]; then
		dev=dev
		heapdb import /dev/stdin -o dev.heapdb --quiet < many.hprof.gz > /dev/null || fail "/dev/stdin"
	fi
	mkfifo fifo
	cat one.hprof.gz > fifo &
	heapdb import fifo -o fifo.heapdb --quiet > /dev/null || fail "import from a FIFO"
	wait
	heapdb import plain.hprof -o keep.heapdb --contents keep --quiet > /dev/null || fail "--contents keep"
	mv plain.hprof gone.hprof
	for name in stdin pipe $dev fifo keep; do
		ln -sf gone.hprof plain.hprof
		kept "$name"
	done
	rm plain.hprof
	# threads change nothing
	heapdb import one.hprof.gz -o one1.heapdb --threads 1 --quiet > /dev/null
	cmp one.heapdb one1.heapdb || fail "one thread makes another database"
	for name in pipe many; do
		answers $name.heapdb $name.answers
		cmp plain.answers $name.answers || {
			fail "$name: other answers"
			diff plain.answers $name.answers | head -5
		}
	done
	rm -f ./*.heapdb ./*.hprof ./*.gz ./*.zst ./*.heapdb-lock fifo
}

try_dump "$DUMP"
dumps=$HDB_ROOT/../shared/dumps
if [ -d "$dumps" ] && command -v zstd > /dev/null; then
	for name in android_ahat_test javac_j25; do
		zstd -dqf "$dumps/$name.hprof.zst" -o "$work/$name.dump"
		try_dump "$work/$name.dump"
		rm -f "$work/$name.dump"
	done
fi

# Inputs that are refused, and truncated or damaged files.
expect() {
	code=$1 pattern=$2
	shift 2
	got=0
	"$@" > out 2>&1 < /dev/null || got=$?
	if [ $got -ne "$code" ] || ! grep -q -- "$pattern" out; then
		fail "exit $got, expected $code and \"$pattern\": $*"
		head -3 out
	fi
}
cp "$DUMP" a.hprof
gzip -1 < a.hprof > a.hprof.gz
expect 2 "use --contents keep" heapdb import a.hprof.gz --contents refer
expect 2 "-o FILE" heapdb import - --quiet
expect 3 "is empty" heapdb import - -o x.heapdb
echo "no dump" | gzip > text.gz
expect 3 "not an HPROF heap dump but text" heapdb import text.gz
head -c $(($(stat -c %s a.hprof.gz) * 4 / 5)) a.hprof.gz > cut.gz
expect 0 "incomplete" heapdb import cut.gz
expect 0 "compression" heapdb info --problems --db cut.heapdb
expect 3 "unexpected end of data" heapdb import cut.gz --strict --force
# Endless zeros are not a dump, and after a header they are not trusted.
head -c 100000000 /dev/zero | gzip -1 > zeros.gz
expect 3 "not an HPROF" heapdb import zeros.gz
ls ./*.importing 2> /dev/null && fail "litter"
# A compressed dump can be given instead of its database.
expect 0 "java.lang" heapdb query histogram --db a.hprof.gz
exit $failed
