#!/bin/sh
# tools/python/make_venv.sh DIR - creates a Python environment with the packages that tests need: PySpark 4 (450 MB,
# includes Spark), DuckDB and pyarrow for the fleet, axe-core for the page, and the Kubernetes schemas. Does nothing if
# the environment exists. Spark requires JDK 17 or 21.
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
