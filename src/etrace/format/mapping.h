/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a user-mode guest has mapped an ELF file, as a NOTE of an etrace stream:
 *
 *   mapping 0xSTART-0xEND 0xBASE BUILD-ID PATH
 *
 * START, END and BASE are guest addresses in lower-case hex: the lowest and highest address of one
 * instance of the file's mappings, and the address of file offset 0, mapped or not. BUILD-ID is the
 * first 20 bytes of the file's build-id in hex; "-" if the file has none or cannot be read. PATH is
 * the file's name on the machine that ran QEMU, to the end of the line; a newline in it is \012, as
 * in /proc/PID/maps. The note is written when code of the file is first translated; it is valid
 * until another mapping overlaps it.
 */
#ifndef GT_ETRACE_FORMAT_MAPPING_H
#define GT_ETRACE_FORMAT_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GT_ETRACE_PATH_MAX = 4096,
    /* bytes of the longest line: three numbers, a build-id, a path that consists of newlines */
    GT_ETRACE_MAPPING_MAX = 128 + 4 * GT_ETRACE_PATH_MAX,
};

struct gt_etrace_mapping {
    uint64_t start, end, base;
    char build_id[41]; /* "": unknown */
    char path[GT_ETRACE_PATH_MAX];
};

/* Writes the line, with its newline and without a NUL; returns its length. */
size_t gt_etrace_mapping_put(const struct gt_etrace_mapping *m, char out[GT_ETRACE_MAPPING_MAX]);

/* Parses the `n` bytes of a note, with or without the newline. False: not such a line. */
bool gt_etrace_mapping_get(const char *text, size_t n, struct gt_etrace_mapping *out);

/*
 * How often a range of code ran (flags=coverage): an event of the device "coverage" whose name is
 * the range, "0xSTART-0xEND". Its value is the count so far; its previous value is the count that
 * the stream reported for that range before.
 */

#define GT_ETRACE_COUNT_DEVICE "coverage"

enum { GT_ETRACE_COUNT_NAME = 40 }; /* bytes, with the NUL */

void gt_etrace_count_name(char name[GT_ETRACE_COUNT_NAME], uint64_t start, uint64_t end);
/* False: not such a name, or the range ends before it begins. */
bool gt_etrace_count_parse(const char *name, uint64_t *start, uint64_t *end);

#endif
