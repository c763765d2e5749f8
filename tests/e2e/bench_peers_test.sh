#!/bin/sh
# bench_peers_test.sh - bench/peers.sh with a peer that succeeds, one that fails, one that takes too long, and one that
# is missing: each gets a row or a message, and no file is left behind.
set -eu
[ -r /proc/self/status ] || { echo "memory cannot be measured: /proc is not mounted"; exit 77; }
cd "$TMPDIR"
cat >good.sh <<'SH'
#!/bin/sh
wc -c <"$2" >"$2.index"
[ "$1" = open ] && [ "$(head -c 12 "$2")" = "JAVA PROFILE" ]
SH
printf '#!/bin/sh\nexit 3\n' >bad.sh
printf '#!/bin/sh\nexec sleep 60\n' >slow.sh
hprofgen random --objects 20K --seed 1 -o small.hprof
export BENCH_DIR="$TMPDIR/bench" BENCH_RUNS=1 PEER_SECONDS=1
env MAT="sh $TMPDIR/good.sh open" SHARK="sh $TMPDIR/bad.sh" NETBEANS="sh $TMPDIR/slow.sh" \
	HPROF_SLURP="sh $TMPDIR/good.sh open" HPROF_ANALYZER= PATH="/usr/bin:/bin" \
	sh "$HDB_ROOT/bench/peers.sh" small.hprof >out 2>err || { cat err; exit 1; }
bad=0
# want PATTERN: a line of the table, without spaces
want()
{
	tr -d ' ' <out | grep -q "$1" || { echo "no line like $1"; bad=1; }
}
want '^|dump|MB|what|walls|CPUs|peakRSSMB|peakanonMB|filesMB|wallx|CPUx|RSSx|anonx|$'
want '^|small|[0-9]*|heapdb:import,dominators|[0-9.]*|[0-9.]*|[0-9]*|[0-9]*|[0-9]*|1.0|1.0|1.0|[0-9.]*|$'
want '^|small|[0-9]*|EclipseMAT|[0-9.|]*$'
want '^|small|[0-9]*|Shark:failed(exit3)|'
want '^|small|[0-9]*|NetBeans:notdonein1s|1\.[0-9]*|-|-|[0-9]*|[0-9]*|>[0-9.]*|-|-|-|$'
want '^|small|[0-9]*|heapdb:import,histogram|'
want '^|small|[0-9]*|hprof-slurp|[0-9.|]*$'
want '^hprof-analyzerwasnotmeasured'
[ ! -e bench ] || { ls bench; echo "files are left behind"; bad=1; }
[ $bad -eq 0 ] || cat out err
exit $bad
