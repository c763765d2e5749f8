#!/bin/sh
# archives_test.sh - dumps in archives and from --fetch commands give the same answers as the dump itself. Also other
# files, damage, bombs, links, names, and commands that fail.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
cp "$DUMP" dump.hprof
if heapdb import none.zip 2>&1 | grep -q libarchive; then
	echo "built without libarchive"
	exit 77
fi
python3 - << 'END'
import bz2, lzma, tarfile, zipfile
data = open("dump.hprof", "rb").read()
open("plain.hprof.xz", "wb").write(lzma.compress(data, preset=1))
open("plain.hprof.bz2", "wb").write(bz2.compress(data))
for name, mode in (("a.tar", "w"), ("a.tgz", "w:gz"), ("a.tar.xz", "w:xz"), ("a.tar.bz2", "w:bz2")):
    with tarfile.open(name, mode) as tar:
        link = tarfile.TarInfo("0.hprof")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        tar.add("dump.hprof", "logs/dump.hprof")
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("README", "what this is")
    z.writestr("x/one.hprof", data)
    z.writestr("x/two.hprof", data[:len(data) // 2])
with zipfile.ZipFile("none.zip", "w") as z:
    z.writestr("README", "no dump")
# 9 GiB of zeros after the beginning of a dump, which bzip2 compresses to a few kilobytes.
block = bz2.compress(b"JAVA PROFILE 1.0.2\0" + bytes(1 << 20))
zeros = bz2.compress(bytes(64 << 20))
open("bomb.hprof.bz2", "wb").write(block + zeros * 145)
END
if command -v lz4 > /dev/null; then lz4 -q dump.hprof plain.hprof.lz4; fi
# pzstd writes a skippable frame first.
heapdb convert dump.hprof frames.hprof.zst --quiet > /dev/null
{ printf 'P*M\030\004\000\000\000abcd' && cat frames.hprof.zst; } > plain.hprof.zst
heapdb import dump.hprof -o want.heapdb --quiet > /dev/null
heapdb histogram --db want.heapdb --json --limit 40 > want
# answers NAME: the database of NAME gives the same answers as that of the dump.
answers() {
	rm -f got.heapdb
	heapdb import "$@" -o got.heapdb --quiet > /dev/null
	heapdb histogram --db got.heapdb --json --limit 40 > got
	cmp want got
	heapdb check --db got.heapdb > /dev/null
}
for name in plain.hprof.* a.tar a.tgz a.tar.xz a.tar.bz2 a.zip 'a.zip!x/one.hprof' 'a.tgz!logs/dump.hprof'; do
	answers "$name"
done

# Through a pipe each archive gives the same answers as the file, whatever its name.
if command -v zstd > /dev/null; then zstd -qf a.tar -o a.tar.zst; fi
for name in dump.hprof frames.hprof.zst plain.hprof.* a.tar a.tgz a.tar.* a.zip; do
	# shellcheck disable=SC2002 # a pipe, not the file
	cat "$name" | answers -
done
mkfifo fifo
cat a.zip > fifo &
answers fifo
for name in dump.hprof a.tar.xz; do
	for command in convert strip redact; do
		heapdb $command dump.hprof want.hprof --force --quiet > /dev/null
		# shellcheck disable=SC2002 # a pipe, not the file
		cat "$name" | heapdb $command /dev/stdin got.hprof --force --quiet > /dev/null
		cmp want.hprof got.hprof
	done
done
answers - < a.zip
[ -z "$(find "$TMPDIR" -mindepth 1 -maxdepth 1 \( -name 'tmp.*' -o -name 'heapdb.*' \))" ]

# Dumps written from archives equal those written from the dump.
for command in convert strip redact; do
	heapdb $command dump.hprof want.hprof --force --quiet > /dev/null
	for name in plain.hprof.* a.tar a.tgz a.tar.xz a.tar.bz2 a.zip 'a.zip!x/one.hprof' 'a.tgz!logs/dump.hprof'; do
		rm -f got.hprof
		heapdb $command "$name" got.hprof --quiet > /dev/null
		cmp want.hprof got.hprof
	done
	heapdb $command s3://b/a.tgz got.hprof --force --fetch 'cat a.tgz; : {}' > out 2> notices
	cmp want.hprof got.hprof
	[ ! -s notices ]
done
heapdb convert a.zip - 2> notices | cmp - dump.hprof
grep -q 'contains another dump; to import that dump, use ARCHIVE!x/two.hprof' notices
head -c $(($(stat -c %s plain.hprof.bz2) / 2)) plain.hprof.bz2 > half.hprof.bz2
heapdb convert half.hprof.bz2 half.hprof > out 2> notices
grep -q 'heapdb read the data before this position' notices
cmp -n "$(stat -c %s half.hprof)" half.hprof dump.hprof
[ "$(stat -c %s half.hprof)" -gt 1000000 ]
# not_written TEXT ARGUMENT...: fails with TEXT and leaves no file.
not_written() {
	text=$1
	shift
	rc=0
	heapdb convert "$@" no.hprof > out 2>&1 || rc=$?
	[ $rc -ge 3 ]
	grep -qF -- "$text" out
	[ ! -e no.hprof ]
}
not_written 'none.zip: contains no heap dump' none.zip
not_written 'a.zip!README: not an HPROF heap dump but text' 'a.zip!README'
not_written 'failed (exit code 3)' s3://b/d.hprof --fetch 'cat dump.hprof; : {}; exit 3'

# Default names: a query imports the archive; another archive under the same name is noticed; the database of another
# dump is not replaced.
heapdb histogram 'a.zip!x/one.hprof' --json --limit 40 > got 2> notices
cmp want got
[ -f one.heapdb ]
heapdb import plain.hprof.xz --quiet > /dev/null
[ -f plain.heapdb ]
heapdb histogram a.zip > /dev/null 2> notices
grep -q 'contains another dump; to import that dump, use ARCHIVE!x/two.hprof' notices
heapdb histogram a.zip > /dev/null 2> notices
[ ! -s notices ]
touch -d '+2 seconds' a.zip
heapdb histogram a.zip > /dev/null 2> notices
grep -q 'importing the dump again' notices
heapdb histogram plain.hprof.zst --json --limit 40 > got 2> notices
cmp want got
touch -d '-1 hour' a.zip

# said EXIT TEXT ARGUMENT...: checks exit status and output.
said() {
	rc=0
	code=$1 text=$2
	shift 2
	heapdb import "$@" -o no.heapdb > out 2>&1 || rc=$?
	if [ $rc -ne "$code" ] || ! grep -qF -- "$text" out; then
		echo "$*: exit $rc, wanted $code and: $text"
		cat out
		exit 1
	fi
	[ "$code" = 0 ] || [ ! -e no.heapdb ] || { echo "$*: left a database"; exit 1; }
	rm -f no.heapdb
}
said 3 'none.zip: contains no heap dump' none.zip
said 3 'a.zip: no file x in this archive' 'a.zip!x'
said 3 'not an HPROF heap dump but text' 'a.zip!README'
said 3 'missing.zip: No such file' missing.zip
said 3 'missing.zip: No such file' 'missing.zip!x/two.hprof'
head -c $(($(stat -c %s plain.hprof.xz) * 85 / 100)) plain.hprof.xz > cut.hprof.xz
head -c 1000000 a.zip > cut.zip
head -c 1000000 a.tgz > cut.tgz
for cut in cut.hprof.xz cut.zip cut.tgz; do
	said 0 'heapdb read the data before this position' $cut
done
# Each byte of the headers of archives, changed: an answer or an error.
for name in a.zip a.tgz plain.hprof.xz plain.hprof.bz2 a.tar; do
	at=0
	while [ $at -lt 40 ]; do
		cp "$name" "flip-$name"
		printf '\377' | dd of="flip-$name" bs=1 seek=$at conv=notrunc 2> /dev/null
		rc=0
		timeout 60 heapdb import "flip-$name" -o flip.heapdb --force --quiet > out 2>&1 || rc=$?
		[ $rc -le 4 ] || { echo "$name with byte $at changed: exit $rc"; cat out; exit 1; }
		at=$((at + 5))
	done
	rm "flip-$name"
done

# Bombs need little memory and time: zeros end the dump, or the ratio ends the archive.
rc=0
# shellcheck disable=SC3045
(ulimit -v 4000000 && timeout 250 heapdb import bomb.hprof.bz2 -o no.heapdb) > out 2>&1 || rc=$?
[ $rc -le 4 ] || { cat out; exit 1; }

# Commands that fetch.
said 2 "give a command that writes the dump to standard output: --fetch 'curl -sSf {}'" \
	https://example.org/dump.hprof
said 2 "writes the dump to standard output: --fetch 'aws s3 cp {} -'" s3://bucket/dump.hprof
# shellcheck disable=SC2016
answers "s3://b/it's \$(touch bad) here.hprof" --fetch 'test {} = "s3://b/it'"'"'s \$(touch bad) here.hprof" &&
	cat dump.hprof'
[ ! -e bad ]
# The name is never executed as a command. In quotes it could be, and with a leading - it would be an option. The shell
# of --fetch expands these, not this one.
# shellcheck disable=SC2016
for quoted in "cat '{}'" 'cat "{}"' 'sh -c "cat {}"' "sh -c 'cat {}'" 'echo `cat {}`' "it=\\''; cat {} '"; do
	said 2 'write {} without quotes' "s3://\$(touch bad)'; touch bad; '" --fetch "$quoted"
done
# shellcheck disable=SC2016,SC1003
for name in '$(touch bad)' '`touch bad`' "'; touch bad; '" '"; touch bad; "' 'a b  *?' '~' '\' "it's"; do
	answers "s3://$name" --fetch 'printf %s {} > got.name; cat dump.hprof'
	[ "$(cat got.name)" = "s3://$name" ]
done
printf 'cat dump.hprof; : %s' '"\"" {}' > template
answers 's3://b/dump.hprof' --fetch "$(cat template)"
[ ! -e bad ]
rc=0
heapdb import --fetch 'cat {}' -o no.heapdb -- '-n' > out 2>&1 || rc=$?
[ $rc -eq 2 ]
grep -q 'could treat it as an option' out
answers 'https://example.org/dump.hprof.xz?sig=1#x' --fetch 'cat plain.hprof.xz; : {}'
answers 's3://b/a.zip!x/one.hprof' --fetch 'cat a.zip; : {}'
said 2 'missing {}, which stands for the name of the dump' s3://b/dump.hprof --fetch cat
said 4 'the --fetch command failed (exit code 3)' s3://b/dump.hprof --fetch 'cat dump.hprof; : {}; exit 3'
said 4 'the --fetch command failed (exit code 3)' s3://b/a.zip --fetch 'cat a.zip; : {}; exit 3'
said 3 '(exit code 1)' s3://b/dump.hprof --fetch 'false {}'
heapdb import s3://b/far.hprof --fetch 'cat dump.hprof; : {}' --quiet > /dev/null
[ -f far.heapdb ]
