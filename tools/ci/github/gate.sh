#!/bin/sh
# gate.sh - the step of action.yml: annotations, a summary, and SARIF if $SARIF is set. Exits with the status of
# `heapdb gate`.
set -eu
set -- "$DUMP" --budget "$BUDGET" --quiet
[ -z "${BASELINE:-}" ] || set -- "$@" --baseline "$BASELINE"
rc=0
heapdb gate "$@" --format github || rc=$?
[ $rc -le 1 ] || exit $rc
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	heapdb gate "$@" --format markdown >>"$GITHUB_STEP_SUMMARY" || [ $? = 1 ]
fi
if [ -n "${SARIF:-}" ]; then
	heapdb gate "$@" --format sarif -o "$SARIF" --force || [ $? = 1 ]
fi
exit $rc
