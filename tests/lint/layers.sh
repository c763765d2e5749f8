#!/bin/sh
# tests/lint/layers.sh - checks which room may include which. Part of `make lint`.
#
# A room may include itself and the rooms in its line, as "ROOM/FILE.h". Everything may include "heapdb.h", which has
# the result codes. Changing this table changes the design. Also checked: included files exist, sources in src/ include
# from src/ and never a neighbour by its bare name, no two files share a name, and the top directory has no tracked file
# that is not listed here. The argument is another project root to check, for the check's own test.
set -eu

cd "${1:-$(dirname "$0")/../..}"

table='
base
hprof   base
store   base
graph   base
layout  base
rewrite base hprof
perfetto base hprof
phd     base hprof
import  base hprof store graph layout
heap    base hprof store graph layout
derive  base hprof store graph layout heap
analysis base hprof store graph layout heap derive
query   base hprof store graph layout heap derive analysis
queries base hprof store graph layout heap derive analysis query
api     base hprof store graph layout heap derive analysis query queries import rewrite perfetto phd
'

# The public headers (doors) of a room. All others are private to the room, and NAME_private.h is private to its
# directory.
doors='
base/*
hprof/reader.h hprof/walk.h hprof/quick.h hprof/emptied.h hprof/dump_writer.h
store/schema.h store/store.h store/column.h store/lists.h store/lists_put.h store/objects.h store/records.h
graph/access.h graph/adjacency.h graph/child_rows.h graph/node_map.h graph/paths.h graph/preorder.h graph/reach.h
graph/reach_masks.h graph/retained_local.h graph/size_order.h graph/dominators/semi_nca.h
layout/layout.h layout/layout_known.h
import/import.h
rewrite/rewrite.h
perfetto/perfetto.h
phd/phd.h
heap/heap.h heap/heap_database.h heap/heap_layout.h heap/known.h heap/threads.h heap/values/*
heap/collections/collections.h heap/platform_classes.h
derive/derive.h derive/blocks.h derive/row_pass.h derive/build.h derive/class_tree.h derive/native.h derive/segments.h
analysis/*
query/*
queries/queries.h
'

# The top directory: build products such as wheels do not belong there.
top='
include src tools tests bench Makefile README.md LICENSE NOTICES CHANGELOG.md pyproject.toml
.ci .github .clang-format .clang-tidy .editorconfig .gitattributes .gitignore
'

# Returns whether the header $1 is a door.
is_door()
{
	set -f
	for door in $doors; do
		# shellcheck disable=SC2254
		case $1 in
		*_private.h) break ;;
		$door)
			set +f
			return 0
			;;
		esac
	done
	set +f
	return 1
}

bad=0
complain()
{
	echo "layers: $*" >&2
	bad=1
}

for room in src/*/; do
	room=$(basename "$room")
	echo "$table" | grep -q "^$room\( \|\$\)" || complain "src/$room is not in the table"
done

# Every #include "..." as "file line included".
includes()
{
	# shellcheck disable=SC2016
	find "$@" -name '*.[ch]' 2>/dev/null | sort | xargs -r awk '
		/^[ \t]*#[ \t]*include[ \t]*"/ { split($0, part, "\""); print FILENAME, FNR, part[2] }'
}

while read -r file line included; do
	[ -n "$file" ] || continue
	room=${file#src/}
	room=${room%%/*}
	case $included in
	heapdb.h) continue ;;
	*/*) ;;
	*)
		complain "$file:$line: \"$included\": write \"room/$included\""
		continue
		;;
	esac
	[ -f "src/$included" ] || complain "$file:$line: src/$included does not exist"
	seen=$(echo "$table" | sed -n "s/^$room\( .*\)*\$/$room\1/p")
	case " $seen " in
	*" ${included%%/*} "*) ;;
	*) complain "$file:$line: src/$room may not see \"$included\" (it sees: $seen)" ;;
	esac
	case $included in
	"$room"/*_private.h)
		[ "$(dirname "$file")" = "src/$(dirname "$included")" ] ||
			complain "$file:$line: \"$included\" is private to its folder"
		;;
	"$room"/*) ;;
	*) is_door "$included" || complain "$file:$line: \"$included\" is no door of its room (doors=, above)" ;;
	esac
done <<END
$(includes src)
END

# The tools are clients of the library: they include heapdb.h, base/, files of their own directory, and tools/common.
# The command, the Python package, the MCP server and the page's server, which offer other tools, also include
# tools/DOOR/DOOR.h. memory, which queries a VM, includes the header of capture.
while read -r file line included; do
	[ -n "$file" ] || continue
	own=$(dirname "$file")
	case $included in
	heapdb.h | base/*) [ "$included" = heapdb.h ] || [ -f "src/$included" ] && continue ;;
	common/*) [ -f "tools/$included" ] && continue ;;
	esac
	[ -f "$own/$(basename "$included")" ] && [ "$(dirname "$included")" = . ] && continue
	[ -f "tools/$included" ] && [ "tools/$(dirname "$included")" = "$own" ] && continue
	door=$(dirname "$included")
	case $own in
	tools/memory) # asks the VM
		[ "$included" = capture/capture.h ] && continue ;;
	tools/heapdb | tools/python | tools/mcp | tools/serve)
		[ -f "tools/$included" ] && [ "$included" = "$door/$door.h" ] && continue ;;
	esac
	complain "$file:$line: $own may not see \"$included\" (only heapdb.h, base/ and its own files)"
done <<END
$(includes tools)
END

# An unpacked source archive has no tracked files.
for name in $([ ! -e .git ] || git -c safe.directory='*' ls-files | sed 's|/.*||' | sort -u); do
	printf '%s\n' "$top" | tr ' ' '\n' | grep -qxF "$name" ||
		complain "$name does not belong in the top folder (top=, above)"
done

for name in $(find src tools -name '*.[ch]' -exec basename {} \; | sort | uniq -d); do
	complain "several files are called $name:" "$(find src tools -name "$name" | sort | tr '\n' ' ')"
done

[ $bad -eq 0 ] && echo "layers: clean"
exit $bad
