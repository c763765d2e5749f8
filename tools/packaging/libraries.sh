#!/bin/sh
# tools/packaging/libraries.sh DIR NAME... - compiles libraries with $CC and $AR from the sources of Debian's packages,
# as DIR/lib/libNAME.a and DIR/include. Existing libraries are not rebuilt.
#
# NAME is a source package. `make static` needs libmicrohttpd without TLS and libarchive without XML, because Debian's
# static libraries require GnuTLS and ICU. Wheels for old systems, and macOS, need all libraries. apt verifies the
# sources. Its package lists are stored in build/sources, so the system's own lists do not change.
set -eu

dir=$1
shift
CC=${CC:-gcc}
AR=${AR:-ar}
mkdir -p "$dir/lib" "$dir/include" build/sources/lists/partial
dir=$(cd "$dir" && pwd)
sources=$PWD/build/sources
log=$dir/libraries.log

# `make -j release` runs this script for several systems at once. The lock ensures that sources are fetched and prepared
# only once.
exec 9>build/sources/lock
flock 9
# If the security archive no longer has a version, use the main archive. apt expands these fields, not the shell.
# shellcheck disable=SC2016
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
	'Created-By: Packages' 'Origin: Debian' | sort -u >"$sources/all.list"
grep -v -- '-security' "$sources/all.list" >"$sources/main.list" || true
flock -u 9
apt() {
	list=$1
	shift
	apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$sources/$list" \
		-o Dir::Etc::SourceParts=- -o Dir::State::Lists="$sources/lists" "$@"
}

# fetch NAME: copies the unpacked and patched source from build/sources/NAME to DIR/work.
fetch() {
	flock 9
	[ -d "$sources/$1" ] || fetch_new "$1"
	cp -a "$sources/$1" "$dir/work"
	flock -u 9
}
fetch_new() {
	[ -f "$sources/lists/updated" ] || {
		apt all.list update
		: >"$sources/lists/updated"
	}
	work=$sources/work
	rm -rf "$work"
	mkdir "$work"
	(cd "$work" && { apt all.list source "$1" || apt main.list source "$1"; })
	mv "$work"/*/ "$sources/$1"
	basename "$work"/*.dsc >"$sources/$1.dsc"
	rm -r "$work"
}

# archive NAME FLAG... FILE...: compiles the files and packs them into lib/libNAME.a.
archive() {
	archive=$dir/lib/lib$1.a
	shift
	flags=
	while case $1 in -*) true ;; *) false ;; esac do
		flags="$flags $1"
		shift
	done
	objects=$dir/objects
	rm -rf "$objects"
	mkdir "$objects"
	for file; do
		# shellcheck disable=SC2086
		$CC -O2 -fPIC -w "-ffile-prefix-map=$sources=." $flags -c "$file" \
			-o "$objects/$(echo "$file" | tr / _).o"
	done
	$AR rcs "$archive" "$objects"/*.o
	rm -r "$objects"
}

make_lmdb() {
	cd libraries/liblmdb
	archive lmdb mdb.c midl.c
	cp lmdb.h "$dir/include"
}
make_xxhash() {
	archive xxhash xxhash.c
	cp xxhash.h xxh3.h "$dir/include"
}
make_pcre2() {
	cd src
	cp pcre2.h.generic pcre2.h
	cp config.h.generic config.h
	cp pcre2_chartables.c.dist pcre2_chartables.c
	# shellcheck disable=SC2046
	archive pcre2-8 -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DSUPPORT_UNICODE -DSUPPORT_JIT \
		$(for f in pcre2_*.c; do case $f in
			*_dftables.c | *_jit_match.c | *_jit_misc.c | *_jit_test.c | *_fuzzsupport.c | *_printint.c | \
				*_ucptables.c | *posix_test.c) ;;
			*) echo "$f" ;;
		esac; done)
	cp pcre2.h "$dir/include"
}
make_libzstd() {
	cd lib
	archive zstd -DZSTD_DISABLE_ASM common/*.c compress/*.c decompress/*.c
	cp zstd.h zstd_errors.h "$dir/include"
}
make_libdeflate() {
	archive deflate -I. lib/*.c lib/x86/*.c lib/arm/*.c
	cp libdeflate.h "$dir/include"
}
make_zlib() {
	archive z -DHAVE_UNISTD_H -DHAVE_STDARG_H -UTARGET_OS_MAC adler32.c compress.c crc32.c deflate.c infback.c \
		inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c
	cp zlib.h zconf.h "$dir/include"
}
# The amalgamation, a single file with all sources, is the same for all systems, so it is generated only once.
make_sqlite3() {
	flock 9
	[ -f "$sources/sqlite3/sqlite3.c" ] || (cd "$sources/sqlite3" &&
		CC=gcc ./configure --quiet --disable-tcl &&
		make -s sqlite3.c sqlite3.h)
	flock -u 9
	cp "$sources/sqlite3/sqlite3.c" "$sources/sqlite3/sqlite3.h" .
	archive sqlite3 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS \
		-DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_MATH_FUNCTIONS \
		-DSQLITE_SOUNDEX sqlite3.c
	cp sqlite3.h src/sqlite3ext.h "$dir/include"
}
make_jansson() {
	cp android/jansson_config.h src/
	: >src/jansson_private_config.h
	archive jansson -Isrc -DHAVE_CONFIG_H -DHAVE_STDINT_H -DHAVE_UNISTD_H -DHAVE_FCNTL_H \
		-DHAVE_SYS_TYPES_H -DHAVE_OPEN \
		-DHAVE_CLOSE -DHAVE_READ -DHAVE_GETPID -DHAVE_SYS_TIME_H -DHAVE_GETTIMEOFDAY \
		-DHAVE_ATOMIC_BUILTINS -DUSE_URANDOM -DINITIAL_HASHTABLE_ORDER=3 src/*.c
	cp src/jansson.h src/jansson_config.h "$dir/include"
}
make_libyaml() {
	archive yaml -Iinclude -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 \
		'-DYAML_VERSION_STRING="0.2.5"' src/*.c
	cp include/yaml.h "$dir/include"
}
make_libpng() {
	cp scripts/pnglibconf.h.prebuilt pnglibconf.h
	archive png -UTARGET_OS_MAC -DPNG_ARM_NEON_OPT=0 -I"$dir/include" png.c pngerror.c pngget.c pngmem.c \
		pngpread.c pngread.c pngrio.c pngrtran.c pngrutil.c pngset.c pngtrans.c pngwio.c pngwrite.c pngwtran.c \
		pngwutil.c
	cp png.h pngconf.h pnglibconf.h "$dir/include"
}
make_libmicrohttpd() {
	configure --disable-https --disable-doc --disable-examples --disable-curl --disable-bauth \
		--disable-dauth --disable-postprocessor --disable-tools
	make -s -C src/microhttpd clean install-libLTLIBRARIES
	make -s -C src/include install-data
}
# Built with liblzma, libbz2 and liblz4 from Debian, and without cryptography.
make_libarchive() {
	configure --disable-bsdtar --disable-bsdcat --disable-bsdcpio --disable-acl --disable-xattr \
		--without-xml2 --without-expat --without-openssl --without-nettle --without-iconv --without-libb2
	make -s -j"$(nproc)" libarchive.la
	make -s install-libLTLIBRARIES install-includeHEADERS
}
# Patches have made configure.ac newer than its generated files. ACLOCAL=: and so on keep them from being regenerated.
configure() {
	host=$($CC -dumpmachine)
	case $host in *apple* | *macos*) host=${host%%-*}-apple-darwin20 ;; esac
	./configure --quiet --build="$(dpkg-architecture -q DEB_BUILD_GNU_TYPE)" --host="$host" \
		CC="$CC" AR="$AR" RANLIB=: ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=: \
		CFLAGS="-O2 -g -ffile-prefix-map=$sources=." --prefix="$dir" \
		--disable-shared --enable-static "$@"
}

command -v dpkg-source >/dev/null || {
	echo "libraries.sh: needs dpkg-dev: sh tools/install-deps.sh --package" >&2
	exit 4
}
for name; do
	[ ! -f "$dir/$name.done" ] || continue

	# Run in a separate process, in which `set -e` is effective.
	(
		fetch "$name"
		cd "$dir/work"
		"make_${name%1.6}"
	) >"$log" 2>&1 &
	rc=0
	wait $! || rc=$?
	rm -rf "$dir/work"
	[ $rc -eq 0 ] || {
		tail -n 20 "$log" >&2
		echo "libraries.sh: $name: the source of Debian's package cannot be fetched, or does not compile" >&2
		exit 4
	}
	: >"$dir/$name.done"
done
