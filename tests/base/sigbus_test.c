/*
 * sigbus_test.c - the SIGBUS handler together with other handlers. Faults outside heapdb's maps are
 * passed to the previous handler, or end the process as they would without heapdb, and never cause
 * a loop. A full table of maps is an error.
 */
#include "base/source.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Exit code of a child process whose own handler was called. */
#define OWN 7

static volatile sig_atomic_t has_been;
static struct sigaction ours;

static void own_plain(int sig)
{
	(void)sig;
	_exit(OWN);
}

static void own_info(int sig, siginfo_t *info, void *ucontext)
{
	(void)sig;
	(void)ucontext;
	_exit(info->si_addr ? OWN : 1);
}

/*
 * A handler that was installed before heapdb's and calls heapdb's handler, as if two libraries had
 * each saved the other's handler.
 */
static void hand_back(int sig, siginfo_t *info, void *ucontext)
{
	if (has_been++ > 10)
		_exit(1);
	ours.sa_sigaction(sig, info, ucontext);
}

/* Maps a page after the end of a file. */
static volatile const char *missing_page(void)
{
	const int fd = memfd_create("cut", MFD_CLOEXEC);
	void *map = fd < 0 || ftruncate(fd, 8192) < 0 ?
			    MAP_FAILED :
			    mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || ftruncate(fd, 0) < 0)
		_exit(2);
	return (volatile const char *)map + 4096;
}

/*
 * Returns the exit status of a child that installs `handler` (with flags), then heapdb's handler,
 * and reads a missing page.
 */
static int end_of_child(void (*handler)(int), void (*action)(int, siginfo_t *, void *))
{
	const pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit no_core = { 0, 0 };
		struct sigaction old = { .sa_flags = action ? SA_SIGINFO : 0 };

		(void)setrlimit(RLIMIT_CORE, &no_core);
		if (action)
			old.sa_sigaction = action;
		else
			old.sa_handler = handler;
		(void)sigaction(SIGBUS, &old, NULL);
		base_sigbus_install();
		base_sigbus_install(); /* the second read succeeds */
		(void)sigaction(SIGBUS, NULL, &ours);
		_exit(*missing_page() ? 3 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_others(void **state)
{
	int status;

	(void)state;
	status = end_of_child(own_plain, NULL);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == OWN);
	status = end_of_child(NULL, own_info);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == OWN);
	/*
	 * Without a previous handler, the signal ends the process. The same happens if the signal
	 * was ignored, or if the previous handler passes it back.
	 */
	status = end_of_child(SIG_DFL, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = end_of_child(SIG_IGN, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = end_of_child(NULL, hand_back);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/*
 * A missing page in a map of heapdb reads as zeros and is recorded, whatever the previous handler
 * was.
 */
static void test_ours(void **state)
{
	volatile const char *page;
	_Atomic(uint64_t) fault = 0;
	struct hdb_error err;

	(void)state;
	base_sigbus_install();
	page = missing_page();
	assert_int_equal(base_sigbus_add((const void *)(page - 4096), 8192, &fault, &err), HDB_OK);
	assert_int_equal(*page, 0);
	assert_int_equal(fault, 4097);
	base_sigbus_remove((const void *)(page - 4096));
}

static void test_full(void **state)
{
	static char region[4096];
	_Atomic(uint64_t) fault = 0;
	struct hdb_error err = { 0 };
	size_t count = 0;

	(void)state;
	while (count < sizeof(region) && base_sigbus_add(&region[count], 1, &fault, &err) == HDB_OK)
		count++;
	assert_true(count >= 1000 && count < sizeof(region));
	assert_int_equal(base_sigbus_add(&region[count], 1, &fault, &err), HDB_ELIMIT);
	assert_non_null(strstr(err.message, "mapped files"));
	base_sigbus_remove(&region[0]);
	assert_int_equal(base_sigbus_add(&region[0], 1, &fault, &err), HDB_OK);
	for (size_t i = 0; i < count; i++)
		base_sigbus_remove(&region[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_ours),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
