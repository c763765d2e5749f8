#!/bin/sh
# install-deps.sh finds installed packages, also if a package is installed for two architectures, and prints a command
# for an administrator if it may not install packages itself.
set -eu
cd "$TMPDIR"
mkdir bin
script=$HDB_ROOT/tools/install-deps.sh
cat > bin/dpkg << 'END'
#!/bin/sh
echo amd64
END
cat > bin/dpkg-query << 'END'
#!/bin/sh
for package; do :; done
case $package in
liblmdb-dev) [ -z "$FOREIGN" ] || printf 'arm64 installed\n'; [ "$FOREIGN" = only ] || printf 'amd64 installed\n' ;;
zstd) [ -z "$MISSING" ] || exit 1; printf 'amd64 installed\n' ;;
python3-jsonschema) printf 'all installed\n' ;;
*) printf 'amd64 installed\n' ;;
esac
END
cat > bin/id << 'END'
#!/bin/sh
echo 1000
END
chmod +x bin/*
for tool in sh grep cat dirname; do
	ln -s "$(command -v $tool)" bin/$tool
done

failed=0
# run EXIT TEXT: the output of the script on a machine with FOREIGN and MISSING.
run() {
	rc=0
	PATH=$PWD/bin FOREIGN=$FOREIGN MISSING=$MISSING sh "$script" > said 2>&1 || rc=$?
	if [ $rc -ne "$1" ] || ! grep -q "$2" said; then
		echo "FOREIGN=$FOREIGN MISSING=$MISSING: exit $rc, wanted $1 and \"$2\":"
		cat said
		failed=1
	fi
}
MISSING=
for FOREIGN in '' two; do
	run 0 "everything is installed"
done
FOREIGN=only
run 4 "apt-get install --no-install-recommends liblmdb-dev\$"
FOREIGN='' MISSING=yes
run 4 "apt-get install --no-install-recommends zstd\$"
exit $failed
