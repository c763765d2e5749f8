/*
 * api/first_sizes.h - sizes of structures that callers make, in the first version of this soname.
 * Written by `make abi-baseline`.
 */
#ifndef API_FIRST_SIZES_H
#define API_FIRST_SIZES_H

/* clang-format off */
#define API_FIRST(theirs) \
	(size_t)_Generic(*(theirs), \
		struct hdb_import_options: 128, \
		struct hdb_import_result: 72, \
		struct hdb_output_options: 64, \
		struct hdb_output_result: 80, \
		struct hdb_convert_options: 48, \
		struct hdb_strip_options: 32, \
		struct hdb_redact_options: 64, \
		struct hdb_open_options: 88, \
		struct hdb_health: 96, \
		struct hdb_object_info: 64, \
		struct hdb_object_facts: 56, \
		struct hdb_scan_options: 48, \
		struct hdb_batch: 104, \
		struct hdb_class: 88, \
		struct hdb_slice: 48, \
		struct hdb_text: 40, \
		struct hdb_collection: 48, \
		struct hdb_entry: 88, \
		struct hdb_root: 40, \
		struct hdb_thread: 544, \
		struct hdb_frame: 4112, \
		struct hdb_row_filter: 48, \
		struct hdb_query_args: 96, \
		struct hdb_row_source: 56)
/* clang-format on */

#endif
