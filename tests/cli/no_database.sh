# Missing databases, and arguments that are no database.
try()
{
	echo "\$ heapdb $*"
	heapdb "$@" 2>&1
	echo "exit $?"
}

try info
try query top --json
try query top --db missing.heapdb
HEAPDB=missing2.heapdb
export HEAPDB
try query top
HEAPDB=
try query top
unset HEAPDB
try query top --db .
echo hello >text.heapdb
try query top --db text.heapdb
try query top
: >empty.heapdb
try query top --db empty.heapdb
head -c 4096 /dev/zero >zeros.heapdb
try query top --db zeros.heapdb
