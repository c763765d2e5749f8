/*
 * bench/peak.c - runs a command and measures its time and memory.
 *
 *   peak [-n RUNS] [-e FILE]... [-o FILE] COMMAND [ARGUMENT...]
 *
 * Writes a line of tab-separated values to -o FILE or to standard error: wall, user and system
 * seconds, peak memory in KB (resident, anonymous, files and shared), and the exit code. Anonymous
 * memory is read from /proc every 5 ms and includes child processes. With several runs, prints the
 * times of the median run and the largest memory of all runs. -e FILE drops the file from the page
 * cache before each run, unless another process maps it. Exits with the command's code, or 127 if
 * it cannot run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 101
#define FILES_MAX 16
#define PROCESSES_MAX 64
#define SAMPLE_NS 5000000L

struct run {
	double wall, user, sys;           /* seconds */
	long resident, anonymous, mapped; /* KB, at most */
	int exit_code;
};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Reads a small file in /proc. Returns an empty string on failure. */
static void slurp(const char *path, char *buf, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		(void)close(fd);
}

static long field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

/* Sums the memory of the command and its descendants. */
static void sample(pid_t pid, struct run *run)
{
	long processes[PROCESSES_MAX] = { pid };
	long anonymous = 0, mapped = 0;

	for (int i = 0, count = 1; i < count; i++) {
		char path[64], text[4096], *at = text;

		(void)snprintf(path, sizeof(path), "/proc/%ld/status", processes[i]);
		slurp(path, text, sizeof(text));
		anonymous += field(text, "RssAnon:");
		mapped += field(text, "RssFile:") + field(text, "RssShmem:");
		(void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", processes[i],
			       processes[i]);
		slurp(path, text, sizeof(text));
		while (count < PROCESSES_MAX) {
			char *end;
			const long child = strtol(at, &end, 10);

			if (end == at)
				break;
			processes[count++] = child;
			at = end;
		}
	}
	run->anonymous = anonymous > run->anonymous ? anonymous : run->anonymous;
	run->mapped = mapped > run->mapped ? mapped : run->mapped;
}

static int run_once(char **argv, struct run *run)
{
	const struct timespec pause = { .tv_nsec = SAMPLE_NS };
	sigset_t chld;
	struct rusage usage;
	double start;
	int status;
	pid_t pid;

	memset(run, 0, sizeof(*run));
	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, NULL);
	start = now();
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		(void)sigprocmask(SIG_UNBLOCK, &chld, NULL);
		(void)execvp(argv[0], argv);
		fprintf(stderr, "peak: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	while (wait4(pid, &status, WNOHANG, &usage) == 0) {
		sample(pid, run);
		(void)sigtimedwait(&chld, NULL, &pause);
	}
	run->wall = now() - start;
	run->user = seconds(usage.ru_utime);
	run->sys = seconds(usage.ru_stime);
	run->resident = usage.ru_maxrss;
	run->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

static void evict(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fdatasync(fd);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	(void)close(fd);
}

static int by_wall(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->wall > y->wall) - (x->wall < y->wall);
}

static int report(struct run *runs, int count, const char *path)
{
	FILE *out = path ? fopen(path, "w") : stderr;
	struct run most = runs[0];
	const struct run *median;

	for (int i = 1; i < count; i++) {
		const struct run *r = &runs[i];

		most.resident = r->resident > most.resident ? r->resident : most.resident;
		most.anonymous = r->anonymous > most.anonymous ? r->anonymous : most.anonymous;
		most.mapped = r->mapped > most.mapped ? r->mapped : most.mapped;
		most.exit_code = r->exit_code ? r->exit_code : most.exit_code;
	}
	qsort(runs, (size_t)count, sizeof(*runs), by_wall);
	median = &runs[count / 2];
	if (!out) {
		fprintf(stderr, "peak: %s: %s\n", path, strerror(errno));
		return 127;
	}
	fprintf(out, "%.4f\t%.4f\t%.4f\t%ld\t%ld\t%ld\t%d\n", median->wall, median->user,
		median->sys, most.resident, most.anonymous, most.mapped, most.exit_code);
	if (path && fclose(out) != 0)
		return 127;
	return most.exit_code;
}

int main(int argc, char **argv)
{
	static struct run runs[RUNS_MAX];
	const char *files[FILES_MAX];
	const char *path = NULL;
	int file_count = 0, count = 1, c;

	while ((c = getopt(argc, argv, "+n:e:o:")) >= 0) {
		if (c == 'n')
			count = atoi(optarg);
		else if (c == 'o')
			path = optarg;
		else if (c == 'e' && file_count < FILES_MAX)
			files[file_count++] = optarg;
		else
			return 2;
	}
	if (optind == argc || count < 1 || count > RUNS_MAX) {
		fputs("usage: peak [-n RUNS] [-e FILE]... [-o FILE] COMMAND [ARGUMENT...]\n",
		      stderr);
		return 2;
	}
	for (int i = 0; i < count; i++) {
		for (int f = 0; f < file_count; f++)
			evict(files[f]);
		if (run_once(argv + optind, &runs[i]) < 0) {
			fprintf(stderr, "peak: fork: %s\n", strerror(errno));
			return 127;
		}
	}
	return report(runs, count, path);
}
