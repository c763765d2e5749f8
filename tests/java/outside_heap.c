/*
 * Native half of OutsideHeap.java: memory that the VM does not know about. A negative size requests
 * small blocks between two permanent blocks, so that freeing them leaves holes in malloc's arena.
 */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 1024

struct holes {
	long count;
	void *blocks[];
};

JNIEXPORT jlong JNICALL Java_OutsideHeap_allocate(JNIEnv *env, jclass type, jlong bytes)
{
	(void)env;
	(void)type;
	if (bytes < 0) {
		const long count = -bytes / SMALL;
		struct holes *holes = malloc(sizeof(*holes) + (size_t)count * sizeof(void *));

		holes->count = count;
		for (long i = 0; i < count; i++) {
			holes->blocks[i] = malloc(SMALL);
			memset(holes->blocks[i], 1, SMALL);
		}
		return (jlong)holes;
	}
	return (jlong)memset(malloc((size_t)bytes), 1, (size_t)bytes);
}

JNIEXPORT void JNICALL Java_OutsideHeap_free(JNIEnv *env, jclass type, jlong address)
{
	struct holes *holes = (struct holes *)address;

	(void)env;
	(void)type;
	/* The last block is never freed, so the arena does not shrink. */
	for (long i = 0; i < holes->count - 1; i++)
		free(holes->blocks[i]);
}
