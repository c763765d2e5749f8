# Files that are no heap, misspelled names, outputs that are no regular files, and names with shell characters.
say() { echo "\$ heapdb $*"; heapdb "$@" 2>&1; echo "exit $?"; }
last() { say "$@" | sed -n '1p;$p' | cut -c1-150; }

echo hello >text.hprof
echo hello >notes.txt
mkdir folder.hprof
for file in text.hprof notes.txt folder.hprof absent.hprof; do say "$file"; done
say leaks text.hprof
say histogram absent.hprof
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
for class in Sampel java.util.HashMpa Sample.Worker Wrkr nosuch.Thing; do say retained "$class" --db s.heapdb; done

echo "devices and pipes:"
mkfifo pipe
say import "$DUMP" -o pipe --force
[ -p pipe ] && echo "pipe is still a pipe"
say import "$DUMP" -o folder.hprof --force
wc -l <pipe >lines &
say export roots --db s.heapdb -o pipe --quiet
wait
cat lines
heapdb export roots --db s.heapdb -o /dev/stdout --quiet >file
wc -l <file

for command in "redact $DUMP -" "convert $DUMP /dev/stdout" "export objects --db s.heapdb"; do
	# shellcheck disable=SC2086
	{ heapdb $command 2>&1 >&3 | cat >&2; } 3>&1 2>errors | head -c 4 >begin
	wc -c <begin
	cat errors
done
say export roots --db s.heapdb -o roots.csv.gz
say export dump --db s.heapdb -o dump.hprof.gz
say export --db s.heapdb
say import "$DUMP" -o ""
say import "$DUMP" -o -

echo "names:"
cp "$DUMP" "a \$(b).hprof"
heapdb "a \$(b).hprof" 2>/dev/null | sed -n '1p;/serve/p'
heapdb import "a \$(b).hprof" --force | sed -n '$p'
esc=$(printf 'c\033[1m.hprof')
cp "$DUMP" "$esc"
heapdb "$esc" 2>/dev/null | sed -n 1p

echo "an incomplete dump passes no check:"
head -c 3000000 "$DUMP" >cut.hprof
last histogram cut.hprof --fail-if 'count(java.lang.String) > 1000000' --csv --limit 1
last histogram cut.hprof --fail-if 'count(java.lang.String) > 1' --csv --limit 1
last secrets cut.hprof --csv --limit 1
