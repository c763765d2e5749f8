/*
 * base/thread.h - starts a thread on a different processor than that of its creator.
 *
 * Linux may place a new thread on its creator's processor although another is idle, and moves it
 * only when it next balances load. A pass of 50 ms then runs on one processor half of the time
 * (measured on two processors: 8 to 35 ms in six of ten first queries).
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Distance that keeps data on different cache lines; processors transfer two lines at a time. Data
 * written by one thread must be this far from data that another thread uses all the time, otherwise
 * each write makes the other thread wait (a search took 1.7 times as long on two threads).
 */
#define BASE_FALSE_SHARING_BYTES 128u

/*
 * Last member of a structure of which there is an array with one element per thread or slot; or a
 * member between data that all threads read and data that one writes.
 */
#define BASE_NO_SHARING uint8_t padding[BASE_FALSE_SHARING_BYTES]

struct base_thread {
	pthread_t id;
	void *(*run)(void *arg);
	void *arg;
#ifdef __GLIBC__
	cpu_set_t processors; /* processors of the creator, which the thread may use once it runs */
	bool is_away;         /* starts on another processor */
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
