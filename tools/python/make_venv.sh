#!/bin/sh
# tools/python/make_venv.sh DIR - a Python environment with what the tests of the fleet need: PySpark 4
# (450 MB, Spark itself), DuckDB, pyarrow; and what others take from PyPI: axe-core for the test of the
# page, the schemas of Kubernetes. Does nothing if it is there. Spark wants JDK 17 or 21.
set -eu

venv=$1
if [ ! -f "$venv/ready" ]; then
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install -q 'pyspark==4.0.*' duckdb pyarrow
	: > "$venv/ready"
fi
[ -f "$venv/axe" ] || { "$venv/bin/pip" install -q --no-deps 'axe-playwright-python==0.1.8' && : > "$venv/axe"; }
[ -f "$venv/kubernetes" ] || {
	"$venv/bin/pip" install -q 'kubernetes-validate==1.37.0' && : > "$venv/kubernetes"
}
