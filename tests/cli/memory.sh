# The memory of a process from saved files: the parts always add up to RSS; unknown categories of future JDKs keep their
# names; address ranges from the VM, from System.map if mappings are merged, or none. Also other files.
files=$HDB_ROOT/tests/corpus/memory
heapdb memory "$files/smaps"
echo
heapdb memory "$files/smaps" "$files/nmt_summary" --csv --columns part,resident,estimated | grep "Java heap"
heapdb memory "$files/smaps" "$files/nmt_off" "$files/malloc_info"
echo
heapdb memory "$files/smaps" "$files/nmt_summary" "$files/system_map" "$files/vm_info" "$files/malloc_info"
echo
COLUMNS=200 heapdb memory "$files/nmt_detail" "$files/smaps" "$files/vm_info" "$files/malloc_info" --wide
cd "$files" || exit 1
for more in "" nmt_off nmt_summary nmt_detail vm_info "nmt_summary system_map" \
	"nmt_summary vm_info malloc_info" "nmt_detail vm_info malloc_info" malloc_info; do
	# shellcheck disable=SC2086
	heapdb memory smaps $more --json
done | python3 -c '
import json, sys

for line in sys.stdin.read().split("\n{\"schema\"")[0:]:
    answer = json.loads(line if line.startswith("{\"schema\"") else "{\"schema\"" + line)
    rows, facts = answer["rows"], answer["facts"]
    parts = [row for row in rows if row["detail"] is None]
    assert sum(row["resident"] for row in parts) == facts["rss"], facts
    for part in parts:
        details = [row for row in rows if row["detail"] and row["part"] == part["part"]]
        for key in "resident", "committed", "estimated":
            assert sum(row[key] or 0 for row in details) <= (part[key] or 0), (part, key)
    print("adds up:", facts["rss"], "of which not explained",
          sum(row["resident"] for row in parts if row["part"] == "not explained"))
'
cd - >/dev/null || exit 1

# A process of 100,000 mappings.
awk 'BEGIN { for (i = 0; i < 100000; i++)
	printf "%x-%x rw-p 00000000 00:00 0\nSize: 4 kB\nRss: 4 kB\n", 4096 * (2 * i + 16), 4096 * (2 * i + 17) }' >many
heapdb memory many --csv --columns part,resident

# An arena of malloc, and other memory directly after a library, do not belong to the library.
cat >behind <<'ROWS'
7f5afff00000-7f5afff7e000 rw-p 00000000 00:00 1 /opt/jdk/lib/server/libjvm.so
Rss: 100 kB
7f5afff7e000-7f5afff7f000 rw-p 00000000 00:00 0
Rss: 4 kB
7f5afff7f000-7f5b00000000 rw-p 00000000 00:00 0
Rss: 500 kB
7f5b00000000-7f5b01565000 rw-p 00000000 00:00 0
Rss: 21836 kB
7f5b01565000-7f5b04000000 ---p 00000000 00:00 0
Rss: 0 kB
ROWS
heapdb memory behind --csv --columns part,detail,resident

sed -n '/^[0-9a-f]*-/p' "$files/smaps" >maps
printf '7ffc00000000-7ffc00001000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB\n' >rollup
{ tail -n 12 "$files/smaps"; head -n 12 "$files/smaps"; } >backwards
printf 'Native Memory Tracking:\n\nTotal: reserved=1KB, committed=1KB\n' >no_categories
printf '<malloc version="1">\n</malloc>\n' >no_malloc
printf 'text\n' >text
: >none
export files
sh -u "$HDB_ROOT/tests/support/rows.sh" <<'ROWS'
memory
memory 1 2 --timeout 0
memory 2147483647
memory absent
memory text
memory none
memory .
memory maps
memory rollup
memory backwards
memory $HDB_ROOT/tests/corpus/meminfo/dumpsys
memory no_categories $files/smaps
memory no_malloc $files/smaps
memory $files/smaps $files/smaps
memory $files/nmt_detail
memory $files/smaps absent.heapdb
memory $files/smaps --columns pss
ROWS
