#!/bin/sh
# tests/e2e/ci_test.sh - runs the examples of tools/ci: the step of the GitHub action, the command of the Gradle task,
# HeapBudget.java on a JDK, and the pytest plugin if pytest is installed. Downloads nothing.
set -eu
if heapdb help gate 2>&1 | grep -q libyaml; then
	echo "this heapdb was built without libyaml"
	exit 77
fi
ci=$HDB_ROOT/tools/ci
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}
mkdir build
heapdb import "$DUMP" -o build/after.heapdb --quiet > /dev/null
cat > heap-budget.yaml <<-END
	checks:
	  maps: { retained: java.util.HashMap <= 1 KB }
	  heap: { shallow: "* <= 1 GB" }
END

# GitHub: the inputs of action.yml become variables of its step.
for name in DUMP BUDGET BASELINE SARIF; do
	input=$(echo $name | tr '[:upper:]' '[:lower:]')
	grep -q "^  $input:$" "$ci/github/action.yml" || fail "action.yml has no input $input"
	grep -qF "        $name: \${{ inputs.$input }}" "$ci/github/action.yml" || fail "action.yml does not pass $name"
done
rc=0
DUMP=build/after.heapdb BUDGET=heap-budget.yaml BASELINE=build/after.heapdb SARIF=out.sarif \
	GITHUB_STEP_SUMMARY=summary.md sh "$ci/github/gate.sh" > annotations 2>&1 || rc=$?
[ $rc = 1 ] || fail "gate.sh: exit $rc: $(cat annotations)"
grep -q '^::error file=heap-budget.yaml,line=2,col=3,title=maps::retained' annotations || fail "$(cat annotations)"
grep -q '^### Heap budget: 1 of 2 checks failed' summary.md || fail "$(cat summary.md)"
python3 -c 'import json; assert json.load(open("out.sarif"))["runs"][0]["results"]' || fail "out.sarif"
rc=0
DUMP=build/after.heapdb BUDGET=none.yaml sh "$ci/github/gate.sh" > annotations 2>&1 || rc=$?
[ $rc = 3 ] || fail "gate.sh without a budget: exit $rc"

# Gradle: its command, with the database instead of the dump.
sed -n "/commandLine '/,/^    .*xml/p" "$ci/gradle/heap-budget.gradle" | tr -d "'," |
	sed 's/commandLine//; s/after.hprof/after.heapdb/' | tr '\n' ' ' > gradle.sh
mkdir -p build/test-results/heapBudget
rc=0
sh gradle.sh > out 2>&1 || rc=$?
[ $rc = 1 ] || fail "gradle: exit $rc: $(cat out)"
grep -q '<failure type="budget"' build/test-results/heapBudget/TEST-heap-budget.xml || fail "no report for Gradle"

# pytest: a test for each check, and the fixture. Python cannot load a library built with sanitizers.
if ! nm -D "$BUILD/libheapdb.so" | grep -q __asan &&
	python3 -c 'import pytest, sys; sys.exit(pytest.version_tuple < (7,))' 2>/dev/null &&
	[ -f "$BUILD/python/libheapdb.so" ]; then
	cat > test_heap.py <<-END
		def test_heap(heap_gate):
		    broken = heap_gate("build/after.heapdb", "heap-budget.yaml", "build/after.heapdb")
		    assert len(broken) == 1 and "java.util.HashMap" in broken[0]
	END
	rc=0
	PYTHONPATH=$HDB_ROOT/tools/python HEAPDB_LIBRARY=$BUILD/python/libheapdb.so PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 \
		PYTHONDONTWRITEBYTECODE=1 \
		python3 -m pytest -q -p no:cacheprovider -p heapdb_jvm.pytest --heap-dump build/after.heapdb \
		heap-budget.yaml test_heap.py > out 2>&1 || rc=$?
	if [ $rc != 1 ] || ! grep -q '1 failed, 2 passed' out || ! grep -q 'object java.util.HashMap' out; then
		fail "pytest: exit $rc: $(cat out)"
	fi
else
	echo "no pytest here"
fi

# JUnit: the class that HeapBudgetTest uses, run as a program.
# shellcheck source=tests/support/jdk.sh
. "$HDB_ROOT/tests/support/jdk.sh"
last_java
if [ -n "$java" ]; then
	"$java" -XX:TieredStopAtLevel=1 "$ci/junit5/HeapBudget.java" build/after.heapdb heap-budget.yaml > out 2>&1 ||
		fail "HeapBudget.java: $(cat out)"
	if ! grep -q '^maps: retained java.util.HashMap is' out || ! grep -q '^heap: ok$' out; then
		fail "HeapBudget.java: $(cat out)"
	fi
else
	echo "no JDK in ${HDB_JDKS:-/usr/lib/jvm}"
fi
exit $failed
