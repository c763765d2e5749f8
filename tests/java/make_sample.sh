#!/bin/sh
# tests/java/make_sample.sh - makes a new tests/data/sample.hprof.zst. Needs JDK 17 and zstd.
#
#   JAVA_HOME=/path/to/jdk17 sh tests/java/make_sample.sh [OUT.hprof.zst [all]]
#
# `all` keeps the garbage, see Sample.java. Every run has other addresses and so makes another dump. Replace the
# committed one only if Sample.java changes, because golden cases contain its addresses.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../data/sample.hprof.zst}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$javac" -Xlint:-removal -encoding UTF-8 -d "$tmp" "$here/Sample.java"
(cd "$tmp" && "$java" -XX:+UseSerialGC -Xshare:auto -Xms16m -Xmx32m -XX:-UsePerfData \
	-cp . Sample sample.hprof ${2:+"$2"})
zstd -q -19 --ultra -f -o "$out" "$tmp/sample.hprof"
chmod 644 "$out"
ls -l "$tmp/sample.hprof" "$out"
