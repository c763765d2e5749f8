# A database with one flipped byte: check names the table.
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
heapdb check >/dev/null
echo "sound: exit $?"
python3 - <<'END'
data = bytearray(open("s.heapdb", "rb").read())
at = data.index(b"java.util.concurrent.ConcurrentHashMap$Node[]")
data[at] ^= 0x20
open("s.heapdb", "wb").write(data)
END
heapdb check >out 2>err
echo "damaged: exit $?"
grep -c 'table .*(checksum' err
heapdb check --json | python3 -c '
import json, sys
error = json.load(sys.stdin)["error"]
print(error["code"], error["exit"])'
# Class names that cannot be read are not reported as missing classes.
for from in "\"java.util.concurrent.ConcurrentHashMap\$Node[]\"" \
	"classes WHERE name = 'java.util.concurrent.ConcurrentHashMap\$Node[]'"; do
	heapdb sql "SELECT count(*) FROM $from" 2>err
	echo "sql: exit $?, $(grep -c 'table texts.*checksum' err)"
done
# shellcheck disable=SC2016
heapdb oql 'SELECT * FROM java.util.concurrent.ConcurrentHashMap$Node[]' 2>err
echo "oql: exit $?, $(grep -c 'table texts.*checksum' err)"
