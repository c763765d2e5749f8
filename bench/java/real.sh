#!/bin/sh
# bench/java/real.sh - creates dumps of third-party programs; see real/.
#
#   JAVA_HOME=/path/to/jdk17 sh bench/java/real.sh NAME OUT.hprof [SIZE]
#
# NAME is spark, hazelcast, kotlin, h2 or cassandra. SIZE is the program's own parameter: rows, entries or events; for
# kotlin, 1 or 2 libraries to compile. Its default is in the program's first comment. Needs Maven (mvn), which downloads
# the jars once to REAL_CACHE (build/bench/maven), and JDK 17 (h2 also runs on a newer one). hazelcast and cassandra
# listen on ports of 127.0.0.1. Apart from thread states, the contents are the same in every run. JAVA_OPTIONS is passed
# to the VM.
set -eu

die()
{
	echo "real.sh: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || [ $# -eq 3 ] || die "usage: real.sh spark|hazelcast|kotlin|h2|cassandra OUT.hprof [SIZE]"
name=$1
out=$2
size=${3:-}

# Artifacts for Maven: group:artifact:version[:classifier]. Their dependencies are downloaded, too.
case $name in
spark)
	class=SparkFrames
	artifacts=org.apache.spark:spark-sql_2.13:4.0.1
	;;
hazelcast)
	class=HazelcastMaps
	artifacts=com.hazelcast:hazelcast:5.5.0
	;;
kotlin)
	class=KotlinHeap
	artifacts='org.jetbrains.kotlin:kotlin-compiler-embeddable:2.1.0
		org.jetbrains.kotlin:kotlin-reflect:2.1.0
		com.squareup:kotlinpoet-jvm:2.0.0:sources
		com.squareup.okhttp3:okhttp:4.12.0:sources
		org.bouncycastle:bctls-jdk18on:1.78.1
		org.codehaus.mojo:animal-sniffer-annotations:1.23
		org.conscrypt:conscrypt-openjdk-uber:2.5.2
		org.openjsse:openjsse:1.1.14'
	;;
h2)
	class=H2Tables
	artifacts=com.h2database:h2:2.3.232
	;;
cassandra)
	class=CassandraNode
	artifacts=org.apache.cassandra:cassandra-all:5.0.2
	;;
*) die "$name: spark, hazelcast, kotlin, h2 and cassandra are there" ;;
esac
case $size in
*[!0-9]*) die "$size: SIZE is a number" ;;
esac

bin=${JAVA_HOME:+$JAVA_HOME/bin/}
jdk=$("${bin}javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
[ "${jdk:-0}" -eq 17 ] || { [ "$name" = h2 ] && [ "${jdk:-0}" -gt 17 ]; } ||
	die "$name needs a JDK 17, ${bin}javac is ${jdk:-not there}: set JAVA_HOME"
command -v mvn >/dev/null || die "mvn is not there: Maven brings the jars"

# The VM requires a name that ends in .hprof and does not exist yet.
mkdir -p "$(dirname "$out")"
tmp=$(mktemp -d "$(dirname "$out")/real.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
tmp=$(cd "$tmp" && pwd)
cache=${REAL_CACHE:-$here/../../build/bench/maven}
mkdir -p "$cache"
jars=$(cd "$cache" && pwd)/$name

pom()
{
	echo '<project><modelVersion>4.0.0</modelVersion>'
	echo "<groupId>bench</groupId><artifactId>$name</artifactId><version>1</version><dependencies>"
	for artifact in $artifacts; do
		echo "$artifact" | awk -F: '{
			print "<dependency><groupId>" $1 "</groupId><artifactId>" $2 "</artifactId>"
			print "<version>" $3 "</version>" ($4 ? "<classifier>" $4 "</classifier>" : "") "</dependency>"
		}'
	done
	echo '</dependencies></project>'
}

failed()
{
	grep -E 'rror:|ERROR|Exception' "$tmp/log" | head -n 5 >&2
	die "$1"
}

# Once all jars are complete, their directory contains the pom for which they were downloaded.
bring_jars()
{
	pom >"$tmp/pom.xml"
	cmp -s "$tmp/pom.xml" "$jars/pom.xml" && return
	rm -rf "$jars"
	mvn -q -B -f "$tmp/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory="$jars" >"$tmp/log" 2>&1 || failed "mvn failed"
	cp "$tmp/pom.xml" "$jars"
}

# Writes options that open packages of a module to all code, as in the program's own start script.
opens()
{
	module=$1
	shift
	for package in "$@"; do
		echo "--add-opens=$module/$package=ALL-UNNAMED"
	done
}

spark_opens()
{
	opens java.base java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util \
		java.util.concurrent java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs \
		sun.security.action sun.util.calendar
}

cassandra_opens()
{
	opens java.base java.io java.lang java.lang.ref java.lang.reflect java.math java.net java.nio java.util \
		java.util.concurrent java.util.concurrent.atomic jdk.internal.loader jdk.internal.math \
		jdk.internal.misc jdk.internal.module jdk.internal.ref jdk.internal.reflect jdk.internal.util \
		jdk.internal.util.jar sun.nio.ch sun.security.action
	opens java.logging java.util.logging
	opens java.management sun.management
	opens java.management.rmi javax.management.remote.rmi
	opens java.rmi sun.rmi.registry sun.rmi.server sun.rmi.transport.tcp
	opens java.sql java.sql
	opens jdk.management com.sun.management.internal
}

# Prints the options of kotlinc, which compiles the first SIZE libraries against all other jars.
kotlin_options()
{
	find "$jars" -name '*-sources.jar' | LC_ALL=C sort | head -n "${size:-2}" >"$tmp/libraries"
	while read -r library; do
		folder=$tmp/$(basename "$library" .jar)
		mkdir "$folder"
		(cd "$folder" && "${bin}jar" xf "$library")
		echo "$folder"
	done <"$tmp/libraries"
	mkdir "$tmp/stubs"
	find "$here/stubs" -name '*.java' -exec "${bin}javac" -d "$tmp/stubs" {} +
	printf '%s\n' -nowarn -no-stdlib -no-reflect -api-version 2.0 -opt-in=kotlin.RequiresOptIn \
		-Xmulti-platform -Xjvm-default=all -d "$tmp/compiled" -cp
	find "$jars" -name '*.jar' ! -name '*-sources.jar' ! -name 'kotlin-compiler-*' |
		LC_ALL=C sort | tr '\n' ':'
	echo "$tmp/stubs"
}

cassandra_options()
{
	cassandra_opens
	printf '%s\n' -Dcassandra.config=cassandra.yaml -Dcassandra.storagedir=data -Dcassandra-foreground=yes \
		-Dcassandra.ring_delay_ms=100 -Dcassandra.skip_wait_for_gossip_to_settle=0 \
		-Dcassandra.native.epoll.enabled=false -Dlogback.configurationFile=logback.xml \
		-Djdk.attach.allowAttachSelf=true "-javaagent:$(find "$jars" -name 'jamm-*.jar')"
}

# The arguments of `java`, one per line: options of the VM, the program, and its arguments.
arguments()
{
	case $name in
	spark) spark_opens ;;
	cassandra) cassandra_options ;;
	esac
	printf '%s\n' -cp "$tmp/classes:$jars/*" $class "$tmp/out.hprof"
	if [ "$name" = kotlin ]; then
		kotlin_options
	elif [ -n "$size" ]; then
		echo "$size"
	fi
}

bring_jars
mkdir "$tmp/classes"
"${bin}javac" -encoding UTF-8 -cp "$jars/*" -d "$tmp/classes" "$here/Dump.java" "$here/real/$class.java"
cp "$here/real/cassandra.yaml" "$here/real/logback.xml" "$tmp/classes"
arguments >"$tmp/arguments"
set --
while IFS= read -r argument; do
	set -- "$@" "$argument"
done <"$tmp/arguments"
# The programs write to the current directory and to java.io.tmpdir.
# shellcheck disable=SC2086
(cd "$tmp" && "${bin}java" -XX:+UseG1GC -Xmx4g -XX:-UsePerfData -Djava.io.tmpdir="$tmp" ${JAVA_OPTIONS:-} \
	"$@" 2>"$tmp/log") || failed "$class failed"
mv "$tmp/out.hprof" "$out"
ls -l "$out"
