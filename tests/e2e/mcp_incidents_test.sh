#!/bin/sh
# mcp_incidents_test.sh - ten incidents (tests/java/Planted*.java) and a program that grows (Grow.java), investigated
# through `heapdb mcp` by following the plans of its prompts, without a model: each must find the culprit within 5 calls
# and 20 kB (tools/mcp/README.md has the table). Needs a JDK.
set -eu
for tool in java javac python3; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if heapdb mcp "$work" < /dev/null 2>&1 | grep -q 'built without'; then
	echo "heapdb was built without libjansson"
	exit 77
fi
mkdir classes dumps
javac -J-XX:TieredStopAtLevel=1 -d classes "$HDB_ROOT"/tests/java/Planted*.java "$HDB_ROOT/tests/java/Grow.java"
for program in Map ThreadLocal Loader Listeners Local Strings Pool Holders Full Waste; do
	heap=128m argument=
	case $program in
	Full) heap=40m ;;
	Loader) argument=$work/classes ;;
	Holders) argument=worker ;;
	esac
	# shellcheck disable=SC2086
	java -XX:+UseSerialGC -Xmx$heap -XX:-UsePerfData -cp classes Planted$program dumps/$program.hprof $argument \
		> java.log 2>&1 || { echo "Planted$program does not run"; cat java.log; exit 1; }
	heapdb import dumps/$program.hprof -o dumps/$program.heapdb --quiet > import.log
done
java -XX:+UseSerialGC -Xmx128m -XX:-UsePerfData -cp classes Grow dumps/Grow live > java.log 2>&1 ||
	{ echo "Grow does not run"; cat java.log; exit 1; }
heapdb import dumps/Grow1.hprof --quiet > import.log
heapdb import dumps/Grow3.hprof -o dumps/Grow.heapdb --quiet > import.log
python3 "$HDB_ROOT/tests/e2e/mcp_incidents.py" dumps
