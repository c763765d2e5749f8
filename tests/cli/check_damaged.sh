# A database with one flipped byte: check names the table and says no; a query that meets it fails.
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
grep -c 'table .* checksum' err
heapdb query histogram >out 2>err
echo "query: exit $?"
grep -c 'table .* checksum' err
