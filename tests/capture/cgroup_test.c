/*
 * tests/capture/cgroup_test.c - memory limits in trees of cgroups of version 1, 2 and both, with
 * parents, container paths, missing and damaged files.
 */
#include "capture/cgroup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char top[256];

/* Writes `text` to the file `name` in the tree, and creates its directories. */
static void put(const char *name, const char *text)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *slash = strchr(path + strlen(top) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_tree(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)state;
	snprintf(top, sizeof(top), "%s/cgroup.XXXXXX", folder ? folder : "/tmp");
	return mkdtemp(top) ? 0 : -1;
}

static int remove_tree(void **state)
{
	char command[512];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	return system(command);
}

static struct cgroup_memory look(const char *text, bool is_found)
{
	const int fd = open(top, O_RDONLY | O_DIRECTORY);
	struct cgroup_memory m;

	assert_true(fd >= 0);
	assert_int_equal(cgroup_memory_read(fd, text, &m), is_found);
	close(fd);
	return m;
}

static void put_version_2(void)
{
	put("cgroup.controllers", "cpu memory\n");
	put("pod/memory.max", "1000\n");
	put("pod/memory.current", "900\n");
	put("pod/memory.events", "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\n");
	put("pod/java/memory.max", "max\n");
	put("pod/java/memory.current", "500\n");
	put("pod/java/memory.events", "oom_kill 1\n");
}

static void test_version_2(void **state)
{
	struct cgroup_memory m;

	(void)state;
	put_version_2();
	m = look("0::/pod/java\n", true);
	assert_int_equal(m.version, 2);
	assert_true(m.has_limit);
	assert_int_equal(m.limit, 1000);
	assert_int_equal(m.usage, 900);
	assert_int_equal(m.oom_kills, 2);
	put("pod/java/memory.max", "600\n");
	m = look("0::/pod/java\n", true);
	assert_int_equal(m.limit, 600);
	assert_int_equal(m.usage, 500);
	assert_int_equal(m.oom_kills, 1);
	/* An equal limit of a parent changes nothing. */
	put("pod/memory.max", "600\n");
	assert_int_equal(look("0::/pod/java\n", true).usage, 500);
}

static void test_no_limit(void **state)
{
	struct cgroup_memory m;

	(void)state;
	put_version_2();
	put("pod/memory.max", "max\n");
	m = look("0::/pod/java\n", true);
	assert_false(m.has_limit);
	assert_int_equal(m.usage, 500);
	/* The root of the tree has no files. */
	(void)look("0::/\n", false);
}

static void test_version_1(void **state)
{
	static const char text[] = "12:pids:/x\n4:cpu,memory:/docker/0123/sub\n0::/\n";
	struct cgroup_memory m;

	(void)state;
	put("memory/docker/0123/sub/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/docker/0123/sub/memory.usage_in_bytes", "7\n");
	put("memory/docker/0123/memory.limit_in_bytes", "2048\n");
	put("memory/docker/0123/memory.usage_in_bytes", "1024\n");
	put("memory/docker/0123/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("unified/cgroup.controllers", "\n");
	m = look(text, true);
	assert_int_equal(m.version, 1);
	assert_true(m.has_limit);
	assert_int_equal(m.limit, 2048);
	assert_int_equal(m.usage, 1024);
	assert_int_equal(m.oom_kills, 5);
}

/* In a container the mount begins at its own group, but the path may begin at the host's. */
static void test_container(void **state)
{
	(void)state;
	put("memory/memory.limit_in_bytes", "2048\n");
	put("memory/sub/memory.limit_in_bytes", "1024\n");
	assert_int_equal(look("4:memory:/docker/0123\n", true).limit, 2048);
	assert_int_equal(look("4:memory:/docker/0123/sub\n", true).limit, 1024);
	assert_int_equal(look("4:memory:/../other\n", true).limit, 2048);
}

static void test_hostile(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		":",
		"::",
		"0:",
		"0::",
		"0::x",
		"4:memory",
		"4:memory:",
		"4:memoryless:/pod\n",
		"4:cpu,:/pod\n",
		"memory\n:::\n4::memory:/pod\n",
	};
	char longer[6000];

	(void)state;
	put_version_2();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		(void)look(texts[i], false);
	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer, "0::/", 4);
	longer[sizeof(longer) - 1] = '\0';
	(void)look(longer, false);
	put("pod/memory.max", "damaged\n");
	put("pod/memory.events", "oom_kill_x 3\noom_kill");
	assert_false(look("0::/pod/java\n", true).has_limit);
	put("pod/memory.max", "");
	assert_false(look("0::/pod/java\n", true).has_limit);
	(void)look("0::/pod/../../../etc\n", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_version_2, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_no_limit, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_version_1, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_container, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_hostile, make_tree, remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
