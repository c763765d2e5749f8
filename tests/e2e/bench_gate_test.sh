#!/bin/sh
# bench_gate_test.sh - bench/gate.sh accepts changes within its limits, and fails beyond them and names what grew:
# instructions by function, wall and CPU time by step. (`make bench-gate` measures.)
set -eu
cd "$TMPDIR"
cat >old <<END
d import total 1000000
d import read 600000
d import write 400000
d top wall 200
d top wall 230
d top cpu 150
d small wall 10
d top stage:dominators 80
END

# judged EXIT TEXT SCRIPT: compares with the edited measures of `old`.
judged()
{
	sed "$3" old >new
	got=0
	sh "$HDB_ROOT/bench/gate.sh" --compare "$TMPDIR/old" "$TMPDIR/new" >said 2>&1 || got=$?
	if [ "$got" -ne "$1" ] || ! grep -qF -- "$2" said; then
		echo "$3: exit $got, expected $1 and \"$2\":"
		cat said
		exit 1
	fi
}
judged 0 'gate: d import: 1000000 instructions, +0.0 %' ''
judged 0 'd import: 1029000 instructions, +2.9 %' 's/total .*/total 1029000/'
judged 1 'gate: FAILED: d import: instructions: write grew most, by 50000' \
	's/total .*/total 1050000/; s/write .*/write 450000/'
judged 0 'd top: 230 ms of wall, +15.0 %' 's/wall 200/wall 250/'
judged 1 'gate: FAILED: d top: ms of wall' 's/wall 2[03]0/wall 250/'
judged 0 'd small: 20 ms of wall, +100.0 %' 's/wall 10/wall 20/'
judged 1 'gate: FAILED: d top: ms of cpu' 's/cpu 150/cpu 190/'
judged 0 'd top: 800 ms in stage dominators, +900.0 %' 's/dominators 80/dominators 800/'
judged 0 'd top: 200 ms of wall' 's/stage:dominators/stage:renamed/'
sed -i 1d old
judged 1 'd import total: not measured before' '1i d import total 1000000'
