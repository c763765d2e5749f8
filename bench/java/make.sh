#!/bin/sh
# bench/java/make.sh - creates dumps of the Java programs in this directory.
#
#   JAVA_HOME=/path/to/jdk17 sh bench/java/make.sh NAME OUT.hprof [SIZE]
#
# NAME is orders, social, random, screens or javac. SIZE is the program's own parameter: orders, persons, nodes, rows or
# source files; its default is in the program's first comment. Needs JDK 17 or newer, and for javac one with src.zip
# (JAVA_SOURCES=/path/to/src.zip if it is elsewhere) and unzip or jar. The object graph is the same in every run; only
# the addresses differ. JAVA_OPTIONS is passed to the VM: -XX:+UseSerialGC, -XX:-UseCompressedOops, -Xmx20g.
set -eu

die()
{
	echo "make.sh: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || [ $# -eq 3 ] || die "usage: make.sh orders|social|random|screens|javac OUT.hprof [SIZE]"
case $1 in
orders) class=Orders ;;
social) class=Social ;;
random) class=RandomGraph ;;
screens) class=Screens ;;
javac) class=JavacHeap ;;
*) die "$1: orders, social, random, screens and javac are there" ;;
esac
out=$2
size=${3:-}
bin=${JAVA_HOME:+$JAVA_HOME/bin/}

# The VM requires a name that ends in .hprof and does not exist yet.
mkdir -p "$(dirname "$out")"
tmp=$(mktemp -d "$(dirname "$out")/make.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
tmp=$(cd "$tmp" && pwd)
"${bin}javac" -encoding UTF-8 -sourcepath "$here/stubs" -d "$tmp" "$here/Dump.java" "$here/$class.java"
sources=
if [ $class = JavacHeap ]; then
	zip=${JAVA_SOURCES:-$(cd "$(dirname "$(readlink -f "$(command -v "${bin}javac")")")/.." && pwd)/lib/src.zip}
	[ -r "$zip" ] || die "$zip cannot be read: expected the JDK's sources; JAVA_SOURCES names another file"
	(cd "$tmp" && "${bin}jar" xf "$zip" java.base)
	sources=$tmp/java.base
	(cd "$sources" && find . -name '*.java' | LC_ALL=C sort | tail -n "+$((${size:-1700} + 1))" | xargs rm -f)
	size=
fi
# shellcheck disable=SC2086
"${bin}java" -XX:+UseG1GC -Xmx4g -XX:-UsePerfData ${JAVA_OPTIONS:-} -cp "$tmp" $class "$tmp/out.hprof" \
	${sources:+"$sources"} ${size:+"$size"}
mv "$tmp/out.hprof" "$out"
ls -l "$out"
