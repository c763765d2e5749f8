# support/page.sh - sourced first by tests of the page: needs Chromium (otherwise exits with 77), creates the directory
# $work and changes to it. serve.sh starts the server; both end with the test.
# shellcheck shell=sh
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
	echo "chromium is not installed"
	exit 77
fi
work=$(mktemp -d)
# shellcheck source=tests/support/serve.sh
. "$HDB_ROOT/tests/support/serve.sh"
trap 'rm -rf "$work"; [ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
cd "$work" || exit 1
