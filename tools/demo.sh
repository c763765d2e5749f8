#!/bin/sh
# tools/demo.sh - runs heapdb on the sample dump and prints each command with its output, for `make demo`.
set -eu

PATH=$(cd "$BUILD" && pwd):$PATH

# Prints a command as a user would type it, and its output.
ask()
{
	printf '\n$ heapdb %s\n\n' "$*"
	heapdb "$@"
}

ask "$SAMPLE"
ask leaks "$SAMPLE"
id=$(heapdb leaks --brief --columns id --csv "$SAMPLE" | grep '^0x' | head -n 1)
ask retained "$id" "$SAMPLE"
printf '\nWhat to try next:\n\n'
next()
{
	printf '    %-48s %s\n' "$1" "$2"
}
next "$BUILD/heapdb top $SAMPLE" "the biggest objects"
next "$BUILD/heapdb path $id $SAMPLE" "what keeps that one alive"
next "$BUILD/heapdb serve $SAMPLE --open" "a page in the browser"
next "$BUILD/heapdb help" "all other commands"
