# All objects, for other programs.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb export objects --columns id,class,shallow,retained,dominator >all.tsv
head -n 4 all.tsv
awk -F '\t' 'NF != 5 { print "fields: " $0 } NR > 1 { n++; sum += $3 } END { print n, sum }' all.tsv
heapdb export objects --columns class,id --limit 2 --format csv
heapdb export objects --columns id,shallow --limit 2 --format jsonl
heapdb export objects --columns id,frob 2>&1
echo "exit $?"
# Columns of the query for which this dump has no values.
heapdb query top --columns name,heap,depth --limit 2 --csv 2>&1
heapdb query top --columns name,frob 2>&1 || echo "exit $?"
heapdb query top --columns name,name 2>&1 || echo "exit $?"
# A query and a table with the same name.
heapdb export roots --limit 1 2>&1
heapdb export --table roots --limit 1 --format csv 2>&1
heapdb export --table java.util.HashMap --limit 1 --columns size 2>&1 || echo "exit $?"
heapdb export --table java.util.HashMap --limit 1 --format jsonl | cut -c 1-40
heapdb export roots --table roots 2>&1 || echo "exit $?"
heapdb export --table 'no"such' 2>&1 || echo "exit $?"
# A file that does not fit on the disk is reported and removed.
(
	ulimit -f 8
	trap '' XFSZ
	heapdb export objects --db s.heapdb -o full.csv 2>&1
	echo "exit $?"
)
ls full.csv 2>&1 || true
