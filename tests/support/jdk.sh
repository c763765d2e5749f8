# support/jdk.sh - finds a JDK for the test that sources it.
# shellcheck shell=sh disable=SC2034

# first_jdk HOME...: sets $home to the first that has a compiler. Ends the test with 77 if none has.
first_jdk()
{
	for home; do
		[ ! -x "$home/bin/javac" ] || return 0
	done
	echo "no JDK here"
	exit 77
}

# last_java: sets $java to that of the last JDK of $HDB_JDKS (default: those installed); empty: none.
last_java()
{
	java=
	for home in ${HDB_JDKS:-/usr/lib/jvm/*}; do
		if [ -x "$home/bin/javac" ] && [ ! -L "$home" ]; then java=$home/bin/java; fi
	done
}
