/* base/platform.c - the replacements declared in platform.h. Empty unless PORTABLE is defined. */
#ifdef PORTABLE

#include "base/platform.h"

#include "base/processor.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#undef socket
#undef strerror_r

#define RANDOM_BYTES 16
/* Values below this limit are error numbers and not pointers to strings. */
#define NO_POINTER 4096
/* Number of bytes copied or cleared at a time. */
#define COPY_BYTES 65536

ssize_t portable_getrandom(void *bytes, size_t size, unsigned flags)
{
	const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, bytes, size);

	(void)flags;
	if (fd >= 0)
		(void)close(fd);
	return n;
}

static uint8_t random_bytes[RANDOM_BYTES];

/* Sets the random bytes. Runs before main, so that all threads see the same bytes. */
__attribute__((constructor)) static void set_random(void)
{
	(void)!portable_getrandom(random_bytes, sizeof(random_bytes), 0);
}

unsigned long portable_getauxval(unsigned long type)
{
	return type == AT_RANDOM ? (unsigned long)(uintptr_t)random_bytes : 0;
}

void *portable_memrchr(const void *bytes, int c, size_t size)
{
	const uint8_t *p = bytes;

	while (size && p[size - 1] != (uint8_t)c)
		size--;
	return size ? (void *)(uintptr_t)(p + size - 1) : NULL;
}

void portable_explicit_bzero(void *bytes, size_t size)
{
	memset(bytes, 0, size);
	/*
	 * Without this statement, the compiler would remove the stores, because nothing reads the
	 * memory.
	 */
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

/*
 * Returns the message. Depending on the system, strerror_r returns the string, or returns a small
 * number and writes the string to `out`.
 */
const char *portable_strerror_r(int number, char *out, size_t size)
{
	uintptr_t text;

	out[0] = '\0';
	text = (uintptr_t)strerror_r(number, out, size);
	return text < NO_POINTER ? out : (const char *)text;
}

#ifdef __x86_64__
static struct {
	bool has_bits, has_vectors;
	unsigned amd_family; /* 0 means another manufacturer */
} processor;

/*
 * Detects the instruction sets that the processor supports. Runs before main. Vector instructions
 * also require that the operating system saves their registers.
 */
__attribute__((constructor)) static void ask_processor(void)
{
	const unsigned both = bit_BMI | bit_BMI2;
	unsigned a = 0, b = 0, c = 0, d = 0, low = 0, high;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		const unsigned more = b;

		(void)__get_cpuid(1, &a, &b, &c, &d);
		if (c & bit_OSXSAVE)
			__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
		processor.has_bits = (c & bit_POPCNT) && (more & both) == both;
		processor.has_vectors = (more & bit_AVX2) && (low & 6) == 6;
		processor.amd_family = ((a >> 8) & 15) + ((a >> 20) & 255);
	}
	(void)__get_cpuid(0, &a, &b, &c, &d);
	if (c != signature_AMD_ecx)
		processor.amd_family = 0;
}

bool portable_cpu_supports(const char *name)
{
	return strcmp(name, "avx2") == 0 ? processor.has_vectors : processor.has_bits;
}

bool portable_cpu_is(const char *name)
{
	return processor.amd_family == (strcmp(name, "amdfam15h") == 0 ? 0x15 : 0x17);
}
#endif

/* ---- sorting ---- */

struct order {
	size_t size;
	int (*compare)(const void *a, const void *b, void *ctx);
	void *ctx;
};

/* Merges from[low..mid) and from[mid..high) into the same range of `to`. */
static void merge(const struct order *o, const char *from, char *to, const size_t bounds[3])
{
	size_t a = bounds[0], b = bounds[1];

	for (size_t i = bounds[0]; i < bounds[2]; i++) {
		const bool is_first =
			b == bounds[2] ||
			(a < bounds[1] &&
			 o->compare(from + a * o->size, from + b * o->size, o->ctx) <= 0);

		memcpy(to + i * o->size, from + (is_first ? a++ : b++) * o->size, o->size);
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void exchange(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const char t = a[i];

		a[i] = b[i];
		b[i] = t;
	}
}

/* Sorts by insertion, which is slow but needs no memory. */
static void insert_all(const struct order *o, char *base, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		char *p = base + i * o->size;

		for (; p > base && o->compare(p - o->size, p, o->ctx) > 0; p -= o->size)
			exchange(p - o->size, p, o->size);
	}
}

void portable_qsort_r(void *base, size_t count, size_t size,
		      int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
	const struct order order = { size, compare, ctx };
	char *from = base, *more = count > 1 ? calloc(count, size) : NULL, *to = more;

	if (!more)
		insert_all(&order, base, count);
	for (size_t run = 1; more && run < count; run *= 2) {
		char *next = from;

		for (size_t low = 0; low < count; low += 2 * run)
			merge(&order, from, to,
			      (size_t[]){ low, least(low + run, count),
					  least(low + 2 * run, count) });
		from = to;
		to = next;
	}
	if (more && from == more)
		memcpy(base, more, count * size);
	free(more);
}

/* ---- files ---- */

int portable_memfd_create(const char *name, unsigned flags)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, r;

	(void)flags;
	r = snprintf(path, sizeof(path), "%s/%s-XXXXXX", folder && *folder ? folder : "/tmp", name);
	if (r < 0 || (size_t)r >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

int portable_fallocate(int fd, off_t offset, off_t size)
{
	static const char zeros[COPY_BYTES];

	while (size > 0) {
		const size_t part = size < COPY_BYTES ? (size_t)size : COPY_BYTES;
		const ssize_t n = pwrite(fd, zeros, part, offset);

		if (n < 0 && errno != EINTR)
			return errno;
		offset += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	return 0;
}

int portable_statx(int folder, const char *path, int flags, unsigned mask,
		   struct portable_statx *out)
{
	struct stat st;

	(void)mask;
	if (fstatat(folder, path, &st, flags) != 0)
		return -1;
	*out = (struct portable_statx){
		.stx_mask = STATX_TYPE | STATX_MTIME,
		.stx_mode = st.st_mode,
		.stx_mtime = { st.st_mtim.tv_sec, (uint32_t)st.st_mtim.tv_nsec },
	};
#ifdef st_birthtim
	out->stx_mask |= STATX_BTIME;
	out->stx_btime = (struct portable_statx_timestamp){ st.st_birthtim.tv_sec,
							    (uint32_t)st.st_birthtim.tv_nsec };
#endif
	return 0;
}

/* ---- pipes and sockets ---- */

static int set_flags(int fd, int closes_on_exec, int does_not_wait)
{
	if (fd >= 0 && ((closes_on_exec && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) ||
			(does_not_wait && fcntl(fd, F_SETFL, O_NONBLOCK) < 0)))
		return -1;
	return fd;
}

int portable_pipe2(int ends[2], int flags)
{
	if (pipe(ends) < 0)
		return -1;
	return set_flags(ends[0], flags & O_CLOEXEC, flags & O_NONBLOCK) < 0 ||
			       set_flags(ends[1], flags & O_CLOEXEC, flags & O_NONBLOCK) < 0 ?
		       -1 :
		       0;
}

int portable_socket(int domain, int type, int protocol)
{
	return set_flags(socket(domain, type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), protocol),
			 type & SOCK_CLOEXEC, type & SOCK_NONBLOCK);
}

ssize_t portable_splice(int from, int to, size_t size)
{
	char bytes[COPY_BYTES];
	const ssize_t n = read(from, bytes, least(size, sizeof(bytes)));
	ssize_t done = 0;

	while (done < n) {
		const ssize_t written = write(to, bytes + done, (size_t)(n - done));

		if (written < 0 && errno != EINTR)
			return -1;
		done += written > 0 ? written : 0;
	}
	return n;
}

#endif
