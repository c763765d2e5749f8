# messages_test.sh - enough error messages of the sources occur in a test: all of some rooms, and the
# number that tests/lint/messages.py has as LEAST in all.
command -v python3 >/dev/null || {
	echo "python3 is not installed"
	exit 77
}
python3 tests/lint/messages.py
