/*
 * base/thread.h - a thread that begins on another processor than the one that starts it.
 *
 * Linux may put a new thread beside the one that starts it, though another processor is idle, and
 * moves it only at its next balancing: a pass of 50 ms then has one processor for half of its time
 * (measured on two: in six of ten first queries, for 8 to 35 ms).
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Bytes that processors take from each other at once: two lines of their caches. What one thread
 * writes, and what another one uses all the time, are that far apart: else each write of the one
 * makes the other wait for memory (a search took 1.7 times as long on two threads).
 */
#define BASE_APART_BYTES 128u

/*
 * The last member of a struct of which arrays have one for each thread, or slot of one; or a member
 * between what all read and what one writes.
 */
#define BASE_APART uint8_t apart[BASE_APART_BYTES]

struct base_thread {
	pthread_t id;
	void *(*run)(void *arg);
	void *arg;
#ifdef __GLIBC__
	cpu_set_t processors; /* of the one that starts it, which it may have once it runs */
	bool is_away;         /* begins on one of the others */
#endif
};

/*
 * Calls run(arg) on a new thread. *thread must stay where it is until base_thread_join. False: no
 * thread could be started.
 */
bool base_thread_start(struct base_thread *thread, void *(*run)(void *arg), void *arg);

/* Waits for one that was started. */
void base_thread_join(struct base_thread *thread);

#endif
