/*
 * hprofgen.c - writes HPROF files of a given shape and size, the same for the same seed.
 *
 * Exit codes are those of heapdb: 0 done, 2 usage, 4 system.
 */
#include "gen_shapes.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS_MAX UINT64_C(4000000000) /* the index of a database has 32 bits */

static const struct gen_shape *const shapes[] = {
	&gen_tree, &gen_list, &gen_ladder, &gen_ring,
	&gen_star, &gen_tail, &gen_random, &gen_service,
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

struct options {
	const struct gen_shape *shape;
	uint64_t objects, seed, id_size;
	bool is_shuffled;
	const char *out, *answers;
};

static void usage(FILE *to)
{
	fputs("usage: hprofgen SHAPE -o FILE [--objects N] [--seed S] [--id-size 4|8] [--answers FILE]\n"
	      "                [--shuffle]\n"
	      "\n"
	      "Writes an HPROF file. N may end in K, M or G (default 1M). --answers writes lines of\n"
	      "ID, retained size, dominator's ID (0x0: none) of up to 10,000 objects, first and last\n"
	      "included, where they are known by construction (marked *). --shuffle scatters these\n"
	      "shapes' nodes in memory.\n"
	      "\n",
	      to);
	for (size_t i = 0; i < SHAPES; i++)
		fprintf(to, "  %-8s%c %s\n", shapes[i]->name, shapes[i]->answers ? '*' : ' ',
			shapes[i]->help);
}

static int misused(const char *what, const char *value)
{
	fprintf(stderr, "hprofgen: %s %s\n", what, value);
	usage(stderr);
	return 2;
}

static bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMG";
	char *end;
	const char *unit;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	for (long i = unit ? unit - units + 1 : 0; i > 0; i--) {
		if (*out > UINT64_MAX / 1000)
			return false;
		*out *= 1000;
	}
	return end[unit != NULL] == 0 && *out >= min && *out <= max;
}

static int parse(int argc, char **argv, struct options *opt)
{
	static const struct option longs[] = {
		{ "objects", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "id-size", required_argument, NULL, 'i' },
		{ "answers", required_argument, NULL, 'a' },
		{ "shuffle", no_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool is_good = true;
	int c;

	while ((c = getopt_long(argc, argv, "o:h", longs, NULL)) >= 0 && is_good) {
		if (c == 'n')
			is_good = parse_number(optarg, 1, OBJECTS_MAX, &opt->objects);
		else if (c == 's')
			is_good = parse_number(optarg, 0, UINT64_MAX, &opt->seed);
		else if (c == 'i')
			is_good =
				parse_number(optarg, 4, 8, &opt->id_size) && opt->id_size % 4 == 0;
		else if (c == 'f')
			opt->is_shuffled = true;
		else if (c == 'o')
			opt->out = optarg;
		else if (c == 'a')
			opt->answers = optarg;
		else if (c == 'h')
			return usage(stdout), -1;
		else
			return usage(stderr), 2;
		if (!is_good)
			return misused("bad number", optarg);
	}
	for (size_t i = 0; optind + 1 == argc && i < SHAPES; i++)
		if (strcmp(argv[optind], shapes[i]->name) == 0)
			opt->shape = shapes[i];
	if (!opt->shape)
		return misused("no such shape:", optind < argc ? argv[optind] : "(none given)");
	if (!opt->out)
		return misused("missing:", "-o FILE");
	if (opt->answers && !opt->shape->answers)
		return misused("no answers are known for", opt->shape->name);
	return 0;
}

static int write_answers(const struct gen_run *run, const char *path)
{
	FILE *out = fopen(path, "w");
	int error;

	if (out) {
		run->shape->answers(run, out);
		error = ferror(out) ? EIO : 0;
		if (fclose(out) == 0 && !error)
			return 0;
		errno = error ? error : errno;
	}
	fprintf(stderr, "hprofgen: %s: %s\n", path, strerror(errno));
	return 4;
}

/* Writes the dump: the exit code. */
static int generate(struct gen_run *run, const struct options *opt)
{
	const uint64_t at_most = run->world.limit;

	run->shape->declare(run);
	gen_world_seal(&run->world);
	if (!run->shape->plan(run))
		return 2;
	if (gen_world_fits(&run->world)) {
		gen_world_write(&run->world);
		run->shape->write(run);
	}
	if (!gen_world_fits(&run->world)) {
		fprintf(stderr,
			"hprofgen: so many objects do not lie below 0x%" PRIx64
			" with IDs of %" PRIu64 " bytes\n",
			at_most, opt->id_size);
		return 2;
	}
	return opt->answers ? write_answers(run, opt->answers) : 0;
}

/* Removes what was begun, unless it is a device or a pipe. */
static void discard(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		(void)unlink(path);
}

int main(int argc, char **argv)
{
	struct options opt = { .objects = 1000000, .seed = 1, .id_size = 8 };
	struct gen_run run = { .objects = 0 };
	int rc = parse(argc, argv, &opt);

	if (rc)
		return rc < 0 ? 0 : rc;
	if (gen_world_open(&run.world, opt.out, (unsigned)opt.id_size, opt.seed) < 0) {
		fprintf(stderr, "hprofgen: %s: %s\n", opt.out, strerror(errno));
		return 4;
	}
	run.shape = opt.shape;
	run.objects = opt.objects;
	run.is_shuffled = opt.is_shuffled;
	rc = generate(&run, &opt);
	if (opt.shape->release)
		opt.shape->release(&run);
	if (gen_world_close(&run.world) < 0) {
		fprintf(stderr, "hprofgen: %s: %s\n", opt.out, strerror(errno));
		rc = rc ? rc : 4;
	}
	if (rc)
		discard(opt.out);
	return rc;
}
