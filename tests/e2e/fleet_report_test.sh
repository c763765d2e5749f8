#!/bin/sh
# fleet_report_test.sh - reports on the tables of a fleet, made by the test: the page, conditions and exit status, JUnit
# XML, the webhook, retention. The examples are parsed.
set -eu
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
# shellcheck source=tests/support/fleet_venv.sh
. "$HDB_ROOT/tests/support/fleet_venv.sh"
export PYTHONPATH="$HDB_ROOT/tools/python"
for script in "$HDB_ROOT"/tools/python/examples/*.sh; do
	sh -n "$script"
done
if command -v javac > /dev/null; then
	javac -J-XX:TieredStopAtLevel=1 -d classes "$HDB_ROOT/tests/java/FleetLeak.java"
	java -Xmx64m -cp classes FleetLeak SessionCache old.hprof
	java -Xmx64m -cp classes FleetLeak AuditLog new.hprof
fi
"$venv/bin/python" "$HDB_ROOT/tests/e2e/fleet_report_test.py"
if python3 -c 'import yaml' 2> /dev/null; then
	python3 - "$HDB_ROOT"/tools/python/examples/*.yaml << 'EOT'
import sys, yaml
for file in sys.argv[1:]:
    assert yaml.safe_load(open(file, encoding="utf-8"))["jobs"], file
EOT
fi
