# messages_test.sh - enough error messages of the sources occur in a test: all messages of some rooms, and in total the
# number LEAST in tests/lint/messages.py.
command -v python3 >/dev/null || {
	echo "python3 is not installed"
	exit 77
}
python3 tests/lint/messages.py
