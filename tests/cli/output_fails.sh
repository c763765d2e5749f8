# Failure to write output is an error; a reader that closes the pipe is not.
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
for format in table json csv tsv jsonl; do
	heapdb query histogram --format $format 2>err >/dev/full
	echo "$format: exit $? $(cat err)"
done
heapdb help 2>err >/dev/full
echo "help: exit $? $(cat err)"
heapdb import "$DUMP" -o t.heapdb 2>err >/dev/full
echo "import: exit $? $(cat err)"
rm -f t.heapdb
{
	heapdb export objects 2>err
	echo "exit $?" >code
} | head -n 1
cat code err
