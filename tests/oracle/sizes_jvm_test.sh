#!/bin/sh
# tests/oracle/sizes_jvm_test.sh - shallow sizes and field offsets equal those reported by running VMs.
#
# Every installed JDK creates instances of more than a thousand classes with every switch that changes layouts, and
# writes the results of Instrumentation.getObjectSize and Unsafe.objectFieldOffset (java/Layouts.java). heapdb must
# compute all of them from the dump alone. The sum of all sizes must equal the bytes that a serial collector counts
# (java/Used.java). Needs a JDK and python3.
# Slow: starts many JVMs.
set -eu

modules=java.logging
# Modules for the run without switches.
many="java.base java.sql java.xml java.logging"
switches='
-XX:-UseCompressedOops
-XX:-UseCompressedOops -XX:-UseCompressedClassPointers
-XX:-UseCompressedClassPointers
-XX:ObjectAlignmentInBytes=16
-XX:ObjectAlignmentInBytes=256 -XX:-UseCompressedClassPointers
-XX:+UseSerialGC
-XX:+UseParallelGC
-XX:+UseZGC
-XX:+UseCompactObjectHeaders
-XX:+UseCompactObjectHeaders -XX:-UseCompressedOops
-XX:+UseCompactObjectHeaders -XX:ObjectAlignmentInBytes=16
-Xshare:off -XX:-UseEmptySlotsInSupers -XX:-UseCompressedOops
-Xshare:off -XX:-EnableContended
-Xshare:off -XX:ContendedPaddingWidth=64
-XX:-CompactStrings
'
# A dump does not record the effects of these switches on a few classes each: their sizes may be wrong, but must be
# marked as uncertain.
doubted='
-XX:-UseEmptySlotsInSupers
-XX:-RestrictContended
'

command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cd "$TMPDIR"
homes=$(for java in /usr/lib/jvm/*/bin/java "$(command -v java || true)" "${JAVA_HOME:-}/bin/java"; do
	[ -x "$java" ] && readlink -f "$java"
done | sort -u | sed 's/\/bin\/java$//')
bad=0 jdks=0

# compare NAME [doubt]: 0 if everything in NAME.sizes and NAME.offsets is the same in NAME.heapdb; with "doubt", only
# sizes, except those of classes whose size is marked as uncertain.
compare()
{
	heapdb query class '*' --list --csv --db "$1.heapdb" >"$1.classes"
	heapdb export objects --columns class,shallow,kind --format csv --db "$1.heapdb" >"$1.objects"
	heapdb info --sizes --csv --db "$1.heapdb" >"$1.info"
	python3 - "$@" <<'PY'
import csv, collections, io, random, subprocess, sys

name = sys.argv[1]
instance, mirror, arrays = {}, {}, collections.defaultdict(set)
for row in csv.DictReader(open(name + '.classes')):
    if row['class'] in instance and row['loader'] != '<boot>':
        continue
    instance[row['class']] = int(row['instance_bytes'])
    mirror[row['class']] = int(row['class_bytes'])
for row in csv.DictReader(open(name + '.objects')):
    if row['kind'].endswith('array'):
        arrays[row['class']].add(int(row['shallow']))
wrong, right, absent, doubted = [], 0, 0, {}


def may_doubt(c):
    """Whether the class is in doubt and this run has such classes."""
    if len(sys.argv) < 3:
        return False
    if c not in doubted:
        out = subprocess.run(['heapdb', 'query', 'class', c, '--layout', '--json', '--db', name + '.heapdb'],
                             capture_output=True, text=True).stdout
        doubted[c] = '"uncertain: from the layout' in out
    return doubted[c]


for line in open(name + '.sizes'):
    c, size, of_class = line.rstrip('\n').split('\t')
    size, of_class = int(size), int(of_class)
    if '#' in c:
        have = size if size in arrays[c.split('#')[0]] else sorted(arrays[c.split('#')[0]])[:3]
        pairs = [(c, size, have)]
    elif c not in instance:
        absent += 1
        continue
    else:
        pairs = [(c, size, instance[c])] if size else []
        pairs.append(('class object ' + c, of_class, mirror[c]))
    for what, want, have in pairs:
        if want == have:
            right += 1
        elif what == c and may_doubt(c):
            pass
        else:
            wrong.append('%s: %s bytes, the VM says %d' % (what, have, want))
offsets = collections.defaultdict(dict)
for line in open(name + '.offsets'):
    c, field, offset = line.rstrip('\n').split('\t')
    offsets[c][field] = int(offset)
chosen = [c for c in sorted(offsets) if c.startswith('Layouts$')]
chosen += random.Random(1).sample(sorted(set(offsets) - set(chosen)), 12)
if len(sys.argv) > 2:
    chosen = []
placed = 0
for c in chosen:
    out = subprocess.run(['heapdb', 'query', 'class', c, '--layout', '--csv', '--limit', 'all', '--db',
                          name + '.heapdb'], capture_output=True, text=True)
    if out.returncode:
        wrong.append('%s: %s' % (c, out.stderr))
        continue
    have = {row['field']: int(row['offset']) for row in csv.DictReader(io.StringIO(out.stdout))
            if row['declared_in'] == c}
    for field, offset in offsets[c].items():
        if have.get(field) == offset:
            placed += 1
        else:
            wrong.append('%s.%s at %s, the VM says %d' % (c, field, have.get(field), offset))
info = {(r['section'], r['key']): r for r in csv.DictReader(open(name + '.info'))}
for key in ('cut', 'cut class objects'):
    if int(info['classes', key]['number']):
        wrong.append('%s: %s' % (key, info['classes', key]['value']))
if float(info['totals', 'exact']['value'].split()[0]) < 99:
    wrong.append('only %s of the bytes are exact' % info['totals', 'exact']['value'])
in_doubt = sum(doubted.values())
if len(sys.argv) > 2 and not in_doubt:
    wrong.append('no class is in doubt')
print('%d sizes and %d offsets right, %d wrong, %d in doubt, %d classes not in the dump' %
      (right, placed, len(wrong), in_doubt, absent))
for line in wrong[:10]:
    print('   ' + line)
sys.exit(bool(wrong) or right < 1000 or placed < min(50, len(chosen)))
PY
}

# one_run HOME MODULES DOUBT SWITCHES...; DOUBT is "doubt" or empty.
one_run()
{
	home=$1 list=$2 doubt=$3
	shift 3
	# A switch that this VM does not have, or not on this machine.
	"$home/bin/java" "$@" -version >/dev/null 2>&1 || return 0
	rm -f run.*
	# The compiled form of getObjectSize does not support class objects.
	# shellcheck disable=SC2086
	"$home/bin/java" -Xmx256m -XX:+UnlockDiagnosticVMOptions -XX:DisableIntrinsic=_getObjectSize \
		-Djava.awt.headless=true "$@" -javaagent:layouts.jar -cp layouts.jar Layouts "$PWD/run" \
		$list >run.log 2>&1 || { cat run.log; return 1; }
	heapdb import run.hprof -o run.heapdb --force --quiet >/dev/null || return 1
	rc=0
	result=$(compare run ${doubt:+"$doubt"} 2>&1) || rc=1
	echo "$(basename "$home") $*: $result"
	return $rc
}

used_run()
{
	home=$1
	shift
	rm -f used.hprof
	"$home/bin/java" "$@" -Xmx100m -XX:+UseSerialGC -cp used Used "$PWD/used" >used.log 2>&1 ||
		{ cat used.log; return 1; }
	heapdb import used.hprof -o used.heapdb --force --quiet >/dev/null || return 1
	ours=$(heapdb info --sizes --csv --db used.heapdb | sed -n 's/^totals,bytes,"[0-9,]*",\([0-9]*\),.*/\1/p')
	vm=$(cat used.used)
	echo "$(basename "$home") $*: $ours bytes in the dump, $vm used after a full collection"
	[ $((ours * 100)) -ge $((vm * 99)) ] && [ $((ours * 100)) -le $((vm * 101)) ]
}

for home in $homes; do
	if [ ! -x "$home/bin/javac" ] || [ ! -x "$home/bin/jar" ]; then
		continue
	fi
	rm -rf layouts used
	if ! "$home/bin/javac" -J-XX:TieredStopAtLevel=1 -nowarn \
		--add-exports java.base/jdk.internal.vm.annotation=ALL-UNNAMED \
		-d layouts "$HDB_ROOT/tests/java/Layouts.java" 2>javac.log ||
		! "$home/bin/javac" -J-XX:TieredStopAtLevel=1 -nowarn -d used \
			"$HDB_ROOT/tests/java/Used.java" 2>>javac.log; then
		cat javac.log
		bad=1
		continue
	fi
	printf 'Premain-Class: Layouts\n' >manifest
	"$home/bin/jar" cfm layouts.jar manifest -C layouts .
	jdks=$((jdks + 1))
	one_run "$home" "$many" "" || bad=1
	doubt=
	while read -r line; do
		[ "$line" != doubted ] || doubt=doubt
		[ "${line#-}" != "$line" ] || continue
		# shellcheck disable=SC2086
		one_run "$home" "$modules" "$doubt" $line || bad=1
	done <<EOF
$switches
doubted
$doubted
EOF
	used_run "$home" || bad=1
	used_run "$home" -XX:-UseCompressedOops || bad=1
done
[ $jdks -gt 0 ] || { echo "no JDK here"; exit 77; }
exit $bad
