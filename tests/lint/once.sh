#!/bin/sh
# tests/lint/once.sh FILE COMMAND... - runs a checker on a C source, unless it was clean before with the same command,
# version of the checker, source and headers, also those of the system. Part of `make lint`.
#
# Environment: LINT_FLAGS, the flags that find the headers; LINT_VERSION of the checker; LINT_CACHE, the folder of the
# results (build/lint/clean).
set -eu

file=$1
shift
folder=${LINT_CACHE:-build/lint/clean}
# The flags are words.
# shellcheck disable=SC2086
depends=$(gcc $LINT_FLAGS -std=c11 -M "$file")
mkdir -p "$folder"
text=$(mktemp)
trap 'rm -f "$text"' EXIT
printf '%s\n' "$*" "$LINT_VERSION" >"$text"
# xargs comes last: a header that cannot be read ends this script.
echo "$depends" | sed 's/^[^:]*://; s/\\$//' | xargs cat .clang-tidy >>"$text"
key=$(sha256sum <"$text" | cut -d ' ' -f 1)
[ ! -e "$folder/$key" ] || exit 0
"$@"
: >"$folder/$key"
