# support/jdk.sh - finds a JDK, and cleans up after JVMs, for the test that sources it.
# shellcheck shell=sh disable=SC2034

# first_jdk HOME...: sets $home to the first one with a compiler. Exits with 77 if there is none.
first_jdk()
{
	for home; do
		[ ! -x "$home/bin/javac" ] || return 0
	done
	echo "no JDK here"
	exit 77
}

# last_java: sets $java to that of the last JDK in $HDB_JDKS (default: the installed ones), or to "".
last_java()
{
	java=
	for home in ${HDB_JDKS:-/usr/lib/jvm/*}; do
		if [ -x "$home/bin/javac" ] && [ ! -L "$home" ]; then java=$home/bin/java; fi
	done
}

# forget_dead_vms: removes the sockets of JVMs that were killed. If a JVM of another user gets the PID of one of them,
# it cannot remove the socket itself, and then nothing can attach to it.
forget_dead_vms()
{
	for socket in /tmp/.java_pid*[0-9]; do
		[ -e "/proc/${socket#/tmp/.java_pid}" ] || rm -f "$socket"
	done
}
