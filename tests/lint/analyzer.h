/*
 * tests/lint/analyzer.h - facts for the static analyzers that the sources do not state; see
 * lint-tidy and lint-analyzer in the Makefile.
 *
 * The analyzers examine one file at a time, so they cannot know that hdb_fail() never returns
 * HDB_OK. Without this fact, they would treat every failure as a possible success.
 */
#ifndef TESTS_ANALYZER_H
#define TESTS_ANALYZER_H

#include "base/error.h"

#define hdb_fail(err, code, ...) (hdb_fail(err, code, __VA_ARGS__), (code))
#define hdb_fail_errno(err, ...) (hdb_fail_errno(err, __VA_ARGS__), HDB_EIO)
#define hdb_fail_memory(err, ...) (hdb_fail_memory(err, __VA_ARGS__), HDB_ENOMEM)

#endif
