# Files that cannot be imported: the exit status distinguishes input from system errors, and no file is left behind.
try()
{
	echo "\$ heapdb $*"
	heapdb "$@" 2>&1
	echo "exit $?"
}

: >empty.hprof
echo 'just a text' >text.hprof
head -c 3000000 "$DUMP" >cut.hprof
mkdir folder.hprof
try import empty.hprof
try import text.hprof
try import folder.hprof
try import missing.hprof
try import missing.hprof --json
try import "$DUMP" -o missing/x.heapdb
try import cut.hprof --strict
ls
heapdb import cut.hprof --verbose >out 2>err
echo "exit $?"
cat err
grep '^problems' out
