/*
 * store/pages_private.h - LMDB's page layout, and declarations shared by pages.c and pages_check.c.
 */
#ifndef STORE_PAGES_PRIVATE_H
#define STORE_PAGES_PRIVATE_H

#include "base/bytes.h"
#include "store/pages.h"

/*
 * MDB_page: u64 number, u16 unused, u16 flags, u16 lower, u16 upper (or u32 number of pages), u16
 * offsets of nodes.
 */
enum { PAGE_FLAGS = 10, PAGE_LOWER = 12, PAGE_UPPER = 14, PAGE_RUN = 12, PAGE_HEAD = 16 };
enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };

/*
 * MDB_node: u16 low, u16 high, u16 flags, u16 key size, key. Low and high are the size of the
 * value, which follows the key (with BIG_DATA, the u64 number of the value's first page follows the
 * key instead). In a branch page, low, high and flags are the number of the child page.
 */
enum { NODE_FLAGS = 4, NODE_KEY_SIZE = 6, NODE_HEAD = 8 };
enum { NODE_BIG_DATA = 1 };

/* Reports damage of a page. */
int store_pages_damaged(const struct pages *pages, uint64_t page_no, const char *what,
			struct hdb_error *err);

/* Returns the key of entry i of a checked page, borrowed. Sets *size to its number of bytes. */
const uint8_t *store_pages_key(const uint8_t *page, unsigned i, uint64_t *size);

/* Compares keys in the order of the tree. */
int store_pages_compare(const struct pages_tree *tree, const void *a, uint64_t a_size,
			const void *b, uint64_t b_size);

#endif
