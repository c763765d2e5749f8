/*
 * common/embed.h - files that are put into the program by the assembler. Compiled in the project's
 * own folder, as make does, which has a rule for each object that needs such files.
 */
#ifndef COMMON_EMBED_H
#define COMMON_EMBED_H

#ifdef __APPLE__
#define EMBED_BEGIN ".const\n"
#define EMBED_END ".text\n"
#define EMBED_PREFIX "_"
#else
#define EMBED_BEGIN ".pushsection .rodata\n"
#define EMBED_END ".popsection\n"
#define EMBED_PREFIX
#endif

/* name: the bytes of the file; name_end: where they end, a zero. */
#define EMBED(name, file) \
	__asm__(EMBED_BEGIN ".global " EMBED_PREFIX #name "\n" EMBED_PREFIX #name ":\n" \
			    ".incbin \"" file "\"\n" \
			    ".global " EMBED_PREFIX #name "_end\n" EMBED_PREFIX #name "_end:\n" \
			    ".byte 0\n" EMBED_END); \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses) */ \
	extern const unsigned char name[] __attribute__((visibility("hidden"))); \
	extern const unsigned char name##_end[] __attribute__((visibility("hidden")))

#endif
