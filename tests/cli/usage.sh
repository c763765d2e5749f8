# Wrong command lines: exit status 2, and one line on standard error with the correct usage.
try()
{
	echo "\$ heapdb $*"
	heapdb "$@" 2>&1
	echo "exit $?"
}

try
try hlep
try retained
try frobnicate
try --db s.heapdb info
try query retaned 0x1
try query frobnicate
try query info
try query objects
try query --explain retained
try query histogram --jsn
try query histogram --sort
try query histogram --json=yes
try query histogram --s
try query histogram -x
try query histogram --json --csv
try query histogram --format xml
try query histogram --limit some
try query histogram --limit -1
try query histogram --memory 5Q
try query histogram --memory 99999999999G
try query histogram --threads 0
try query histogram --threads 99999
try top-consumers --by loader
try import
try import one two
try import dump.hprof --sizes big
try import dump.hprof --snapshot first
try help frobnicate
try help query frobnicate
try query frobnicate --json
