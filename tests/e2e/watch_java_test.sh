#!/bin/sh
# tests/e2e/watch_java_test.sh - six leaks and three controls under load, on each JDK, watched at once in a time-lapse
# (600 times as fast): each leak is found within 20 histograms, with its class, and no control is in 60.
# Slow: a minute.
set -eu

command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cd "$TMPDIR"
unset HEAPDB

# watch_jdk HOME NAME: with its own program name, because other tests run Growing at the same time.
watch_jdk()
{
	home=$1 name=$2 jvms=
	# shellcheck disable=SC2086
	trap 'kill $jvms 2>/dev/null || true' EXIT
	echo "public class $name extends Growing {}" >"$name.java"
	"$home/bin/javac" -J-XX:TieredStopAtLevel=1 -d classes "$HDB_ROOT/tests/java/Growing.java" "$name.java"
	for kind in sessions listeners queue threadlocal cache loaders quiet sawtooth builder; do
		"$home/bin/java" -Xmx400m -XX:+UseSerialGC -Dtooth=300 -cp classes "$name" $kind 30 >/dev/null 2>&1 &
		jvms="$jvms $!"
		echo "$! $kind" >>kinds
	done
	HEAPDB_WATCH_LAPSE=600 heapdb watch --name "$name" --interval 60s --dir series 2>log &
	jvms="$jvms $!"
	# 20 histograms of each leak, which then ends, and 60 of each control: a minute, longer on a loaded machine.
	for _ in $(seq 300); do
		sleep 1
		missing=0
		while read -r pid kind; do
			key="\"jvm\":\"$pid-"
			count=$(grep -c "^{\"kind\":\"classes\",\"time\":[0-9]*,$key" series/series.jsonl || true)
			case $kind in
			quiet | sawtooth | builder) [ "${count:-0}" -ge 60 ] || missing=1 ;;
			*) [ "${count:-0}" -lt 20 ] || kill "$pid" 2>/dev/null || true ;;
			esac
		done <kinds
		[ $missing = 1 ] || break
	done
	# shellcheck disable=SC2086
	kill $jvms 2>/dev/null || true
	wait
	jvms=
	python3 - <<'END'
import json
import subprocess
import sys

kinds = dict(line.split() for line in open("kinds"))
lines = [(json.loads(line), line) for line in open("series/series.jsonl")]


def growing(pid, histograms):
    """What grows in the first histograms of a JVM; None if there are fewer."""
    seen = 0
    with open("part.jsonl", "w") as out:
        for record, text in lines:
            if record.get("jvm", "").split("-")[0] != pid or seen == histograms:
                continue
            seen += record["kind"] == "classes"
            out.write(text)
    if seen < histograms:
        return None
    answer = json.loads(subprocess.run(["heapdb", "growth", "part.jsonl", "--json"], check=True,
                                       stdout=subprocess.PIPE).stdout)
    return [row["name"] for row in answer["rows"] if row["grows"]]


bad = False
for pid, kind in kinds.items():
    is_leak = kind not in ("quiet", "sawtooth", "builder")
    most = min(60, sum(r["kind"] == "classes" and r["jvm"].split("-")[0] == pid for r, _ in lines))
    found = next((n for n in range(18, (20 if is_leak else most) + 1) if growing(pid, n)), None)
    names = growing(pid, found) if found else []
    print(f"{kind}: found with {found} of {most} histograms: {names}")
    bad = bad or most < (20 if is_leak else 60)
    if is_leak:
        bad = bad or not found or "heap after GC" not in growing(pid, 20)
    else:
        bad = bad or found is not None
sys.exit(bad)
END
}

# Both at once, because most of the time is spent waiting.
ran=
number=0
for home in "${JDK17:-}" "${JDK25:-}"; do
	[ -x "$home/bin/javac" ] || continue
	number=$((number + 1))
	name=Grower$number
	mkdir "$name"
	(cd "$name" && watch_jdk "$home" "$name") >"$name.out" 2>&1 &
	ran="$ran $!:$name"
done
[ -n "$ran" ] || { echo "neither JDK17 nor JDK25 is set"; exit 77; }
bad=0
for one in $ran; do
	wait "${one%%:*}" || bad=1
	cat "${one#*:}.out"
done
exit $bad
