/*
 * base/sigbus.c - turns an unreadable page of a mapped file into zeros and a recorded failure,
 * instead of a crash.
 *
 * The handler maps zero pages over the rest of the region, beginning at the failing page. The
 * reader continues (its results are discarded when check() fails), and there is at most one fault
 * per region. POSIX does not list mmap as async-signal-safe, but on Linux it is one system call
 * that takes no lock of the C library.
 */
#include "base/source.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Maximum number of mapped files in a process. Each database has three. The table has a fixed size,
 * because a signal handler reads it.
 */
#define REGIONS_MAX 1024

struct region {
	_Atomic(uintptr_t) start; /* 0 if the entry is free */
	uint64_t size;
	_Atomic(uint64_t) *fault;
};

static struct region regions[REGIONS_MAX];
static uint64_t page_size = 4096; /* set before the handler is installed */
static struct sigaction old_action;
/*
 * The thread in which the previous handler runs, or 0. If that handler passes the signal back to
 * ours, no handler is left. If the handler runs in a second thread at the same time, that thread is
 * not recorded. It is recorded when its handler passes the signal back after the first handler has
 * returned.
 */
static _Atomic(pthread_t) chaining;

static void call_old(int sig, siginfo_t *info, void *ucontext)
{
	if (old_action.sa_flags & SA_SIGINFO) {
		old_action.sa_sigaction(sig, info, ucontext);
	} else if (old_action.sa_handler != SIG_DFL && old_action.sa_handler != SIG_IGN) {
		old_action.sa_handler(sig);
	} else {
		/* Returning from the handler repeats the fault, now with the default action. */
		(void)signal(sig, SIG_DFL);
	}
}

static void chain(int sig, siginfo_t *info, void *ucontext)
{
	pthread_t noted = (pthread_t)0;
	const bool is_noted = atomic_compare_exchange_strong(&chaining, &noted, pthread_self());

	if (!is_noted && pthread_equal(noted, pthread_self())) {
		(void)signal(sig, SIG_DFL);
		return;
	}
	call_old(sig, info, ucontext);
	if (is_noted)
		atomic_store(&chaining, (pthread_t)0);
}

static void on_sigbus(int sig, siginfo_t *info, void *ucontext)
{
	const uintptr_t at = (uintptr_t)info->si_addr;

	for (size_t i = 0; i < REGIONS_MAX; i++) {
		struct region *region = &regions[i];
		const uintptr_t start = atomic_load(&region->start);
		uint64_t offset;

		if (!start || at < start || at - start >= region->size)
			continue;
		offset = (at - start) & ~(page_size - 1);
		if (mmap((void *)(start + offset), region->size - offset, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		if (!atomic_load(region->fault))
			atomic_store(region->fault, offset + 1);
		return;
	}
	chain(sig, info, ucontext);
}

void base_sigbus_install(void)
{
	static atomic_flag lock = ATOMIC_FLAG_INIT;
	const long size = sysconf(_SC_PAGESIZE);
	struct sigaction action;

	while (atomic_flag_test_and_set(&lock))
		;
	if (size > 0)
		page_size = (uint64_t)size;
	/* Other code in the process may have installed its own handler in the meantime. */
	if (sigaction(SIGBUS, NULL, &action) == 0 &&
	    (!(action.sa_flags & SA_SIGINFO) || action.sa_sigaction != on_sigbus)) {
		old_action = action;
		memset(&action, 0, sizeof(action));
		action.sa_sigaction = on_sigbus;
		action.sa_flags = SA_SIGINFO;
		(void)sigemptyset(&action.sa_mask);
		(void)sigaction(SIGBUS, &action, NULL);
	}
	atomic_flag_clear(&lock);
}

int base_sigbus_add(const void *start, uint64_t size, _Atomic(uint64_t) *fault,
		    struct hdb_error *err)
{
	static atomic_flag lock = ATOMIC_FLAG_INIT;
	int r = HDB_ELIMIT;

	while (atomic_flag_test_and_set(&lock))
		;
	for (size_t i = 0; i < REGIONS_MAX && r != HDB_OK; i++) {
		if (atomic_load(&regions[i].start))
			continue;
		regions[i].size = size;
		regions[i].fault = fault;
		atomic_store(&regions[i].start, (uintptr_t)start);
		r = HDB_OK;
	}
	atomic_flag_clear(&lock);
	if (r != HDB_OK)
		return hdb_fail(err, r, "too many mapped files in one process (limit %d)",
				REGIONS_MAX);
	return HDB_OK;
}

void base_sigbus_remove(const void *start)
{
	for (size_t i = 0; i < REGIONS_MAX; i++)
		if (atomic_load(&regions[i].start) == (uintptr_t)start)
			atomic_store(&regions[i].start, 0);
}
