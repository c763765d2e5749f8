#!/bin/sh
# bench_java_test.sh - bench/java/make.sh: every program makes a dump of the requested size, with the contents described
# in its first comment. Needs JDK 17 or newer; javac's heap also needs src.zip.
# Slow: large dumps are made and read.
set -eu
jdk=
sources=
for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
	[ -x "$home/bin/javac" ] || continue
	version=$("$home/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 17 ] || continue
	jdk=$home
	if [ -r "$home/lib/src.zip" ]; then
		sources=$home
		break
	fi
done
[ -n "$jdk" ] || { echo "no JDK of 17 or newer here"; exit 77; }
cd "$TMPDIR"

bad=0
# make NAME SIZE: writes the class histogram of all objects to NAME.csv.
make()
{
	JAVA_HOME=$jdk sh "$HDB_ROOT/bench/java/make.sh" "$1" "$1.hprof" "$2" >make.out
	heapdb import "$1.hprof" --quiet >/dev/null
	heapdb query histogram --shallow --db "$1.heapdb" --csv >"$1.csv"
	for left in make.??????; do
		[ ! -e "$left" ] || { echo "$1: $left is left behind"; bad=1; }
	done
}

# want NAME CLASS COUNT
want()
{
	have=$(awk -F, -v class="$2" '$1 == class { print $3; exit }' "$1.csv")
	[ "$have" = "$3" ] || { echo "$1: $have objects of $2, not $3"; bad=1; }
}

make orders 900
want orders "Orders\$Order" 900
want orders "Orders\$Customer" 46
make social 5000
want social "Social\$Person" 5000
make screens 400
want screens "Screens\$Row" 10400
want screens "Screens\$Screen" 21
make random 20000
nodes=$(awk -F, -v class="RandomGraph\$Node" '$1 == class { print $3 }' random.csv)
if [ "$nodes" -le 19000 ] || [ "$nodes" -gt 20000 ]; then
	echo "random: $nodes nodes"
	bad=1
fi
if [ -n "$sources" ]; then
	jdk=$sources
	make javac 60
	grep -q '^com.sun.tools.javac.tree.JCTree.JCClassDecl,' javac.csv || { echo "javac: no trees"; bad=1; }
fi
if sh "$HDB_ROOT/bench/java/make.sh" none x.hprof 2>/dev/null || [ -e x.hprof ]; then
	echo "make.sh: a name that is none was taken"
	bad=1
fi
exit $bad
