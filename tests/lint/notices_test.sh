#!/bin/sh
# notices_test.sh - NOTICES has a section for each library that the Makefile links and for the page's bundled packages,
# and every binary comes with it: `make install`, `make release`, the Debian package.
set -eu
cd "$HDB_ROOT"
bad=0
# linker library or npm package, and its name in NOTICES; "-" means part of glibc, our own, or used only by tests
known="lmdb=LMDB xxhash=xxHash pcre2-8=PCRE2 zstd=zstd deflate=libdeflate z=zlib jansson=jansson sqlite3=SQLite
	yaml=libyaml edit=libedit tinfo=ncurses bsd=libbsd md=- microhttpd=libmicrohttpd png=libpng
	archive=libarchive lzma=liblzma bz2=bzip2 lz4=LZ4 preact=Preact pthread=- m=- dl=-
	cmocka=- heapdb=-"
page=$(sed -n 's/^import .* from "\([a-z]*\)[/"].*/\1/p' tools/serve/page/*.ts* | sort -u)
for library in $(grep -oE '[ ,(]-l[a-z0-9-]+' Makefile | sed 's/.*-l//' | sort -u) $page; do
	name=
	for pair in $known; do
		[ "${pair%%=*}" != "$library" ] || name=${pair#*=}
	done
	[ "$name" != - ] || continue
	if [ -z "$name" ] || ! grep -q "^$name .*(\|^$name (" NOTICES; then
		echo "FAILED: NOTICES has no chapter for $library"
		bad=1
	fi
done
grep -q '^GNU Lesser General Public License 2.1' NOTICES || bad=1
make -n install | grep 'install .*NOTICES' > /dev/null || { echo "FAILED: make install leaves NOTICES out"; bad=1; }
sed -n '/^define release_command/,/^endef/p' Makefile | grep -q ' NOTICES ' ||
	 { echo "FAILED: make release leaves NOTICES out"; bad=1; }
grep -q 'NOTICES$' tools/packaging/debian/heapdb.install || { echo "FAILED: the package leaves NOTICES out"; bad=1; }
exit $bad
