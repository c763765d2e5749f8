/*
 * common/embed.h - embeds files with the assembler. Paths are relative to the project directory,
 * where make runs; the Makefile has a rule for each object that embeds files.
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

/* Defines `name`, the bytes of the file, and name##_end, a zero byte after them. */
#define EMBED(name, file) \
	__asm__(EMBED_BEGIN ".global " EMBED_PREFIX #name "\n" EMBED_PREFIX #name ":\n" \
			    ".incbin \"" file "\"\n" \
			    ".global " EMBED_PREFIX #name "_end\n" EMBED_PREFIX #name "_end:\n" \
			    ".byte 0\n" EMBED_END); \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses) */ \
	extern const unsigned char name[] __attribute__((visibility("hidden"))); \
	extern const unsigned char name##_end[] __attribute__((visibility("hidden")))

#endif
