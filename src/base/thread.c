/* base/thread.c - starts a thread on a different processor than its creator. */
#include "base/thread.h"

#include "base/plain_locale.h"

static void *run_thread(void *arg)
{
	BASE_PLAIN_LOCALE;
	struct base_thread *t = arg;

#ifdef __GLIBC__
	/*
	 * From now on, the thread may run on any processor. It stays on its current processor until
	 * the system moves it.
	 */
	if (t->is_away)
		(void)pthread_setaffinity_np(pthread_self(), sizeof(t->processors), &t->processors);
#endif
	return t->run(t->arg);
}

#ifdef __GLIBC__
/*
 * Makes the thread start on a processor other than the caller's. Returns false if there is only one
 * processor.
 */
static bool keep_away(struct base_thread *t, pthread_attr_t *attr)
{
	const int here = sched_getcpu();
	cpu_set_t others;

	if (here < 0 || here >= CPU_SETSIZE ||
	    pthread_getaffinity_np(pthread_self(), sizeof(t->processors), &t->processors) != 0)
		return false;
	others = t->processors;
	CPU_CLR((unsigned)here, &others);
	return CPU_COUNT(&others) > 0 &&
	       pthread_attr_setaffinity_np(attr, sizeof(others), &others) == 0;
}

static bool start_away(struct base_thread *t)
{
	pthread_attr_t attr;
	bool is_started;

	if (pthread_attr_init(&attr) != 0)
		return false;
	t->is_away = keep_away(t, &attr);
	is_started = t->is_away && pthread_create(&t->id, &attr, run_thread, t) == 0;
	(void)pthread_attr_destroy(&attr);
	return is_started;
}
#endif

bool base_thread_start(struct base_thread *thread, void *(*run)(void *arg), void *arg)
{
	*thread = (struct base_thread){ .run = run, .arg = arg };
#ifdef __GLIBC__
	if (start_away(thread))
		return true;
	thread->is_away = false;
#endif
	return pthread_create(&thread->id, NULL, run_thread, thread) == 0;
}

void base_thread_join(struct base_thread *thread)
{
	(void)pthread_join(thread->id, NULL);
}
