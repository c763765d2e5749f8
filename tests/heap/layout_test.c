/*
 * layout_test.c - a layout has a limit: a class whose superclasses have more than a million fields
 * is refused, not laid out.
 */
#include "heap/heap_layout.h"

#include "import/import.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define FIELDS 65535u
#define CLASSES 17u /* each with this many fields; C16 extends all other classes */

static void test_fields(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hprof_field *fields = calloc(FIELDS, sizeof(*fields));
	static char dump[512], db[512];
	struct hdb_error err = { 0 };
	struct base_vec parts = { 0 };
	struct base_work work;
	struct heap *heap = NULL;
	struct hw w;

	(void)state;
	(void)snprintf(dump, sizeof(dump), "%s", temp_path("layout.hprof"));
	(void)snprintf(db, sizeof(db), "%s", temp_path("layout.heapdb"));
	assert_non_null(fields);
	for (unsigned i = 0; i < FIELDS; i++)
		fields[i] = (struct hprof_field){ 1, HPROF_BYTE };
	hw_init(&w, HPROF_1_0_2, 4, 0);
	hw_utf8(&w, 1, "f");
	for (unsigned c = 0; c < CLASSES; c++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "C%u", c);
		hw_utf8(&w, 10 + c, name);
		hw_load_class(&w, 1 + c, 0x1000 + c * 16, 0, 10 + c);
	}
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned c = 0; c < CLASSES; c++)
		hw_class(&w, &(struct hw_class){ .id = 0x1000 + c * 16,
						 .super_id = c ? 0x1000 + (c - 1) * 16 : 0,
						 .instance_size = (c + 1) * FIELDS,
						 .fields = fields,
						 .field_count = FIELDS });
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, dump), 0);
	hw_release(&w);
	free(fields);
	base_work_init(&work, 0, 1, NULL);
	if (import_dump((struct import_paths){ .dump = dump, .database = db }, &opt, &work, NULL,
			&err) != HDB_OK ||
	    heap_open(db, dump, &work, &heap, &err) != HDB_OK)
		fail_msg("%s", err.message);
	assert_int_equal(heap_lay_out(heap, heap_class_by_name(heap, "C0", 0), &parts, &err),
			 HDB_OK);
	base_vec_release(&parts);
	assert_int_equal(heap_lay_out(heap, heap_class_by_name(heap, "C16", 0), &parts, &err),
			 HDB_ELIMIT);
	assert_string_equal(err.message,
			    "too many fields in a class and its superclasses (limit 1048576)");
	base_vec_release(&parts);
	heap_close(heap);
	base_work_release(&work);
	(void)unlink(dump);
	temp_remove_db(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fields) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
