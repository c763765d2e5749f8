# Leak suspects, rules of triage, and the first lines of the report.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query leaks --brief --columns suspect,class,via_field,objects,retained,percent
heapdb query leaks --brief --columns suspect,text
heapdb query leaks --threshold 5 --csv --columns suspect,kind,step,label,via_field,objects |
	grep -v ',content,' | head -n 12
heapdb query leaks --brief --csv --columns suspect,signature,signature_shape,signature_text
heapdb query triage
heapdb report | head -n 6
heapdb report | grep '^## '
heapdb report | sed -n '/^## Waste/,$p'
# Evidence of layouts, names of tables, rows that are 0.00 % of the heap.
heapdb report | sed -n '/^## The dump/,$p' | grep -cE 'evidence|derived|dominators| 0\.00 \|' || true
heapdb report s.heapdb --json | cut -c 1-40 | grep -c '"query"'
heapdb report s.heapdb other.heapdb
echo "exit $?"
# explain prints text, like triage.
printf '%s\n' 'rule sample' 'class Sample' 'verdict large' 'says A sample keeps {retained:bytes}.' \
	'do Keep fewer.' 'source the test' >sample.rules
heapdb explain s.heapdb --rules sample.rules
heapdb explain s.heapdb --table --columns label,verdict,rule --rules sample.rules
heapdb explain s.heapdb
