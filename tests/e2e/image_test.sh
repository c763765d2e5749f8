#!/bin/sh
# image_test.sh - the image of `make release` as containers run it: as a user without an entry in any file (as in
# OpenShift), with a read-only root, without capabilities. It imports, queries, and captures a JVM with another root, as
# a sidecar.
set -eu
# shellcheck source=tests/support/static.sh
. "$HDB_ROOT/tests/support/static.sh"
[ "$(id -u)" -eq 0 ] || { echo "only root can make a root"; exit 77; }
unshare -m mount -t tmpfs none /mnt 2> /dev/null || { echo "nothing can be mounted here"; exit 77; }
# Accessible to every user, because the JVM runs as another user.
work=$(mktemp -d /tmp/heapdb-image.XXXXXX)
jvm=
trap 'exit 1' HUP INT TERM
trap '[ -z "$jvm" ] || kill $jvm; rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
python3 "$HDB_ROOT/tools/packaging/make_image.py" "$command" amd64 1700000000 image.tar > /dev/null
[ "$(python3 "$HDB_ROOT/tests/e2e/oci_open.py" image.tar root)" = /heapdb ]
# What engines add.
mkdir -m 755 root/proc root/dev
ln -s /proc/self/fd root/dev/fd
mkdir -m 1777 data
cp "$DUMP" data/sample.hprof
chmod 644 data/sample.hprof

user=1000670000
# shellcheck source=tests/support/jdk.sh
. "$HDB_ROOT/tests/support/jdk.sh"
last_java
pid=0
if [ -n "$java" ] && command -v setpriv > /dev/null; then
	cat > Sleep.java <<-END
		class Sleep {
		    public static void main(String[] arguments) throws Exception {
		        System.out.println("ready");
		        Thread.sleep(120000);
		    }
		}
	END
	"$(dirname "$java")/javac" -J-XX:TieredStopAtLevel=1 -d . Sleep.java
	setpriv --reuid $user --regid 0 --clear-groups "$java" -Xmx32m -XX:TieredStopAtLevel=1 -cp . Sleep > said &
	jvm=$!
	pid=$jvm
	for _ in $(seq 200); do
		! grep -q ready said || break
		sleep 0.1
	done
else
	echo "no JDK, or no setpriv: nothing is captured"
fi

# In the root directory, as the user. /work is a volume.
cat > inside.sh <<-'END'
	set -eu
	mount --bind root root
	mount --bind data root/work
	mount -t tmpfs -o mode=1777 none root/tmp
	mount -t proc none root/proc
	mount -o remount,bind,ro root
	run() {
		HOME=/ setpriv --no-new-privs chroot --userspec="$user:0" --groups=0 root /heapdb "$@"
	}
	run import /work/sample.hprof -o /work/s.heapdb --quiet
	run leaks /work/s.heapdb --brief > leaks
	run check /work/s.heapdb > /dev/null
	[ -s leaks ] && [ "$(stat -c %u:%a data/s.heapdb)" = "$user:600" ]
	if [ "$pid" != 0 ]; then
		run capture "$pid" -o /work/app.heapdb --quiet
		run histogram /work/app.heapdb java.lang.Thread --columns objects --csv > objects
		run watch "$pid" --once --dir /work --quiet
		run export dump --db /work/app.heapdb > app.hprof
		[ -s objects ] && [ -s data/series.jsonl ] && [ "$(head -c 12 app.hprof)" = "JAVA PROFILE" ]
	fi
END
user=$user pid=$pid unshare -m sh inside.sh > out 2>&1 || { echo "FAILED:"; tail -20 out; exit 1; }
[ -z "$(find root -newer image.tar -type f)" ]
rm -f "/tmp/.java_pid$pid"
