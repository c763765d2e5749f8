#!/bin/sh
# tests/e2e/ci_tools_test.sh - tests the examples of tools/ci with the real tools: the schemas of SARIF and Kubernetes,
# Gradle, and JUnit 5. Missing tools are listed and skipped; tools/install-deps.sh --all installs them.
# Slow: schemas are downloaded on first use, and Gradle is slow.
set -eu
if heapdb help gate 2>&1 | grep -q libyaml; then
	echo "this heapdb was built without libyaml"
	exit 77
fi
ci=$HDB_ROOT/tools/ci
schemas=$HDB_ROOT/build/schemas
cd "$TMPDIR"
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}
mkdir -p build "$schemas"
heapdb import "$DUMP" -o build/after.heapdb --quiet > /dev/null
cat > heap-budget.yaml <<-END
	checks:
	  maps <&> "more": { retained: java.util.HashMap <= 1 KB }
	  heap: { shallow: "* <= 1 GB" }
	  leaks: { leaks: none }
	  secrets: { secrets: none }
END
sed 's/<= 1 KB/<= 1 GB/; /leaks:/d; /secrets:/d' heap-budget.yaml > good.yaml
for name in heap-budget good; do
	for format in junit sarif; do
		heapdb gate build/after.heapdb --quiet --budget $name.yaml --format $format -o $name.$format \
			> out 2>&1 || [ $? = 1 ] || fail "gate: $(cat out)"
	done
done
grep -q '<failure' heap-budget.junit || fail "no check fails"

# SARIF: the schema of OASIS, from the package.
sarif=$schemas/sarif/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json
[ -f "$sarif" ] || ! command -v npm > /dev/null ||
	timeout 200 npm install --prefix "$schemas/sarif" --ignore-scripts --no-audit --no-fund --silent \
		@microsoft/jest-sarif@1.0.0-beta.0 > /dev/null 2>&1 || true
if [ -f "$sarif" ] && python3 -c 'import jsonschema' 2> /dev/null; then
	for log in heap-budget.sarif good.sarif; do
		python3 - "$sarif" $log <<-'END' || fail "$log: SARIF 2.1.0"
			import json, sys, jsonschema
			schema, log = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
			checker = jsonschema.Draft7Validator(schema)
			errors = [f"{list(e.absolute_path)}: {e.message}" for e in checker.iter_errors(log)]
			assert checker.is_valid({"version": "2.1.0", "runs": []}) and not checker.is_valid({"runs": []})
			print(*errors, sep="\n")
			sys.exit(bool(errors))
		END
	done
	echo "checked: SARIF"
else
	echo "no schema of SARIF, or no python3-jsonschema"
fi

# Gradle: a build with the example. The dump of its tests already exists.
java=
for home in ${HDB_JDKS:-/usr/lib/jvm/*}; do
	[ -x "$home/bin/javac" ] && [ ! -L "$home" ] && [ -d "$home/jmods" ] && java=$home && break
done
if command -v gradle > /dev/null && [ -n "$java" ]; then
	mkdir -p gradle/build
	cp "$ci/gradle/heap-budget.gradle" gradle/
	cp "$DUMP" gradle/build/after.hprof
	printf "apply plugin: 'java'\napply from: 'heap-budget.gradle'\n" > gradle/build.gradle
	: > gradle/settings.gradle
	for budget in good heap-budget; do
		cp $budget.yaml gradle/heap-budget.yaml
		rc=0
		(cd gradle && JAVA_HOME=$java gradle --offline --no-daemon -g "$TMPDIR/gradle-home" check) \
			> out 2>&1 || rc=$?
		if [ $budget = good ]; then
			[ $rc = 0 ] || fail "gradle, a budget that holds: $(cat out)"
		elif [ $rc = 0 ] || ! grep -q 'heapBudget' out; then
			fail "gradle, a budget that breaks: $(cat out)"
		fi
		report=gradle/build/test-results/heapBudget/TEST-heap-budget.xml
		[ "$(grep -c '<failure' $report)" = "$(grep -c '<failure' $budget.junit)" ] ||
			fail "gradle: $(cat $report)"
	done
	echo "checked: Gradle"
else
	echo "no gradle, or no JDK"
fi

# JUnit 5: HeapBudgetTest on this JVM's own heap, run by JUnit's launcher.
jars=
for name in junit-jupiter-api junit-jupiter-engine junit-platform-console junit-platform-launcher \
	junit-platform-engine junit-platform-commons junit-platform-reporting junit-jupiter-params opentest4j \
	opentest4j-reporting-events opentest4j-reporting-schema apiguardian-api picocli; do
	[ ! -f /usr/share/java/$name.jar ] || jars=$jars:/usr/share/java/$name.jar
done
if [ -f /usr/share/java/junit-jupiter-engine.jar ] && [ -f /usr/share/java/junit-platform-console.jar ] &&
	[ -n "$java" ]; then
	mkdir -p junit5/build
	"$java/bin/javac" -J-XX:TieredStopAtLevel=1 -d junit5/classes -cp "${jars#:}" "$ci"/junit5/*.java
	for budget in good heap-budget; do
		cp $budget.yaml junit5/heap-budget.yaml
		rc=0
		(cd junit5 && "$java/bin/java" -XX:TieredStopAtLevel=1 -cp "classes$jars" \
			org.junit.platform.console.ConsoleLauncher --scan-classpath classes --disable-banner \
			--details tree) > out 2>&1 || rc=$?
		if [ $budget = good ]; then
			[ $rc = 0 ] || fail "JUnit 5, a budget that holds: $(cat out)"
			grep -q '2 tests successful' out || fail "JUnit 5: $(cat out)"
		elif [ $rc != 1 ] || ! grep -qF 'maps <&> "more"' out || ! grep -q 'object java.util.HashMap' out; then
			fail "JUnit 5, a budget that breaks: exit $rc: $(cat out)"
		fi
	done
	echo "checked: JUnit 5"
else
	echo "no JUnit 5, or no JDK"
fi

# Kubernetes: validates against the schemas of its API, plus checks that they do not contain. Runs the commands of the
# manifests.
python=$HDB_ROOT/build/fleet-venv/bin/python
[ -x "$python" ] && "$python" -c 'import kubernetes_validate' 2> /dev/null || python=python3
if "$python" -c 'import kubernetes_validate' 2> /dev/null; then
	"$python" "$HDB_ROOT/tests/support/kubernetes.py" "$ci"/kubernetes/*.yaml || fail "Kubernetes"
	echo "checked: Kubernetes"
else
	echo "no kubernetes-validate (PyPI)"
fi
exit $failed
