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

for command in "redact $DUMP -" "convert $DUMP /dev/stdout" "strip $DUMP -o /dev/fd/1" "export objects --db s.heapdb" \
	"export objects --db s.heapdb -o /dev/stdout" "export objects --db s.heapdb -o - --format parquet" \
	"histogram --db s.heapdb -o /dev/stdout --limit all" "report --db s.heapdb --html /dev/stdout" \
	"export dump --db s.heapdb -o /dev/stdout"; do
	# shellcheck disable=SC2086
	{ { heapdb $command; echo "exit $?" >&2; } 2>&1 >&3 | cat >&2; } 3>&1 2>errors | head -c 4 >begin
	wc -c <begin
	cat errors
done
say export roots --db s.heapdb -o roots.csv.gz
say export dump --db s.heapdb -o dump.hprof.gz
say export --db s.heapdb
say import "$DUMP" -o ""
for name in - /dev/stdout /dev/fd/1; do say import "$DUMP" -o "$name" --force >file; cat file; done
for name in /dev/stderr /dev/new.heapdb /dev/../dev/new.heapdb; do
	heapdb import "$DUMP" -o "$name" --force 2>file
	cat file
done
heapdb export roots --db s.heapdb -o /dev/new.csv --force --quiet 2>&1
# Files of the caller are written in place, but not those that heapdb opens itself, such as the database.
heapdb export roots --db s.heapdb -o /dev/fd/3 --quiet 3>file
wc -l <file
cp s.heapdb fd.heapdb
for fd in 3 4 5 6 7 8; do
	heapdb export roots --db fd.heapdb -o /dev/fd/$fd --force --quiet 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 2>file ||
		wc -l <file
done
cmp s.heapdb fd.heapdb
[ -L /dev/stdout ] && [ -L /dev/stderr ] && echo "links are still links"

echo "dumps on standard output:"
heapdb convert "$DUMP" plain.hprof >/dev/null 2>&1
for name in - /dev/stdout /dev/fd/1; do heapdb convert "$DUMP" "$name" 2>/dev/null | cmp - plain.hprof; done
heapdb convert "$DUMP" /dev/stdout 2>/dev/null >file
cmp file plain.hprof
say convert "$DUMP" /dev/stdout --json

echo "names:"
cp "$DUMP" "a \$(b).hprof"
heapdb "a \$(b).hprof" 2>/dev/null | sed -n '1p;/serve/p'
heapdb import "a \$(b).hprof" --force | sed -n '$p'
esc=$(printf 'c\033[1m.hprof')
cp "$DUMP" "$esc"
heapdb "$esc" 2>/dev/null | sed -n 1p
for name in -x "it's \\" "new
line" "$(printf 'bad\377\033\134')"; do
	heapdb import "$DUMP" -o "$name.heapdb" | sed -n '$p'
done
mkfifo "p \$(b)"
say "p \$(b)"
say "a \$(b).hprof" leaks
say import "$DUMP" -o "-new
\$(b).hprof"

echo "an incomplete dump passes no check:"
head -c 3000000 "$DUMP" >cut.hprof
last histogram cut.hprof --fail-if 'count(java.lang.String) > 1000000' --csv --limit 1
last histogram cut.hprof --fail-if 'count(java.lang.String) > 1' --csv --limit 1
last secrets cut.hprof --csv --limit 1
