/*
 * base/thread.h - starts a thread on a different processor than its creator.
 *
 * Linux may place a new thread on its creator's processor although another processor is idle, and
 * moves it only when it next balances the load. A pass of 50 ms then uses one processor for half of
 * its time (for 8 to 35 ms in six of ten first queries, measured on two processors).
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Distance between data that puts them on different cache lines. Processors transfer two lines at a
 * time. Data that one thread writes must be this far from data that another thread uses constantly.
 * Otherwise each write makes the other thread wait. Without this distance, a search on two threads
 * took 1.7 times as long.
 */
#define BASE_FALSE_SHARING_BYTES 128u

/*
 * The last member of a structure used in an array with one element per thread or slot. Also used
 * between members that all threads read and members that one thread writes.
 */
#define BASE_NO_SHARING uint8_t padding[BASE_FALSE_SHARING_BYTES]

struct base_thread {
	pthread_t id;
	void *(*run)(void *arg);
	void *arg;
#ifdef __GLIBC__
	/* processors of the creator, all of which the thread may use once it runs */
	cpu_set_t processors;
	bool is_away; /* whether the thread starts on another processor */
#endif
};

/*
 * Calls run(arg) on a new thread. *thread must not move until base_thread_join. Returns false if no
 * thread could be started.
 */
bool base_thread_start(struct base_thread *thread, void *(*run)(void *arg), void *arg);

/* Waits for a thread that was started. */
void base_thread_join(struct base_thread *thread);

#endif
