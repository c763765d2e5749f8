/*
 * hprof/reader.c - strict readers of single HPROF records. See reader.h.
 *
 * Every length is checked against the file's size before its bytes are requested, so if a view
 * fails, the source cannot be read.
 */
#include "hprof/reader.h"

#include "base/bytes.h"
#include "hprof/parse.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

unsigned hprof_type_size(uint8_t type, unsigned id_size)
{
	switch (type) {
	case HPROF_OBJECT:
		return id_size;
	case HPROF_BOOLEAN:
	case HPROF_BYTE:
		return 1;
	case HPROF_CHAR:
	case HPROF_SHORT:
		return 2;
	case HPROF_FLOAT:
	case HPROF_INT:
		return 4;
	case HPROF_DOUBLE:
	case HPROF_LONG:
		return 8;
	default:
		return 0;
	}
}

const char *hprof_type_name(uint8_t type)
{
	static const char *const names[] = {
		[HPROF_OBJECT] = "object", [HPROF_BOOLEAN] = "boolean", [HPROF_CHAR] = "char",
		[HPROF_FLOAT] = "float",   [HPROF_DOUBLE] = "double",   [HPROF_BYTE] = "byte",
		[HPROF_SHORT] = "short",   [HPROF_INT] = "int",         [HPROF_LONG] = "long",
	};

	return type < BASE_COUNT(names) ? names[type] : NULL;
}

const char *hprof_tag_name(uint8_t tag)
{
	static const char *const names[256] = {
		[HPROF_UTF8] = "UTF8",
		[HPROF_LOAD_CLASS] = "LOAD CLASS",
		[HPROF_UNLOAD_CLASS] = "UNLOAD CLASS",
		[HPROF_FRAME] = "FRAME",
		[HPROF_TRACE] = "TRACE",
		[HPROF_ALLOC_SITES] = "ALLOC SITES",
		[HPROF_HEAP_SUMMARY] = "HEAP SUMMARY",
		[HPROF_START_THREAD] = "START THREAD",
		[HPROF_END_THREAD] = "END THREAD",
		[HPROF_HEAP_DUMP] = "HEAP DUMP",
		[HPROF_CPU_SAMPLES] = "CPU SAMPLES",
		[HPROF_CONTROL_SETTINGS] = "CONTROL SETTINGS",
		[HPROF_REDACTION_MARK] = "REDACTED",
		[HPROF_HEAP_DUMP_SEGMENT] = "HEAP DUMP SEGMENT",
		[HPROF_HEAP_DUMP_END] = "HEAP DUMP END",
	};

	return names[tag];
}

const char *hprof_sub_name(uint8_t tag)
{
	static const char *const names[256] = {
		[HPROF_ROOT_UNKNOWN] = "ROOT UNKNOWN",
		[HPROF_ROOT_JNI_GLOBAL] = "ROOT JNI GLOBAL",
		[HPROF_ROOT_JNI_LOCAL] = "ROOT JNI LOCAL",
		[HPROF_ROOT_JAVA_FRAME] = "ROOT JAVA FRAME",
		[HPROF_ROOT_NATIVE_STACK] = "ROOT NATIVE STACK",
		[HPROF_ROOT_STICKY_CLASS] = "ROOT STICKY CLASS",
		[HPROF_ROOT_THREAD_BLOCK] = "ROOT THREAD BLOCK",
		[HPROF_ROOT_MONITOR_USED] = "ROOT MONITOR USED",
		[HPROF_ROOT_THREAD_OBJECT] = "ROOT THREAD OBJECT",
		[HPROF_CLASS_DUMP] = "CLASS DUMP",
		[HPROF_INSTANCE_DUMP] = "INSTANCE DUMP",
		[HPROF_OBJECT_ARRAY_DUMP] = "OBJECT ARRAY DUMP",
		[HPROF_PRIMITIVE_ARRAY_DUMP] = "PRIMITIVE ARRAY DUMP",
		[HPROF_ROOT_INTERNED_STRING] = "ROOT INTERNED STRING",
		[HPROF_ROOT_FINALIZING] = "ROOT FINALIZING",
		[HPROF_ROOT_DEBUGGER] = "ROOT DEBUGGER",
		[HPROF_ROOT_REFERENCE_CLEANUP] = "ROOT REFERENCE CLEANUP",
		[HPROF_ROOT_VM_INTERNAL] = "ROOT VM INTERNAL",
		[HPROF_ROOT_JNI_MONITOR] = "ROOT JNI MONITOR",
		[HPROF_ROOT_UNREACHABLE] = "ROOT UNREACHABLE",
		[HPROF_PRIMITIVE_ARRAY_NODATA] = "PRIMITIVE ARRAY NODATA",
		[HPROF_HEAP_DUMP_INFO] = "HEAP DUMP INFO",
	};

	return names[tag];
}

bool hprof_sub_is_root(uint8_t tag)
{
	return (tag >= HPROF_ROOT_JNI_GLOBAL && tag <= HPROF_ROOT_THREAD_OBJECT) ||
	       (tag >= HPROF_ROOT_INTERNED_STRING && tag <= HPROF_ROOT_JNI_MONITOR) ||
	       tag == HPROF_ROOT_UNREACHABLE || tag == HPROF_ROOT_UNKNOWN;
}

/*
 * Other file formats that users may pass by mistake, recognised by their first FOREIGN_SIZE bytes.
 */
#define FOREIGN_SIZE 512
static const char *foreign_name(const uint8_t *p, uint64_t size)
{
	static const struct {
		const char *magic;
		unsigned size;
		const char *name;
	} kinds[] = {
		{ "\x1f\x8b", 2, "gzip data (unpack it first)" },
		{ "PK\x03\x04", 4, "a zip archive (unpack it first)" },
		{ "\x28\xb5\x2f\xfd", 4, "Zstandard data (unpack it first)" },
		{ "\xfd"
		  "7zXZ",
		  5, "xz data (unpack it first)" },
		{ "BZh", 3, "bzip2 data (unpack it first)" },
		{ "FLR\0", 4, "a Java Flight Recorder recording" },
		{ "\x00\x12portable heap dump", 20,
		  "an OpenJ9 portable heap dump (heapdb convert writes it as HPROF)" },
		{ "0SECTION", 8, "a javacore (the heap is in the heapdump*.phd file next to it)" },
		{ "MDMP", 4,
		  "a Windows minidump, such as a system dump of OpenJ9 (jdmpview extracts a heap "
		  "dump)" },
		{ "\xca\xfe\xba\xbe", 4, "a Java class file" },
	};

	for (unsigned i = 0; i < BASE_COUNT(kinds); i++) {
		if (size >= kinds[i].size && !memcmp(p, kinds[i].magic, kinds[i].size))
			return kinds[i].name;
	}
	if (size >= 18 && !memcmp(p,
				  "\x7f"
				  "ELF",
				  4))
		return p[16] == 4 || p[17] == 4 ?
			       "an ELF core dump (HotSpot's `jhsdb jmap --binaryheap` or OpenJ9's "
			       "jdmpview extracts a heap dump)" :
			       "an ELF file";
	if (size >= 20 && !memcmp(p + 16, "\xde\xc0\xef\xbe", 4))
		return "a database of heapdb (pass the dump it was imported from)";
	if (size >= 262 && !memcmp(p + 257, "ustar", 5))
		return "a tar archive (unpack it first)";
	/*
	 * A trace is a sequence of packets: field 1, length-delimited, with the fields of the
	 * packet inside.
	 */
	if (size >= 4 && p[0] == 0x0a && p[1] != 0 && p[2] >= 0x08 && (p[2] & 7) <= 2 &&
	    p[2] < 0x7f && (p[1] < 0x20 || p[1] > 0x7e))
		return "possibly a Perfetto trace, which can only be read from a file (heapdb convert "
		       "writes its heap as HPROF)";
	for (uint64_t i = 0; i < size && i < 64; i++) {
		if ((p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t') || p[i] == 0x7f)
			return NULL;
	}
	return "text";
}

#define MAGIC "JAVA PROFILE 1.0."
#define MAGIC_SIZE 17u  /* without the version's last digit */
#define HEADER_SIZE 31u /* magic, digit, zero, u4 id size, u8 time */

int hprof_open(struct base_source *source, struct hprof_file *out, struct hdb_error *err)
{
	BASE_VIEW(view, source);
	const uint64_t size = source->size < HEADER_SIZE ? source->size : HEADER_SIZE;
	const uint64_t magic_size = size < MAGIC_SIZE ? size : MAGIC_SIZE;
	const uint8_t *p;

	if (size == 0)
		return hdb_fail(err, HDB_EFORMAT, "the file is empty, not an HPROF heap dump");
	p = base_view_at(&view, 0, size, err);
	if (!p)
		return hprof_view_failed(err);
	if (memcmp(p, MAGIC, (size_t)magic_size)) {
		const uint64_t more = source->size < FOREIGN_SIZE ? source->size : FOREIGN_SIZE;
		const char *name;

		p = base_view_at(&view, 0, more, err);
		if (!p)
			return hprof_view_failed(err);
		name = foreign_name(p, more);
		if (size >= 13 && !memcmp(p, MAGIC, 13))
			return hdb_fail(err, HDB_EFORMAT,
					"unknown HPROF version: expected \"JAVA PROFILE 1.0.1\", "
					"1.0.2 or 1.0.3");
		if (name)
			return hdb_fail(err, HDB_EFORMAT, "not an HPROF heap dump but %s", name);
		return hdb_fail(err, HDB_EFORMAT,
				"not an HPROF heap dump: it starts with 0x%02x 0x%02x instead of "
				"\"JAVA PROFILE\"",
				p[0], size > 1 ? p[1] : 0);
	}
	if (size < HEADER_SIZE)
		return hdb_fail(err, HDB_ETRUNC,
				"truncated HPROF header: %" PRIu64 " of %u bytes present", size,
				HEADER_SIZE);
	if (p[17] < '1' || p[17] > '3' || p[18] != 0)
		return hdb_fail(err, HDB_EFORMAT,
				"unknown HPROF version: expected \"JAVA PROFILE 1.0.1\", 1.0.2 or "
				"1.0.3");
	*out = (struct hprof_file){
		.source = source,
		.version = (enum hprof_version)(p[17] - '0'),
		.id_size = be32(p + 19),
		.timestamp_ms = be64(p + 23),
		.first_record = HEADER_SIZE,
	};
	if (out->id_size != 4 && out->id_size != 8)
		return hdb_fail(err, HDB_EFORMAT,
				"HPROF header: ID size %u at offset 19 (expected 4 or 8)",
				out->id_size);
	return HDB_OK;
}

/* Returns the first `need` bytes of a record's body. Returns NULL and sets err on failure. */
static const uint8_t *body_at(const struct hprof_file *file, struct base_view *view,
			      const struct hprof_record *rec, uint64_t need, struct hdb_error *err)
{
	const char *name = hprof_tag_name(rec->tag);
	const uint64_t size = file->source->size;

	assert(rec->body_offset > rec->offset);
	if (rec->body_size < need || rec->body_offset > size || need > size - rec->body_offset) {
		hdb_fail(err, HDB_EFORMAT,
			 "%s record at offset %" PRIu64 ": body of %" PRIu64 " bytes is too "
			 "short (needs %" PRIu64 ")",
			 name ? name : "unknown", rec->offset, rec->body_size, need);
		return NULL;
	}
	return base_view_at(view, rec->body_offset, need, err);
}

/* Returns the error code after body_at returned NULL: the code in *err, or HDB_EFORMAT. */
static int body_failed(const struct hdb_error *err)
{
	return err && err->code < 0 ? err->code : HDB_EFORMAT;
}

int hprof_read_utf8(const struct hprof_file *file, struct base_view *view,
		    const struct hprof_record *rec, struct hprof_utf8 *out, struct hdb_error *err)
{
	const unsigned id = file->id_size;
	const uint8_t *p = body_at(file, view, rec, rec->body_size < id ? id : rec->body_size, err);

	assert(rec->tag == HPROF_UTF8);
	if (!p)
		return body_failed(err);
	out->string_id = be_id(p, id);
	out->text = p + id;
	out->text_size = rec->body_size - id;
	out->text_offset = rec->body_offset + id;
	return HDB_OK;
}

int hprof_read_load_class(const struct hprof_file *file, struct base_view *view,
			  const struct hprof_record *rec, struct hprof_load_class *out,
			  struct hdb_error *err)
{
	const unsigned id = file->id_size;
	const uint8_t *p = body_at(file, view, rec, 8 + 2 * (uint64_t)id, err);

	assert(rec->tag == HPROF_LOAD_CLASS);
	if (!p)
		return body_failed(err);
	out->class_serial = be32(p);
	out->class_id = be_id(p + 4, id);
	out->trace_serial = be32(p + 4 + id);
	out->name_string_id = be_id(p + 8 + id, id);
	return HDB_OK;
}

int hprof_read_serial(const struct hprof_file *file, struct base_view *view,
		      const struct hprof_record *rec, uint32_t *serial, struct hdb_error *err)
{
	const uint8_t *p = body_at(file, view, rec, 4, err);

	if (!p)
		return body_failed(err);
	*serial = be32(p);
	return HDB_OK;
}

int hprof_read_frame(const struct hprof_file *file, struct base_view *view,
		     const struct hprof_record *rec, struct hprof_frame *out, struct hdb_error *err)
{
	const unsigned id = file->id_size;
	const uint8_t *p = body_at(file, view, rec, 8 + 4 * (uint64_t)id, err);

	assert(rec->tag == HPROF_FRAME);
	if (!p)
		return body_failed(err);
	out->frame_id = be_id(p, id);
	out->method_string_id = be_id(p + id, id);
	out->signature_string_id = be_id(p + 2 * id, id);
	out->source_string_id = be_id(p + 3 * id, id);
	out->class_serial = be32(p + 4 * id);
	out->line = (int32_t)be32(p + 4 * id + 4);
	return HDB_OK;
}

int hprof_read_trace(const struct hprof_file *file, struct base_view *view,
		     const struct hprof_record *rec, struct hprof_trace *out, struct hdb_error *err)
{
	const uint8_t *p = body_at(file, view, rec, 12, err);

	assert(rec->tag == HPROF_TRACE);
	if (!p)
		return body_failed(err);
	out->trace_serial = be32(p);
	out->thread_serial = be32(p + 4);
	out->frame_count = be32(p + 8);
	out->frames_offset = rec->body_offset + 12;
	if ((rec->body_size - 12) / file->id_size < out->frame_count)
		return hdb_fail(err, HDB_EFORMAT,
				"TRACE record at offset %" PRIu64 ": %" PRIu32 " frames do not "
				"fit in a body of %" PRIu64 " bytes",
				rec->offset, out->frame_count, rec->body_size);
	return HDB_OK;
}

int hprof_read_start_thread(const struct hprof_file *file, struct base_view *view,
			    const struct hprof_record *rec, struct hprof_start_thread *out,
			    struct hdb_error *err)
{
	const unsigned id = file->id_size;
	const uint8_t *p = body_at(file, view, rec, 8 + 4 * (uint64_t)id, err);

	assert(rec->tag == HPROF_START_THREAD);
	if (!p)
		return body_failed(err);
	out->thread_serial = be32(p);
	out->thread_id = be_id(p + 4, id);
	out->trace_serial = be32(p + 4 + id);
	out->name_string_id = be_id(p + 8 + id, id);
	out->group_name_string_id = be_id(p + 8 + 2 * id, id);
	out->parent_group_name_string_id = be_id(p + 8 + 3 * id, id);
	return HDB_OK;
}

int hprof_read_heap_summary(const struct hprof_file *file, struct base_view *view,
			    const struct hprof_record *rec, struct hprof_heap_summary *out,
			    struct hdb_error *err)
{
	const uint8_t *p = body_at(file, view, rec, 24, err);

	assert(rec->tag == HPROF_HEAP_SUMMARY);
	if (!p)
		return body_failed(err);
	out->live_bytes = be32(p);
	out->live_instances = be32(p + 4);
	out->allocated_bytes = be64(p + 8);
	out->allocated_instances = be64(p + 16);
	return HDB_OK;
}

int hprof_read_alloc_sites(const struct hprof_file *file, struct base_view *view,
			   const struct hprof_record *rec, struct hprof_alloc_sites *out,
			   struct hdb_error *err)
{
	const uint8_t *p = body_at(file, view, rec, 34, err);
	uint64_t fit;

	assert(rec->tag == HPROF_ALLOC_SITES);
	if (!p)
		return body_failed(err);
	out->flags = be16(p);
	out->cutoff_ratio_bits = be32(p + 2);
	out->live_bytes = be32(p + 6);
	out->live_instances = be32(p + 10);
	out->allocated_bytes = be64(p + 14);
	out->allocated_instances = be64(p + 22);
	out->site_count = be32(p + 30);
	out->sites_offset = rec->body_offset + 34;
	fit = (rec->body_size - 34) / HPROF_ALLOC_SITE_SIZE;
	if (out->site_count > fit)
		out->site_count = (uint32_t)fit;
	return HDB_OK;
}

int hprof_read_alloc_site(struct base_view *view, uint64_t offset, struct hprof_alloc_site *out,
			  struct hdb_error *err)
{
	const uint8_t *p = base_view_at(view, offset, HPROF_ALLOC_SITE_SIZE, err);

	if (!p)
		return hprof_view_failed(err);
	out->array_type = p[0];
	out->class_serial = be32(p + 1);
	out->trace_serial = be32(p + 5);
	out->live_bytes = be32(p + 9);
	out->live_instances = be32(p + 13);
	out->allocated_bytes = be32(p + 17);
	out->allocated_instances = be32(p + 21);
	return HDB_OK;
}

int hprof_read_cpu_samples(const struct hprof_file *file, struct base_view *view,
			   const struct hprof_record *rec, struct hprof_cpu_samples *out,
			   struct hdb_error *err)
{
	const uint8_t *p = body_at(file, view, rec, 8, err);

	assert(rec->tag == HPROF_CPU_SAMPLES);
	if (!p)
		return body_failed(err);
	out->sample_count = be32(p);
	out->trace_count = be32(p + 4);
	out->traces_offset = rec->body_offset + 8;
	if ((rec->body_size - 8) / 8 < out->trace_count)
		return hdb_fail(err, HDB_EFORMAT,
				"CPU SAMPLES record at offset %" PRIu64 ": %" PRIu32 " traces "
				"do not fit in a body of %" PRIu64 " bytes",
				rec->offset, out->trace_count, rec->body_size);
	return HDB_OK;
}

int hprof_read_control_settings(const struct hprof_file *file, struct base_view *view,
				const struct hprof_record *rec, struct hprof_control_settings *out,
				struct hdb_error *err)
{
	const uint8_t *p = body_at(file, view, rec, 6, err);

	assert(rec->tag == HPROF_CONTROL_SETTINGS);
	if (!p)
		return body_failed(err);
	out->flags = be32(p);
	out->trace_depth = be16(p + 4);
	return HDB_OK;
}

enum hprof_redaction hprof_redaction_of(const uint8_t *text, uint64_t size)
{
	static const struct {
		const char *text;
		size_t size;
		enum hprof_redaction is;
	} markers[] = {
		{ HPROF_REDACTED, sizeof(HPROF_REDACTED) - 1, HPROF_IS_REDACTED },
		{ HPROF_HASHED, sizeof(HPROF_HASHED) - 1, HPROF_IS_HASHED },
		{ HPROF_STRIPPED, sizeof(HPROF_STRIPPED) - 1, HPROF_IS_STRIPPED },
	};

	for (size_t i = 0; i < BASE_COUNT(markers); i++)
		if (markers[i].size == size && memcmp(markers[i].text, text, size) == 0)
			return markers[i].is;
	return HPROF_IS_WHOLE;
}

bool hprof_phd_of(const uint8_t *text, uint64_t size, struct hprof_phd *out)
{
	struct hprof_phd phd;
	char line[sizeof(phd.by) + sizeof(HPROF_PHD_FORMAT)];
	int used = 0;

	if (size < HPROF_PHD_SAME || memcmp(text, HPROF_PHD_FORMAT, HPROF_PHD_SAME) != 0)
		return false;
	(void)snprintf(line, sizeof(line), "%.*s", (int)size, (const char *)text);
	if (sscanf(line, HPROF_PHD_FORMAT "%n", &phd.version, &phd.object_header,
		   &phd.primitive_header, &phd.reference, &used) != 4 ||
	    !used || !phd.version || phd.object_header - 4 > 60 || phd.primitive_header - 4 > 60 ||
	    (phd.reference != 4 && phd.reference != 8))
		return false;
	(void)snprintf(phd.by, sizeof(phd.by), "%s", line + used);
	*out = phd;
	return true;
}
