# heapdb - builds the library, the command and the tests. `make help` lists the targets.
#
# Sources are found by wildcards. src/ROOM/*.c and src/ROOM/*/*.c make the library, tools/heapdb/*.c and most other
# directories of tools make the command, and each tests/ROOM/*_test.c makes a test program. All output goes to build/.
#
# Variables: CC (gcc or clang), OPT (-O2 -g), DEV=1 (-Werror), SAN=address,undefined or SAN=thread (sanitizers, built in
# build/san and build/tsan), PREFIX, DESTDIR, and CPPFLAGS, CFLAGS, LDFLAGS, LDLIBS for additions. RELEASE=1 makes the
# output independent of the directory. PORTABLE=1 (build/portable) uses the fallbacks in base/platform.h. V=1 prints
# complete commands instead of lines such as `CC src/base/sort.c`.

CC       = gcc
AR       = ar
OPT      = -O2 -g
PREFIX   = /usr/local
DESTDIR  =
BINDIR   = $(PREFIX)/bin
LIBDIR   = $(PREFIX)/lib
INCDIR   = $(PREFIX)/include
MANDIR   = $(PREFIX)/share/man
SQLITEDIR = $(LIBDIR)
COMPDIR  = $(PREFIX)/share/bash-completion/completions
ZSHDIR   = $(PREFIX)/share/zsh/site-functions
FISHDIR  = $(PREFIX)/share/fish/vendor_completions.d
DATADIR  = $(PREFIX)/share/heapdb
DOCDIR   = $(PREFIX)/share/doc/heapdb
T        =
V        = 0
LIMIT    = 300
SECS     = 60
BUILD   := $(if $(SAN),build/$(if $(findstring thread,$(SAN)),tsan,san),build$(if $(PORTABLE),/portable))
VERSION := $(shell sed -n 's/^\#define HDB_VERSION "\(.*\)"/\1/p' include/heapdb.h)
# Before 1.0 a minor version may change the ABI; after it, only a major one.
SOVER   := $(if $(filter 0.%,$(VERSION)),$(basename $(VERSION)),$(firstword $(subst ., ,$(VERSION))))
SONAME  := libheapdb.so.$(SOVER)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
# Rooms that process every object and reference. -O3 saves 3 to 5 % of an import and of the first query.
HOT_ROOMS    = base store graph import derive
HOT_OPT      = $(if $(filter -O2,$(OPT)),$(if $(filter $(HOT_ROOMS:%=src/%/%),$<),-O3))
ALL_CPPFLAGS = -D_GNU_SOURCE $(if $(PORTABLE),-DPORTABLE -include src/base/platform.h )$(DOOR_FLAGS) -Iinclude -Isrc -I$(BUILD)/rules $(ROOM) $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) -fvisibility=hidden -fPIC -pthread $(OPT) \
	$(HOT_OPT) $(if $(DEV),-Werror) $(if $(RELEASE),-ffile-prefix-map=$(CURDIR)=. )$(SANFLAGS) $(CFLAGS)
ALL_LDFLAGS  = -pthread $(SANFLAGS) $(LDFLAGS)
SANFLAGS     = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
LIB_LIBS     = -llmdb -lxxhash -lpcre2-8 -lzstd -ldeflate -lz -lpthread $(LDLIBS)
CMD_LIBS     = $(LIB_LIBS) $(if $(mcp_door),-ljansson) $(DOOR_LIBS) -lm

# A feature ("door") whose library is missing is omitted. The result is not empty if the header was found and a program
# links.
links_with   = $(shell printf '\043include <$(1)>\nint main(void){return 0;}' | \
	$(CC) $(CPPFLAGS) $(LDFLAGS) -x c - $(2) -o /dev/null 2>/dev/null && echo yes)
mcp_door    := $(call links_with,jansson.h,-ljansson)
$(if $(mcp_door),,$(info no libjansson: built without `heapdb mcp`))
TEST_LIBS    = $(CMD_LIBS) -lcmocka -lm

links        = $(shell printf '\043include <$(1)>\nint main(void){return (long)$(2) == 1;}' | \
	$(CC) -w $(CPPFLAGS) $(LDFLAGS) -x c - -o /dev/null $(3) 2>/dev/null && echo yes)
# Name of the shared library that a program linked with $(1) loads.
needs        = $(shell mkdir -p $(BUILD) && printf 'int main(void){return 0;}' | \
	$(CC) $(LDFLAGS) -x c - -o $(BUILD)/needs -Wl,--no-as-needed $(1) 2>/dev/null && \
	readelf -d $(BUILD)/needs 2>/dev/null | sed -n 's/.*NEEDED.*\[\($(2)[^]]*\)\]/\1/p')
HAVE_SQLITE := $(call links,sqlite3.h,sqlite3_vtab_in,-lsqlite3 -lm)
EDIT_LIBS   := -ledit $(if $(findstring -static,$(LDFLAGS)),-ltinfo -lbsd -lmd)
HAVE_EDIT   := $(call links,histedit.h,el_init,$(EDIT_LIBS))
$(if $(HAVE_SQLITE),,$(info no libsqlite3 3.38 or newer: built without `heapdb sql`))
$(if $(HAVE_EDIT),,$(info no libedit: the shell of `heapdb sql` has no line editing))
HAVE_SERVE  := $(call links,microhttpd.h,MHD_start_daemon,-lmicrohttpd)
$(if $(HAVE_SERVE),,$(info no libmicrohttpd: built without `heapdb serve`))
HAVE_PNG    := $(call links,png.h,png_image_write_to_stdio,-lpng -lz -lm)
$(if $(HAVE_PNG),,$(info no libpng: `heapdb export bitmaps DIR` writes no pictures from pixels))
HAVE_ARCHIVE := $(call links,archive.h,archive_read_support_filter_by_code,-larchive $(if $(findstring -static,$(LDFLAGS)),-llzma -lbz2 -llz4 -lzstd -lz))
$(if $(HAVE_ARCHIVE),,$(info no libarchive 3.5 or newer: built without .zip, .tar, .xz, .lz4, .bz2))
ARCHIVE_LIBRARY := $(if $(HAVE_ARCHIVE),$(call needs,-larchive,libarchive))
# Loaded by `heapdb serve` at run time. If this is empty, as in a static program, the library is linked like the others.
HTTP_LIBRARY := $(if $(HAVE_SERVE),$(call needs,-lmicrohttpd,libmicrohttpd))
HAVE_YAML   := $(call links,yaml.h,yaml_parser_load,-lyaml)
$(if $(HAVE_YAML),,$(info no libyaml: built without `heapdb gate`))
DOOR_FLAGS  := $(if $(mcp_door),-DHAVE_MCP)$(if $(HAVE_YAML), -DHAVE_YAML) $(if $(HAVE_SERVE),-DHAVE_SERVE) $(HTTP_LIBRARY:%=-DHTTP_LIBRARY=%) $(if $(HAVE_PNG),-DHAVE_PNG) $(if $(HAVE_SQLITE),-DHAVE_SQLITE) $(if $(HAVE_EDIT),-DHAVE_EDIT)$(if $(HAVE_ARCHIVE), -DHAVE_ARCHIVE)$(ARCHIVE_LIBRARY:%= -DARCHIVE_LIBRARY=%)
DOORS_HERE  := $(if $(HAVE_SQLITE),sql) $(if $(HAVE_EDIT),editing) $(if $(HAVE_SERVE),serve) $(if $(HAVE_PNG),png) $(if $(mcp_door),mcp) $(if $(HAVE_ARCHIVE),archive) $(if $(HAVE_YAML),gate)
ARCHIVE_LIBS := $(if $(HAVE_ARCHIVE),$(if $(ARCHIVE_LIBRARY),-ldl,-larchive -llzma -lbz2 -llz4 -lzstd -lz))
DOOR_LIBS   := $(if $(HAVE_YAML),-lyaml) $(if $(HAVE_SERVE),-ldl) $(ARCHIVE_LIBS) $(if $(HAVE_SERVE),$(if $(HTTP_LIBRARY),,-lmicrohttpd)) $(if $(HAVE_PNG),-lpng -lz -lm) $(if $(HAVE_SQLITE),-lsqlite3 -lm) $(if $(HAVE_EDIT),$(EDIT_LIBS))

lib_src     := $(sort $(wildcard src/*/*.c src/*/*/*.c))
serve_src   := $(sort $(wildcard tools/serve/*.c))
sql_src     := $(sort $(wildcard tools/sqlite/*.c))
MACOS       := $(if $(PORTABLE),$(findstring macos,$(shell $(CC) -dumpmachine)))
# These files find Java VMs through Linux's /proc.
linux_src    = $(addprefix tools/capture/,attach.c cgroup.c identity.c janitor.c meters.c perfdata.c process.c vm_dump.c vm_memory.c vms.c)
cmd_src     := $(sort $(wildcard tools/heapdb/*.c tools/oql/*.c tools/common/*.c tools/capture/*.c tools/androidfiles/*.c tools/jfr/*.c tools/memory/*.c tools/export/*.c tools/pictures/*.c tools/notes/*.c tools/watch/*.c) $(if $(mcp_door),$(wildcard tools/mcp/*.c)) \
	$(if $(HAVE_SQLITE),$(sql_src)) \
	$(filter-out $(if $(HAVE_SERVE),,%/serve_http.c %/serve_library.c),$(serve_src)))
cmd_src     := $(filter-out $(if $(MACOS),$(linux_src)) $(if $(HAVE_YAML),,%/cmd_gate.c %/gate_budget.c %/gate_format.c),$(cmd_src))
gen_src     := $(sort $(wildcard tests/hprofgen/*.c))
support_src := $(sort $(wildcard tests/support/*.c))
# tests/base/pack_test.c is called base_pack_test.
picked       = $(if $(T),$(findstring $(T),$(subst /,_,$(patsubst tests/%,%,$(1)))),all)
test_src    := $(foreach f,$(sort $(wildcard tests/*/*_test.c)),$(if $(call picked,$(f)),$(f)))
example_src := $(sort $(wildcard tests/examples/*.c))
fuzz_src    := $(filter-out tests/fuzz/replay.c,$(sort $(wildcard tests/fuzz/*.c)))
rule_tables := $(patsubst src/%,$(BUILD)/rules/%.h,$(wildcard src/base/*.rules src/derive/*.rules src/queries/*/*.rules)) \
	$(patsubst tools/%,$(BUILD)/rules/%.h,$(wildcard tools/*/*.rules))
query_defs  := $(patsubst src/%,$(BUILD)/rules/%.h,$(wildcard src/query/*.query src/queries/*/*.query)) \
	$(patsubst tools/%,$(BUILD)/rules/%.h,$(wildcard tools/*/*.query))
row_tables  := $(patsubst src/%,$(BUILD)/rules/%.h,$(wildcard src/layout/*.rows src/analysis/*.rows src/heap/*.rows src/heap/*/*.rows src/queries/*/*.rows)) \
	$(patsubst tools/%,$(BUILD)/rules/%.h,$(wildcard tools/*/*.rows))
headers     := $(sort $(wildcard include/*.h src/*/*.h src/*/*/*.h tools/*/*.h tests/lint/*.h tests/support/*.h tests/hprofgen/*.h))
headers     := $(filter-out $(if $(mcp_door),,tools/mcp/%_private.h) \
	$(if $(HAVE_SQLITE),,tools/sqlite/%_private.h),$(headers))
scripts     := $(sort $(wildcard .ci/run .ci/bare tools/*.sh tools/python/*.sh tools/python/examples/*.sh tests/*.sh tests/*/*.sh bench/*.sh \
	bench/java/*.sh))

obj_of       = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lib_obj     := $(call obj_of,$(lib_src))
cmd_obj     := $(call obj_of,$(cmd_src))
ext_obj     := $(patsubst tools/sqlite/%.c,$(BUILD)/obj/extension/%.o,\
	$(filter-out %/heapsql.c %/sql_filter.c %/sql_arrow.c,$(if $(HAVE_SQLITE),$(sql_src))))
ext_obj     += $(if $(ext_obj),$(addprefix $(BUILD)/obj/tools/common/,suggest_class.o))
gen_obj     := $(call obj_of,$(gen_src))
support_obj := $(call obj_of,$(support_src))
test_obj    := $(call obj_of,$(test_src))
example_obj := $(call obj_of,$(example_src))
replay_obj  := $(if $(fuzz_src),$(call obj_of,$(fuzz_src) tests/fuzz/replay.c))

static_lib  := $(BUILD)/libheapdb.a
command_lib := $(BUILD)/libheapdb-command.a
shared_lib  := $(BUILD)/libheapdb.so
export_map  := $(BUILD)/heapdb.map
extension   := $(if $(ext_obj),$(BUILD)/heapdb.so)
python_lib  := $(BUILD)/python/libheapdb.so
command     := $(if $(cmd_src),$(BUILD)/heapdb)
generator   := $(if $(gen_src),$(BUILD)/hprofgen)
test_bin    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(test_src))
example_bin := $(patsubst tests/examples/%.c,$(BUILD)/examples/%,$(example_src))
replay_bin  := $(foreach f,$(fuzz_src),$(if $(call picked,fuzz_$(notdir $(f))),\
	$(BUILD)/tests/fuzz_$(basename $(notdir $(f)))))
sample      := build/sample.hprof

# Prefix of a command that prints its kind and its file instead of the command.
say          = $(if $(filter 1,$(V)),,@echo '$(1) $(2)';)
CC_SAID      = $(call say,CC,$<)
LINK_SAID    = $(call say,LINK,$@)
AR_SAID      = $(call say,AR,$@)

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all lib command test test-all test-slow test-programs objects golden lint lint-commits lint-layers lint-text lint-format lint-headers lint-man \
	lint-sh lint-cppcheck lint-tidy lint-compile lint-analyzer bench bench-gate fuzz fuzz-afl hostile mutants nightly valgrind demo \
	abi-baseline install uninstall cov dist deb static doors wheel stubs docs wheels macos arm64 test-arm64 release page check format clean help FORCE

all: lib command $(extension) $(python_lib) ## build the library and the command (default)
lib: $(static_lib) $(shared_lib)
command: $(command)

# --- compiling and linking ---------------------------------------------------------------------

# Changes if a flag changes, so that `make DEV=1` after `make` compiles again.
flags_now = $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(TEST_LIBS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(flags_now)' | cmp -s - $@ || echo '$(flags_now)' > $@
FORCE:

$(BUILD)/obj/tools/%.o: private ROOM = -Itools
$(BUILD)/obj/tests/%.o: private ROOM = -Itests -Itools
$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(rule_tables) $(query_defs) $(row_tables)
	@mkdir -p $(@D)
	$(CC_SAID)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Answers stored in a database are valid only for the sources that produced them, which this hash identifies.
$(BUILD)/sources.h: $(lib_src) $(wildcard src/*/*.h src/*/*/*.h src/*/*.rules src/*/*/*.rules src/*/*/*/*.rules src/query/*.query src/queries/*/*.query src/layout/*.rows src/analysis/*.rows src/heap/*.rows src/heap/*/*.rows src/queries/*/*.rows)
	@mkdir -p $(@D)
	@cat $^ | cksum | sed 's/ .*//; s/.*/#define STORE_SOURCES_HASH &u/' > $@.new
	@cmp -s $@.new $@ && touch $@ || mv $@.new $@
$(BUILD)/obj/src/store/tables.o: private ROOM = -include $(BUILD)/sources.h
$(BUILD)/obj/src/store/tables.o: $(BUILD)/sources.h

# The rules of `explain` are embedded in the library.
$(BUILD)/rules_text.h: $(wildcard src/queries/explain/rules/*.rules)
	@mkdir -p $(@D)
	@awk 'BEGIN { printf "#define RULES_TEXT" } { gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf " \\\n\t\"%s\\n\"", $$0 } \
		END { print "" }' $^ > $@
$(BUILD)/obj/src/queries/explain/rules_text.o: private ROOM = -include $(BUILD)/rules_text.h
$(BUILD)/obj/src/queries/explain/rules_text.o: $(BUILD)/rules_text.h

# Rules files become rows of C arrays. Compiler errors refer to the lines of the rules file.
$(BUILD)/rules/%.rules.h: src/%.rules tools/rules.awk
	@mkdir -p $(@D)
	@awk -f tools/rules.awk $< > $@
$(BUILD)/rules/%.rules.h: tools/%.rules tools/rules.awk
	@mkdir -p $(@D)
	@awk -f tools/rules.awk $< > $@
# Definitions of queries: options, columns and facts; columns of other answers.
$(BUILD)/rules/%.query.h: src/%.query tools/query.awk
	@mkdir -p $(@D)
	@awk -f tools/query.awk $< > $@
$(BUILD)/rules/%.query.h: tools/%.query tools/query.awk
	@mkdir -p $(@D)
	@awk -f tools/query.awk $< > $@
# Tables with one row per line.
$(BUILD)/rules/%.rows.h: src/%.rows tools/rows.awk
	@mkdir -p $(@D)
	@awk -f tools/rows.awk $< > $@
$(BUILD)/rules/%.rows.h: tools/%.rows tools/rows.awk
	@mkdir -p $(@D)
	@awk -f tools/rows.awk $< > $@
lint-headers lint-compile lint-cppcheck lint-tidy lint-analyzer: $(rule_tables) $(query_defs) $(row_tables)

# The page and the head of the schema are embedded in the program.
$(BUILD)/obj/tools/serve/serve_bundle.o: $(wildcard tools/serve/bundle/*)
$(BUILD)/obj/tools/heapdb/schema.o: tools/heapdb/schema_head.json

# Records the list of objects, so that deleting a source file also removes its object from the library.
$(BUILD)/lib.list: FORCE
	@mkdir -p $(@D)
	@echo '$(lib_obj)' | cmp -s - $@ || echo '$(lib_obj)' > $@

$(static_lib): $(lib_obj) $(BUILD)/lib.list
	@rm -f $@
	$(AR_SAID)$(AR) rcs $@ $(lib_obj)

$(export_map): src/api/heapdb.map include/heapdb.h
	@mkdir -p $(@D)
	@sed 's/SOVER {/$(SOVER) {/' $< > $@

$(shared_lib): $(lib_obj) $(BUILD)/lib.list $(export_map)
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(export_map) \
		-o $@ $(lib_obj) $(LIB_LIBS)
	@ln -sf $(@F) $(@D)/$(SONAME)

# The command's files except main.c, for tests and fuzz targets. Not installed.
$(command_lib): $(filter-out %/main.o,$(cmd_obj))
	@rm -f $@
	$(AR_SAID)$(AR) rcs $@ $^

$(BUILD)/heapdb: $(cmd_obj) $(static_lib)
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -o $@ $(cmd_obj) $(static_lib) $(CMD_LIBS)

# The SQLite extension. It calls SQLite through the function table that it receives, and exports one symbol.
$(BUILD)/obj/extension/%.o: tools/sqlite/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC_SAID)$(CC) $(ALL_CPPFLAGS) -Itools -DHEAPSQL_EXTENSION $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/heapdb.so: $(ext_obj) $(static_lib) tools/sqlite/extension.map
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -shared -Wl,--version-script=tools/sqlite/extension.map -o $@ \
		$(ext_obj) $(static_lib) $(LIB_LIBS)

$(BUILD)/hprofgen: $(gen_obj) $(static_lib)
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -o $@ $(gen_obj) $(static_lib) $(LIB_LIBS)

# A test that needs linker options lists them in its opening comment: ` * Link with: -Wl,...`
$(BUILD)/tests/%_test: $(BUILD)/obj/tests/%_test.o $(support_obj) $(command_lib) $(static_lib)
	@mkdir -p $(@D)
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) $$(sed -n 's/^ \* Link with: //p' tests/$*_test.c) -o $@ $< \
		$(support_obj) $(command_lib) $(static_lib) $(TEST_LIBS)

# Fuzz targets as ordinary programs that replay the files they are given.
$(BUILD)/tests/fuzz_%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/replay.o \
		$(support_obj) $(command_lib) $(static_lib)
	@mkdir -p $(@D)
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/obj/tests/fuzz/replay.o $(support_obj) \
		$(command_lib) $(static_lib) $(TEST_LIBS)

# The shared library of the Python package: the library, SQL, OQL, and Parquet and Arrow files. See tools/python.
door_obj     = $(call obj_of,$(filter-out $(if $(MACOS),$(linux_src)),tools/python/python_door.c $(wildcard \
	tools/common/*.c tools/export/*.c tools/oql/*.c tools/capture/*.c tools/memory/*.c tools/watch/*.c) \
	$(if $(HAVE_SQLITE),$(sql_src))))
# macOS supports neither option. There, -fvisibility=hidden hides all symbols that are not HDB_API.
elf_names    = -Wl,-soname,libheapdb.so -Wl,--version-script=$(@D)/exports.map
$(python_lib): $(lib_obj) $(door_obj) $(BUILD)/lib.list $(export_map) tools/python/python.map
	@mkdir -p $(@D)
	@cat $(export_map) tools/python/python.map > $(@D)/exports.map
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -shared $(if $(MACOS),,$(elf_names)) \
		-o $@ $(lib_obj) $(door_obj) $(LIB_LIBS) $(if $(HAVE_SQLITE),-lsqlite3 -lm) $(ARCHIVE_LIBS)

# Examples use only what is installed: heapdb.h and libheapdb.
$(BUILD)/examples/%: $(BUILD)/obj/tests/examples/%.o $(static_lib)
	@mkdir -p $(@D)
	$(LINK_SAID)$(CC) $(ALL_LDFLAGS) -o $@ $< $(static_lib) $(LIB_LIBS)

$(sample): tests/data/sample.hprof.zst
	@mkdir -p $(@D)
	zstd -dqf -o $@.tmp $<
	@mv $@.tmp $@

# --- testing -----------------------------------------------------------------------------------

objects: $(lib_obj) $(cmd_obj) $(ext_obj) $(door_obj) $(gen_obj) $(support_obj) $(test_obj) $(example_obj) $(replay_obj)

test-programs: $(generator) $(test_bin) $(replay_bin) $(example_bin)

test: private SET = quick
test: all test-programs $(sample) ## run the quick tests; T=name: all tests whose names contain it
test-slow: private SET = slow
test-slow: all test-programs $(sample) ## run the tests that `make test` leaves out
test-all: private SET = all
test-all: all test-programs $(sample) ## run all tests
test test-slow test-all:
	@BUILD=$(BUILD) T='$(T)' SET=$(SET) LIMIT=$(LIMIT) DUMP=$(sample) CC='$(CC)' \
		TSAN_OPTIONS=suppressions=$(CURDIR)/tests/support/tsan.supp sh tests/run.sh

check: test ## same as test

golden: all $(generator) $(example_bin) $(sample) ## rewrite the expected output of tests/cli (T=name: only tests whose names contain it)
	@BUILD=$(BUILD) T='$(T)' LIMIT=$(LIMIT) DUMP=$(sample) sh tests/run_cli.sh --write

bench: all $(generator) ## run the benchmarks
	@if [ -f bench/run.sh ]; then BUILD=$(BUILD) sh bench/run.sh; \
	else echo "no benchmarks: bench/run.sh is not there"; fi

bench-gate: all $(generator) $(sample) ## compare instructions and times with the previous commit (BASE=COMMIT; needs valgrind)
	@BUILD=$(BUILD) CC="$(CC)" DUMP=$(sample) BASE=$(BASE) sh bench/gate.sh || [ $$? -eq 77 ]

# Runs libFuzzer on each tests/fuzz/NAME.c, with tests/corpus/NAME as seeds. A small quarantine, short allocation stacks
# and -entropic=0 more than double the number of runs per second.
fuzz: ## fuzz each parser; FUZZ=name: only one, SECS=60: seconds per target
	@$(MAKE) --no-print-directory BUILD=build/fuzz CC=clang SAN=fuzzer-no-link,address,undefined \
		build/fuzz/libheapdb.a build/fuzz/libheapdb-command.a \
		$(patsubst %.c,build/fuzz/obj/%.o,$(support_src))
	@set -e; for src in $(if $(FUZZ),tests/fuzz/$(FUZZ).c,$(fuzz_src)); do \
		name=$$(basename $$src .c); mkdir -p build/fuzz/corpus/$$name tests/corpus/$$name; \
		clang -g -O1 -std=c11 $(ALL_CPPFLAGS) -Ibuild/fuzz/rules -Itests -Itools -fsanitize=fuzzer,address,undefined \
			-fno-sanitize-recover=all -o build/fuzz/$$name $$src \
			$(patsubst %.c,build/fuzz/obj/%.o,$(support_src)) \
			build/fuzz/libheapdb-command.a build/fuzz/libheapdb.a $(TEST_LIBS); \
		echo "fuzz $$name for $(SECS) s"; \
		dict=; [ ! -f tests/fuzz/$$name.dict ] || dict=-dict=tests/fuzz/$$name.dict; \
		ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=3 \
		build/fuzz/$$name $$dict -max_total_time=$(SECS) -timeout=20 -rss_limit_mb=2048 \
			-entropic=0 -print_final_stats=1 -artifact_prefix=$(CURDIR)/build/fuzz/$$name- \
			build/fuzz/corpus/$$name tests/corpus/$$name; \
	done

# Runs AFL++ on the same targets. Its output is in build/afl/out. It starts with libFuzzer's corpus if there is one.
fuzz-afl: ## fuzz with AFL++ (package afl++); FUZZ=name: only one, SECS=60: seconds per target
	@command -v afl-clang-fast >/dev/null || { echo "fuzz-afl: afl++ is not installed"; exit 1; }
	@AFL_QUIET=1 AFL_USE_ASAN=1 $(MAKE) --no-print-directory BUILD=build/afl CC=afl-clang-fast \
		build/afl/libheapdb.a build/afl/libheapdb-command.a \
		$(patsubst %.c,build/afl/obj/%.o,$(support_src))
	@set -e; for src in $(if $(FUZZ),tests/fuzz/$(FUZZ).c,$(fuzz_src)); do \
		name=$$(basename $$src .c); mkdir -p build/afl/out; \
		AFL_QUIET=1 AFL_USE_ASAN=1 afl-clang-fast -g -O1 -std=c11 $(ALL_CPPFLAGS) -Ibuild/afl/rules -Itests -Itools \
			-fsanitize=fuzzer -o build/afl/$$name $$src \
			$(patsubst %.c,build/afl/obj/%.o,$(support_src)) \
			build/afl/libheapdb-command.a build/afl/libheapdb.a $(TEST_LIBS); \
		dict=; [ ! -f tests/fuzz/$$name.dict ] || dict="-x tests/fuzz/$$name.dict"; \
		seeds=tests/corpus/$$name; [ ! -d build/fuzz/corpus/$$name ] || seeds=build/fuzz/corpus/$$name; \
		[ ! -d build/afl/out/$$name ] || seeds=-; \
		echo "fuzz $$name for $(SECS) s"; \
		AFL_NO_UI=1 AFL_QUIET=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 \
			AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 afl-fuzz -m none -t 20000 -V $(SECS) $$dict \
			-i $$seeds -o build/afl/out/$$name -- build/afl/$$name > build/afl/$$name.log; \
		sed -n 's/^\(execs_done\|saved_crashes\|saved_hangs\) */\1 /p' \
			build/afl/out/$$name/default/fuzzer_stats; \
		if [ -n "$$(find build/afl/out/$$name/default/crashes -name 'id:*')" ]; then \
			echo "crashes: build/afl/out/$$name/default/crashes"; exit 1; fi; \
	done

hostile: all $(generator) $(test_bin) $(replay_bin) $(sample) ## run the long forms of the tests against bad input (hours)
	@for t in store/flips query/flips import/damage import/faults e2e/cli_faults store/crash base/truncated e2e/cli_truncated import/growth \
		import/memory query/growth derive/company graph/parts_faults watch/trend; do \
		echo "hostile $$t"; HEAPDB_HOSTILE=long DUMP=$(sample) $(BUILD)/tests/$${t}_test || exit 1; done
	@echo "hostile giant"; PATH="$(abspath $(BUILD)):$$PATH" BUILD=$(abspath $(BUILD)) HEAPDB_HOSTILE=long \
		sh tests/e2e/giant_test.sh
	@echo "hostile relations"; PATH="$(abspath $(BUILD)):$$PATH" BUILD=$(abspath $(BUILD)) HEAPDB_HOSTILE=long \
		DUMP=$(abspath $(sample)) HDB_ROOT=$(CURDIR) sh tests/oracle/relations_test.sh

# Each mutant is built and tested separately, in a copy of the tree below $(BUILD).
mutants: ## break the sources in 40 small ways; a test must fail for each (AREA=sql: only that area)
	BUILD=$(BUILD) python3 tests/mutants/mutants.py

# Runs all tests under the sanitizers of gcc and clang, the multithreaded tests under ThreadSanitizer, the tests under
# valgrind, the long forms of the tests, each fuzz target for some minutes, and queries with an eighth of the dump's
# size as memory.
nightly: ## all checks that take too long to run for every change
	$(MAKE) lint-tidy lint-analyzer TIDY_NODES=225000 ANALYZER_STATES=5
	$(MAKE) test-all SAN=address,undefined LIMIT=3000
	$(MAKE) test-all SAN=address,undefined BUILD=build/clang-san CC=clang LIMIT=3000
	$(MAKE) test-all CPPFLAGS=-DPROCESSOR_PLAIN BUILD=build/plain LIMIT=3000
	$(MAKE) test SAN=thread CC=clang LIMIT=3000 T=pipeline
	$(MAKE) test SAN=thread CC=clang LIMIT=3000 T=graph_parts
	$(MAKE) test SAN=thread CC=clang LIMIT=3000 T=import_ HEAPDB_SMALL=1
	$(MAKE) test SAN=thread CC=clang LIMIT=3000 T=query
	$(MAKE) test SAN=thread CC=clang LIMIT=3000 T=serve_test
	$(MAKE) valgrind
	$(MAKE) bench-gate BASE=$$(git rev-list -n 1 --before=yesterday HEAD 2>/dev/null)
	$(MAKE) all $(generator) && $(generator) tree --objects 10M -o $(BUILD)/limit.hprof
	rc=0; sh bench/limit.sh 63M $(BUILD)/limit.hprof || rc=$$?; rm -f $(BUILD)/limit.hprof; \
		[ $$rc -eq 0 ] || [ $$rc -eq 77 ]
	$(MAKE) mutants
	$(MAKE) test T=page_ HEAPDB_PAGE=full LIMIT=3000
	$(MAKE) static && $(MAKE) test T=static_test && $(MAKE) test T=image_test
	$(MAKE) hostile
	$(MAKE) fuzz SECS=600
	$(MAKE) test T=fleet HEAPDB_FLEET=full LIMIT=3000
	$(MAKE) test T=known_libraries HEAPDB_KNOWN=full LIMIT=3000
	$(MAKE) test T=memory_programs HEAPDB_MEMORY=full LIMIT=3000
	$(MAKE) test T=watch_leaks HEAPDB_WATCH=full LIMIT=3000
	rc=0; PATH=$(abspath $(BUILD)):$$PATH python3 tests/java/real/real_heaps.py --out $(BUILD)/real-heaps || rc=$$?; \
		[ $$rc -eq 0 ] || [ $$rc -eq 77 ]
	[ -z "$$SHARK" ] || SCREENS_ROWS=1330000 $(MAKE) test T=leak_screens LIMIT=3000
	! command -v afl-fuzz >/dev/null || $(MAKE) fuzz-afl SECS=600
	! command -v aarch64-linux-gnu-gcc >/dev/null || $(MAKE) test-arm64
	set -e; for leg in bookworm "--user bookworm" trixie "--user trixie" "--no-mounts bookworm"; do \
		rc=0; sh .ci/bare $$leg || rc=$$?; [ $$rc -eq 0 ] || [ $$rc -eq 77 ]; done

# Not run: programs that create thousands of databases, kill other processes or inject faults, which run under the
# sanitizers. Also not run: the test of secrets, because code from PCRE2's JIT compiler reads beyond the end of strings,
# which valgrind reports.
valgrind_skip := store/flips query/flips import/damage import/faults e2e/cli_faults store/crash base/truncated e2e/cli_truncated derive/company \
	import/growth import/memory query/growth graph/parts_faults base/secrets
valgrind_programs = $(filter-out $(valgrind_skip:%=$(BUILD)/tests/%_test),$(test_bin))
valgrind: all $(test_bin) $(replay_bin) $(sample) ## the test programs and the replays of fuzz targets under valgrind
	@for t in $(valgrind_programs) $(replay_bin); do \
		inputs=; case $$t in */fuzz_*) inputs=$$(find tests/corpus/$${t##*/fuzz_} -type f | sort) ;; esac; \
		echo "valgrind $$t"; HEAPDB_SMALL=1 DUMP=$(sample) HDB_ROOT=$(CURDIR) valgrind -q --error-exitcode=9 \
			--leak-check=full --errors-for-leak-kinds=definite $$t $$inputs > build/valgrind.log 2>&1 || \
			{ tail -40 build/valgrind.log; exit 1; }; done

# A test that runs as another user must be able to write its coverage files, hence the umask.
cov: ## line coverage of the tests, by file (build/cov)
	@find build/cov -name '*.gcda' -delete 2>/dev/null || true
	@umask 0; $(MAKE) --no-print-directory BUILD=build/cov OPT='-O0 -g --coverage' LDFLAGS=--coverage LIMIT=3000 test-all || \
		echo "cov: some tests failed; lines run by killed processes are not counted"
	@cd build/cov && find obj/src obj/tools -name '*.gcda' | sort | xargs -r gcov -n 2>/dev/null | \
	awk '/^File/ { file = $$2; gsub("\047", "", file) } \
	     /^Lines/ && file ~ /^(src|tools)\/.*\.c$$/ { split($$2, p, /[:%]/); n = $$4; \
	         printf "%6.1f %%  %6d lines  %s\n", p[2], n, file; all += n; hit += n * p[2] / 100 } \
	     { if (/^Lines/) file = "" } \
	     END { if (all) printf "%6.1f %%  %6d lines  all\n", 100 * hit / all, all }'

demo: $(sample) ## build on all cores, import the sample dump and run a few queries
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) all
	@rm -f build/sample.heapdb; BUILD=$(BUILD) SAMPLE=$(sample) sh tools/demo.sh

# --- the page --------------------------------------------------------------------------------------

# Needs node and npm. The output is checked in, so building heapdb does not.
PAGE_TMP = build/page
page: ## compile tools/serve/page (TypeScript) into tools/serve/bundle (needs npm)
	@mkdir -p $(PAGE_TMP)
	rm -f $(PAGE_TMP)/*.ts $(PAGE_TMP)/*.tsx
	cp tools/serve/page/* $(PAGE_TMP)/
	cd $(PAGE_TMP) && npm install --silent --no-audit --no-fund --prefer-offline && node_modules/.bin/tsc -p . && \
		node_modules/.bin/prettier --check --log-level=warn *.ts *.tsx app.css sw.js && \
		esbuild="node_modules/.bin/esbuild main.tsx --bundle --minify --target=es2020 --jsx=automatic \
			--jsx-import-source=preact --log-level=warning --outdir=$(CURDIR)/tools/serve/bundle" && \
		$$esbuild --define:REPORT=false --splitting --format=esm --entry-names=app --chunk-names=[name] && \
		$$esbuild --define:REPORT=true --entry-names=report
	cd tools/serve/bundle && cp $(CURDIR)/$(PAGE_TMP)/index.html . && \
		$(CURDIR)/$(PAGE_TMP)/node_modules/.bin/esbuild $(CURDIR)/$(PAGE_TMP)/app.css $(CURDIR)/$(PAGE_TMP)/sw.js \
			--minify --target=es2020,safari16 --log-level=warning --outdir=.
	@cd tools/serve/bundle && for f in report.js app.css; do \
		node -e 'process.stdout.write("sha256-" + require("crypto").createHash("sha256").update(require("fs").readFileSync(process.argv[1])).digest("base64"))' $$f >$$f.hash; done
	@for f in app chunk views; do gzip -c tools/serve/bundle/$$f.js | wc -c | sed "s/$$/ bytes of $$f.js, compressed/"; done

# --- checking ----------------------------------------------------------------------------------

# Tools that are not installed are listed and skipped; tools/install-deps.sh --lint installs them.
lint: lint-commits lint-layers lint-text lint-format lint-headers lint-man lint-sh lint-compile lint-analyzer lint-cppcheck lint-tidy ## all checks but the tests
	@echo "lint: clean"

lint-commits:
	@sh tests/lint/commits.sh

lint-layers:
	@sh tests/lint/layers.sh

lint-text:
	@sh tests/lint/text.sh
	@sh tests/lint/file_names.sh
	@sh tests/lint/english.sh

lint-format:
	@if command -v clang-format >/dev/null; then \
		clang-format --dry-run --Werror $(formatted) && echo "clang-format: clean"; \
	else echo "clang-format: not installed"; fi

lint-headers:
	@set -e; for h in $(headers); do \
		printf '#include "%s"\n' $$h | gcc $(ALL_CPPFLAGS) -I. -Itests -Itools -std=c11 $(WARN) \
			-Werror -fsyntax-only -x c - || { echo "$$h does not compile alone"; exit 1; }; \
	done
	@printf '#include "heapdb.h"\n' | $(CXX) -Iinclude -Wall -Wextra -Werror -fsyntax-only -x c++ -
	@echo "headers: each compiles alone, heapdb.h as C++ too"

man_parts = $(filter-out %-sql.1,$(sort $(wildcard tools/heapdb/heapdb-*.1)))

lint-man:
	@if [ ! -f tools/heapdb/heapdb.1 ]; then echo "man page: none"; \
	elif command -v mandoc >/dev/null; then \
		mandoc -Tlint -W warning tools/heapdb/heapdb.1 tools/heapdb/heapdb-sql.1 \
			$(man_parts) tools/heapdb/heapdb.3 && echo "man page: clean"; \
	else echo "man page: mandoc is not installed"; fi

lint-sh:
	@if command -v shellcheck >/dev/null; then shellcheck -s sh $(filter-out .ci/run,$(scripts)) && \
		shellcheck .ci/run && echo "shellcheck: clean"; \
	else echo "shellcheck: not installed"; fi

# clang reports all its warnings even without optimisation, but gcc does not. gcc's output is also linked. With DEV=1,
# $(CC) reuses the output of `make DEV=1`.
lint-compile:
	@set -e; for cc in gcc clang; do \
		if ! command -v $$cc >/dev/null; then echo "$$cc: not installed"; continue; fi; \
		folder=build/lint/$$cc opt=-O2 what='all test-programs'; \
		[ $$cc = gcc ] || { opt=-O0; what=objects; }; \
		[ "$$cc" != "$(if $(DEV),$(CC))" ] || folder=$(BUILD) opt='$(OPT)'; \
		$(MAKE) --no-print-directory -s BUILD=$$folder CC=$$cc DEV=1 OPT="$$opt" T= $$what; \
		echo "$$cc -Werror: clean"; \
	done

# Suppressed: shifts of negative numbers, which are arithmetic in gcc and clang; and uninitialised variables, because
# cppcheck mistakes an array passed by BASE_TEXT inside TRY for a value (clang-tidy and gcc also check for such
# variables).
lint-cppcheck:
	@if command -v cppcheck >/dev/null; then \
		mkdir -p build/cppcheck; \
		cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability \
			--inline-suppr --error-exitcode=1 --cppcheck-build-dir=build/cppcheck \
			--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
			--suppress=shiftTooManyBitsSigned --suppress=legacyUninitvar \
			-D__GNUC__ -Iinclude -Isrc -I$(BUILD)/rules -Itools $(lib_src) $(cmd_src) $(gen_src) && \
		echo "cppcheck: clean"; \
	else echo "cppcheck: not installed"; fi

# Disabled: warnings for which gcc 12 gives false positives here, namely leaks of structs returned through their first
# member, and shifts and pointers that are checked in another function. clang's analyzer and the sanitizers cover these.
# Functions with many paths take most of the time, so only ANALYZER_STATES states per basic block are followed. `make
# nightly` uses gcc's default.
ANALYZER_STATES ?= 2
# A source file that was clean is checked again only after it, a header or the checker has changed: see
# tests/lint/once.sh.
analyzer_include = case $$f in */error.c) pre= ;; *) pre="-include tests/lint/analyzer.h" ;; esac; \
	export LINT_FLAGS="$(ALL_CPPFLAGS) -Itools $$pre"
lint-analyzer:
	@export LINT_VERSION="$$(gcc --version)"; \
		printf '%s\n' $(lib_src) $(cmd_src) $(gen_src) | xargs -r -P "$$(nproc)" -n 4 sh -c \
		'for f; do $(analyzer_include); sh tests/lint/once.sh $$f gcc $$pre $(ALL_CPPFLAGS) -Itools -std=c11 \
			-O1 -fanalyzer -Werror --param analyzer-bb-explosion-factor=$(ANALYZER_STATES) -Wno-analyzer-malloc-leak -Wno-analyzer-null-dereference \
			-Wno-analyzer-shift-count-overflow -S -o /dev/null $$f || exit 1; done' sh && \
		echo "gcc -fanalyzer: clean"

# clang's analyzer takes nine tenths of the time, most of it in a few functions with many paths, so it follows only
# TIDY_NODES states per function. `make nightly` uses clang's default. Each process checks one file, because in later
# files it reports each vsnprintf as a use of an uninitialised va_list. A process that crashes without a finding, as one
# in thousands does, is restarted once.
TIDY_NODES ?= 30000
lint-tidy:
	@if command -v clang-tidy >/dev/null; then export LINT_VERSION="$$(clang-tidy --version)"; \
		printf '%s\n' $(lib_src) $(cmd_src) $(gen_src) | xargs -r -P "$$(nproc)" -n 4 sh -c \
			'bad=0; for f; do $(analyzer_include); \
			tidy="sh tests/lint/once.sh $$f clang-tidy --quiet $$f -- $(ALL_CPPFLAGS) -Itools -std=c11 $$pre \
				-Xclang -analyzer-config -Xclang max-nodes=$(TIDY_NODES)"; \
			$$tidy 2>/dev/null || { echo "$$f: once more"; $$tidy; } || bad=1; \
			done; exit $$bad' sh && \
		echo "clang-tidy: clean"; \
	else echo "clang-tidy: not installed"; fi

formatted = $(lib_src) $(cmd_src) $(gen_src) $(support_src) $(sort $(wildcard tests/*/*_test.c)) $(fuzz_src) \
	$(example_src) $(sort $(wildcard bench/*.c)) $(headers)
format: ## rewrite C sources with clang-format
	clang-format -i $(formatted)

# Writes the reference for the ABI check and the initial sizes of structures. Run it only before the release of a new
# soname; see Releases in CONTRIBUTING.md.
abi-baseline: ## rewrite tests/data/abi.txt and src/api/first_sizes.h, only before the release of a soname
	python3 tests/lint/abi_list.py include/heapdb.h --sizes > first_sizes.new
	cmp -s first_sizes.new src/api/first_sizes.h || cp first_sizes.new src/api/first_sizes.h
	rm first_sizes.new
	$(MAKE) $(shared_lib)
	python3 tests/lint/abi_list.py include/heapdb.h $(shared_lib) > $(BUILD)/abi.txt
	cp $(BUILD)/abi.txt tests/data/abi.txt

# --- installing --------------------------------------------------------------------------------

define pc_text
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$(INCDIR)

Name: heapdb
Description: indexed database for Java and Android heap dumps
Version: $(VERSION)
Requires.private: lmdb libxxhash libpcre2-8 libzstd libdeflate zlib
Libs: -L$${libdir} -lheapdb
Libs.private: -lpthread
Cflags: -I$${includedir}
endef
export pc_text

# STRIP= keeps the symbols, which debug symbol packages need.
STRIP ?= strip
strip_installed = $(if $(STRIP),$(STRIP) $(1) $(DESTDIR)$(2),:)

install: all ## install to $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(INCDIR) $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(COMPDIR) \
		$(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR) $(DESTDIR)$(DATADIR) $(DESTDIR)$(DOCDIR)
	install -m 644 LICENSE NOTICES $(DESTDIR)$(DOCDIR)
	install -m 644 include/heapdb.h $(DESTDIR)$(INCDIR)/heapdb.h
	install -m 644 $(static_lib) $(DESTDIR)$(LIBDIR)/libheapdb.a
	$(call strip_installed,--strip-debug,$(LIBDIR)/libheapdb.a)
	install -m 644 $(shared_lib) $(DESTDIR)$(LIBDIR)/libheapdb.so.$(VERSION)
	$(call strip_installed,--strip-unneeded,$(LIBDIR)/libheapdb.so.$(VERSION))
	ln -sf libheapdb.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libheapdb.so
	printf '%s\n' "$$pc_text" > $(DESTDIR)$(LIBDIR)/pkgconfig/heapdb.pc
	install -m 755 $(command) $(DESTDIR)$(BINDIR)/heapdb
	$(call strip_installed,--strip-all,$(BINDIR)/heapdb)
	if [ -n "$(extension)" ]; then install -d $(DESTDIR)$(SQLITEDIR); \
		install -m 644 $(extension) $(DESTDIR)$(SQLITEDIR)/heapdb.so; \
		$(call strip_installed,--strip-unneeded,$(SQLITEDIR)/heapdb.so); fi
	install -m 644 tools/heapdb/heapdb.1 $(DESTDIR)$(MANDIR)/man1/heapdb.1
	install -m 644 $(man_parts) $(DESTDIR)$(MANDIR)/man1
	install -m 644 tools/heapdb/heapdb-sql.1 $(DESTDIR)$(MANDIR)/man1/heapdb-sql.1
	install -m 644 tools/heapdb/heapdb.3 $(DESTDIR)$(MANDIR)/man3/heapdb.3
	install -m 644 tools/heapdb/heapdb.bash $(DESTDIR)$(COMPDIR)/heapdb
	install -m 644 tools/heapdb/_heapdb $(DESTDIR)$(ZSHDIR)/_heapdb
	install -m 644 tools/heapdb/heapdb.fish $(DESTDIR)$(FISHDIR)/heapdb.fish
	$(command) help --schema > $(DESTDIR)$(DATADIR)/schema.json

uninstall: ## remove the installed files
	rm -f $(DESTDIR)$(BINDIR)/heapdb $(DESTDIR)$(INCDIR)/heapdb.h $(DESTDIR)$(LIBDIR)/libheapdb.a \
		$(DESTDIR)$(LIBDIR)/libheapdb.so $(DESTDIR)$(LIBDIR)/$(SONAME) \
		$(DESTDIR)$(SQLITEDIR)/heapdb.so \
		$(DESTDIR)$(LIBDIR)/libheapdb.so.$(VERSION) $(DESTDIR)$(LIBDIR)/pkgconfig/heapdb.pc \
		$(DESTDIR)$(MANDIR)/man1/heapdb.1 $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(man_parts))) \
		$(DESTDIR)$(MANDIR)/man1/heapdb-sql.1 $(DESTDIR)$(MANDIR)/man3/heapdb.3 $(DESTDIR)$(COMPDIR)/heapdb \
		$(DESTDIR)$(ZSHDIR)/_heapdb $(DESTDIR)$(FISHDIR)/heapdb.fish \
		$(DESTDIR)$(DATADIR)/schema.json $(DESTDIR)$(DOCDIR)/LICENSE $(DESTDIR)$(DOCDIR)/NOTICES

# --- releasing ---------------------------------------------------------------------------------

# A static command that can be copied into an empty container. The build fails if a feature in DOORS is missing. $(1):
# build directory; $(2): compiler and archiver.
DOORS = sql editing serve png mcp archive gate
define build_static
	$(2) sh tools/packaging/libraries.sh $(1)/libraries $(if $(filter serve,$(DOORS)),libmicrohttpd) \
		$(if $(filter archive,$(DOORS)),libarchive)
	+$(MAKE) RELEASE=1 BUILD=$(1) $(2) CPPFLAGS='-I$(1)/libraries/include $(CPPFLAGS)' \
		LDFLAGS='-static -L$(1)/libraries/lib $(LDFLAGS)' doors
endef
static: ## build build/static/heapdb, one file that needs no library (tools/install-deps.sh --package)
	$(call build_static,build/static,CC='$(CC)' AR='$(AR)')

doors: $(BUILD)/heapdb
	@echo "$<: has $(DOORS_HERE)"
	@lacks="$(filter-out $(DOORS_HERE),$(DOORS))"; [ -z "$$lacks" ] || { echo "$<: lacks $$lacks:" \
		"install the library, or list the features to include: make static DOORS='sql mcp'" >&2; exit 1; }

# Libraries come from Debian's arm64 packages (tools/install-deps.sh --arm64). cmocka has no static library, so test
# programs are linked with shared libraries.
arm64_tools = CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar
arm64: ## build build/arm64/heapdb for aarch64, one file that needs no library (tools/install-deps.sh --arm64)
	$(call build_static,build/arm64,$(arm64_tools))

test-arm64: $(sample) ## run the tests for aarch64 under qemu
	+$(MAKE) BUILD=build/arm64-tests $(arm64_tools) all test-programs
	BUILD=build/arm64-tests RUN=qemu-aarch64 sh tests/arm64.sh

dist: ## pack the committed files into build/heapdb-VERSION.tar.gz
	@mkdir -p build
	git archive --format=tar.gz --prefix=heapdb-$(VERSION)/ -o build/heapdb-$(VERSION).tar.gz HEAD
	@ls -l build/heapdb-$(VERSION).tar.gz

# Builds in a copy of the committed files, with tools/packaging/debian as the directory debian and the version filled
# in. The maintainer has no mail address because the project has none.
no_address = malformed-contact,bogus-mail-host-in-debian-changelog
deb: ## build Debian packages into build/deb (tools/install-deps.sh --package)
	@rm -rf build/deb && mkdir -p build/deb
	git archive --prefix=heapdb-$(VERSION)/ HEAD | tar x -C build/deb
	cp -r tools/packaging/debian build/deb/heapdb-$(VERSION)/debian
	day=$$(sed -n 's/^## $(VERSION) - \(20[0-9-]*\)$$/\1/p' CHANGELOG.md) && cd build/deb/heapdb-$(VERSION)/debian && \
		{ [ -n "$$day" ] || { echo 'CHANGELOG.md: no "## $(VERSION) - DATE"' >&2; exit 1; }; } && \
		printf '%s\n\n' 'heapdb ($(VERSION)) unstable; urgency=medium' '  * CHANGELOG.md has all changes.' \
			" -- The heapdb developers <>  $$(date -u -R -d "$$day 12:00")" > changelog && \
		sed -i 's/SOVER/$(SOVER)/' control && mv libheapdb.install libheapdb$(SOVER).install
	$(if $(HOMEPAGE),sed -i 's|^Rules-Requires-Root: no|&\nHomepage: $(HOMEPAGE)|' \
		build/deb/heapdb-$(VERSION)/debian/control)
	cd build/deb/heapdb-$(VERSION) && dpkg-buildpackage -us -uc -b > ../build.log 2>&1 || \
		{ tail -40 ../build.log; exit 1; }
	cd build/deb && lintian --fail-on error,warning --suppress-tags $(no_address) *.changes
	@ls -l build/deb/*.deb

# The wheel contains one shared library, linked with Debian's static libraries. Debian's liblmdb.a is not
# position-independent where it uses stderr, so that symbol is renamed.
wheel: $(lib_obj) $(door_obj) $(python_lib) stubs ## build the Python package, which contains the library, into build/wheel
	@rm -rf build/wheel && mkdir -p build/wheel
	cp $$($(CC) -print-file-name=liblmdb.a) build/wheel/liblmdb.a
	objcopy --redefine-sym stderr=heapdb_stderr build/wheel/liblmdb.a
	printf '%s\n' '#include <stdio.h>' '__attribute__((visibility("hidden"))) FILE *heapdb_stderr;' \
		'__attribute__((constructor)) static void set(void) { heapdb_stderr = stderr; }' | \
		$(CC) -O2 -fPIC -x c -c -o build/wheel/stderr.o -
	$(CC) $(ALL_LDFLAGS) -s -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(BUILD)/python/exports.map \
		-Wl,--exclude-libs,ALL -o build/wheel/libheapdb.so $(lib_obj) $(door_obj) build/wheel/stderr.o \
		-Wl,-Bstatic -Lbuild/wheel $(if $(HAVE_SQLITE),-lsqlite3) $(filter-out -lpthread,$(LIB_LIBS)) \
		-Wl,-Bdynamic -lm -lpthread -ldl
	python3 tools/packaging/make_wheel.py build/wheel/libheapdb.so $(BUILD)/python/__init__.pyi build/wheel

# The type stubs of the package, generated from the library.
stubs: $(python_lib)
	HEAPDB_LIBRARY=$(python_lib) PYTHONPATH=tools/python PYTHONDONTWRITEBYTECODE=1 \
		python3 tools/python/make_stubs.py > $(BUILD)/python/__init__.pyi

docs: $(python_lib) ## write the documentation of the Python package to build/python/heapdb_jvm.html
	HEAPDB_LIBRARY=$(python_lib) PYTHONPATH=tools/python PYTHONDONTWRITEBYTECODE=1 \
		python3 tools/python/make_docs.py > $(BUILD)/python/heapdb_jvm.html

# zig (from PyPI) cross-compiles for other and for old systems, because it includes their C libraries. The builds use
# the fallbacks in src/base/platform.h, and libraries compiled from Debian's sources.
ZIG = $(CURDIR)/build/zig/ziglang/zig
$(ZIG):
	python3 -m pip install -q --disable-pip-version-check --target build/zig ziglang==0.13.0
zig_tools = CC='$(ZIG) cc -target $(1)' AR='$(ZIG) ar'
define build_zig
	$(call zig_tools,$(1)) sh tools/packaging/libraries.sh build/zig/$(1) lmdb xxhash pcre2 libzstd libdeflate \
		zlib sqlite3 $(3)
	+$(MAKE) PORTABLE=1 RELEASE=1 BUILD=build/zig/$(1) $(call zig_tools,$(1)) OPT=-O2 \
		CPPFLAGS='-UNDEBUG -Ibuild/zig/$(1)/include' LDFLAGS='-s -Lbuild/zig/$(1)/lib' build/zig/$(1)/$(2)
endef
WHEELS = x86_64-linux-gnu.2.17 aarch64-linux-gnu.2.17 x86_64-linux-musl aarch64-linux-musl aarch64-macos x86_64-macos
wheels: $(WHEELS:%=wheel-%) ## build wheels for manylinux_2_17, musllinux and macOS, x86_64 and aarch64, by zig (PyPI)
# The macOS wheels use the build directory and libraries of the macOS command, so they are built after it.
wheel-aarch64-macos: macos-aarch64
wheel-x86_64-macos: macos-x86_64
wheel-%: $(ZIG) stubs
	@mkdir -p build/wheels
	$(call build_zig,$*,python/libheapdb.so)
	python3 tools/packaging/make_wheel.py build/zig/$*/python/libheapdb.so $(BUILD)/python/__init__.pyi build/wheels

macos: macos-aarch64 macos-x86_64 ## build the command for macOS, by zig (PyPI), into build/zig
macos-%: $(ZIG)
	$(call build_zig,$*-macos,heapdb,jansson libyaml libpng1.6 libmicrohttpd)

# Address of the project, written into packages if it is set.
HOMEPAGE =
export HOMEPAGE
DOWNLOADS = $(HOMEPAGE)/releases/download/v$(VERSION)
commit_time = $(shell git log -1 --format=%ct)
machine := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
# Packs the command $(2) with its manual, completions and licences for $(1), which is SYSTEM-MACHINE.
define release_command
	rm -rf build/release/heapdb-$(VERSION)-$(1)
	mkdir build/release/heapdb-$(VERSION)-$(1)
	install $(2) build/release/heapdb-$(VERSION)-$(1)/heapdb
	install -m 644 LICENSE NOTICES CHANGELOG.md README.md tools/heapdb/*.1 tools/heapdb/heapdb.bash \
		tools/heapdb/_heapdb tools/heapdb/heapdb.fish build/release/heapdb-$(VERSION)-$(1)
	tar c --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$(commit_time) --mode=go-w \
		-C build/release heapdb-$(VERSION)-$(1) | gzip -9n > build/release/heapdb-$(VERSION)-$(1).tar.gz
	rm -r build/release/heapdb-$(VERSION)-$(1)
endef
# ZIG= skips the builds by zig: the only wheel is for this machine, and there is no macOS command.
release: dist deb static $(if $(ZIG),wheels macos,wheel) ## build all files of a release, with checksums, in build/release
	@rm -rf build/release && mkdir -p build/release
	cp build/heapdb-$(VERSION).tar.gz build/deb/*.deb $(if $(ZIG),build/wheels,build/wheel)/*.whl build/release/
	python3 tools/packaging/python_backend.py build/release
	strip -o build/static/heapdb-stripped build/static/heapdb
	$(call release_command,linux-$(machine),build/static/heapdb-stripped)
	$(if $(ZIG),$(call release_command,macos-aarch64,build/zig/aarch64-macos/heapdb))
	$(if $(ZIG),$(call release_command,macos-x86_64,build/zig/x86_64-macos/heapdb))
	python3 tools/packaging/make_image.py build/static/heapdb-stripped $(if $(filter aarch64,$(machine)),arm64,amd64) \
		$(commit_time) build/release/heapdb-$(VERSION)-oci.tar
	python3 tools/packaging/make_sbom.py $(commit_time) $(HOMEPAGE) > build/release/heapdb-$(VERSION).spdx.json
	$(if $(HOMEPAGE),python3 tools/packaging/make_formula.py build/release $(HOMEPAGE) $(DOWNLOADS) > \
		build/release/heapdb.rb)
	cd build/release && sha256sum * > SHA256SUMS
	@cat build/release/SHA256SUMS
	@$(if $(HOMEPAGE),:,echo "HOMEPAGE is not set, so there is no formula: make release HOMEPAGE=https://...")
	@printf '%s\n' 'Next:' '  make test T=packages_test LIMIT=1200    # installs each package in an empty system' \
		'  upload all files of build/release to $(DOWNLOADS)' \
		'  twine upload build/release/*.whl build/release/heapdb_jvm-*.tar.gz' \
		'  copy build/release/heapdb.rb into the Homebrew tap' \
		'  skopeo copy oci-archive:build/release/heapdb-$(VERSION)-oci.tar docker://REGISTRY/heapdb:$(VERSION)'

clean: ## remove build/
	rm -rf build

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "  variables: CC=clang OPT='-O0 -g' DEV=1 SAN=address,undefined PREFIX=/usr LIMIT=300 (seconds per test)"

-include $(patsubst %.o,%.d,$(lib_obj) $(cmd_obj) $(ext_obj) $(gen_obj) $(support_obj) $(test_obj) \
	$(example_obj) $(replay_obj))
