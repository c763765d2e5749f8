# Labels from tables can be used as names of objects and class loaders.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
id=$(heapdb query instances Sample --columns id --format csv | tail -n 1)
for target in "class Sample" "Sample@$id" 'loader:app' 'loader app' 'loader:plugins-a'; do
	heapdb query retained "$target" --csv 2>&1 | tail -n 1 | sed "s/$id/ID/g"
done
# shellcheck disable=SC2016
for target in "String@$id" "class no.Such" 'class Sample$Plugin' 'loader:none' 'Sample@0xzz'; do
	heapdb query retained "$target" 2>&1 | sed "s/$id/ID/g"
done
heapdb query path "Sample@$id" --table --columns step,label,via_field
heapdb query references "class Sample" --columns name --limit 2 --format csv
