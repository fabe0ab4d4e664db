/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.map, reader and writer: the code that may run in a machine, so that the plugin can recognise
 * it by its bytes wherever it runs.
 *
 *   # guesttrace code: 1
 *   # linux: current=sp_el0 comm=1464 pid=1176 tgid=1180
 *   # module: <start hex> <end hex> <path>
 *   <address hex> <size hex> <hash hex, =PATTERN or -> <name>
 *   + <key> <value>
 *
 * The linux line is optional and comes before the modules: which register (sp_el0, tp) or word
 * (gs:0xOFFSET) holds the address of the current struct task_struct, and three byte offsets in it.
 * Lines with + say more of the function before them, where that was asked for; a key that is not
 * known is ignored. "line": <number of its first line> <all its lines, as 10-20,30> <source file>.
 *
 * All addresses are link addresses. A module's functions follow its line, in ascending order, and
 * lie in its range, which is not empty. Modules may overlap.
 *
 * The hash is FNV-1a, 64 bits, of the function's first GT_CODE_HASHED bytes as they are in the
 * file. It is "-" if the function is shorter, if its bytes are not known, or if another function of
 * the map begins with the same bytes. The loader of a kernel module changes some of its bytes in
 * memory; so a module's functions have a pattern instead: two hex digits for each of the first
 * bytes, or ".." where a byte may have any value.
 */
#ifndef GT_RECORDING_CODE_MAP_CODE_MAP_H
#define GT_RECORDING_CODE_MAP_CODE_MAP_H

#include "base/error.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_CODE_HASHED  16
#define GT_CODE_PATTERN 192 /* bytes of the longest pattern */

enum gt_recording_code_current {
    GT_CODE_NO_LINUX, /* there is no linux line */
    GT_CODE_SP_EL0,
    GT_CODE_TP,
    GT_CODE_GS, /* the word at gs_offset from the gs base */
};

/* Where a Linux guest keeps its current task, and the offsets of members of struct task_struct. */
struct gt_recording_code_linux {
    enum gt_recording_code_current current;
    uint64_t gs_offset;
    uint32_t comm, pid, tgid; /* byte offsets in struct task_struct */
};

struct gt_recording_code_pattern {
    uint8_t n; /* 1 to GT_CODE_PATTERN */
    uint8_t byte[GT_CODE_PATTERN];
    uint8_t known[GT_CODE_PATTERN /
                  8]; /* bit i % 8 of known[i / 8]: byte i is as in the file; if
                         clear it may have any value. See gt_recording_code_pattern_knows */
};

static inline bool gt_recording_code_pattern_knows(const struct gt_recording_code_pattern *p,
                                                   size_t i)
{
    return p->known[i / 8] >> i % 8 & 1;
}

static inline void gt_recording_code_pattern_set(struct gt_recording_code_pattern *p, size_t i,
                                                 uint8_t byte)
{
    p->byte[i] = byte;
    p->known[i / 8] |= (uint8_t)(1u << i % 8);
}

struct gt_recording_code_function {
    uint64_t addr;
    uint64_t size; /* at least 1 */
    uint64_t hash;
    const char *name;
    bool hashed; /* `hash` is valid; false: the file has "-" or a pattern */
    const struct gt_recording_code_pattern *pattern; /* NULL: none */
    const char *file;                                /* source file; NULL: not known */
    const char *lines;                               /* "10-20,30": its lines; with `file` */
    uint32_t line;                                   /* the first one */
};

struct gt_recording_code_module {
    uint64_t start, end;
    const char *path;
    size_t first, n; /* index and number of its functions in gt_recording_code_map.function */
};

/* For writing, the caller owns the arrays. After reading, gt_recording_code_map_free frees
 * everything. */
struct gt_recording_code_map {
    struct gt_recording_code_linux os;
    struct gt_recording_code_module *module;
    size_t n_modules;
    struct gt_recording_code_function *function;
    size_t n_functions;
    struct gt_recording_code_pattern *patterns; /* patterns of the functions, after reading */
    void *storage;
};

/* Returns the hash of GT_CODE_HASHED bytes. */
uint64_t gt_recording_code_hash(const uint8_t *bytes);

/* Appends the whole file. Hashes that occur twice are written as "-"; gt_uftrace_path converts the
 * paths; control characters in names become '?', an empty name becomes "?". GT_E_USAGE: functions
 * are not in ascending order or not within their module, a pattern is longer than its function, or
 * a module's functions are outside the array; GT_E_NOMEM. */
int gt_recording_code_map_write(struct gt_text *t, const struct gt_recording_code_map *map,
                                struct gt_error *err);

/* Reads a whole file; the caller frees *out with gt_recording_code_map_free. GT_E_TRUNC: the file
 * ends within a line or is empty; GT_E_FORMAT; GT_E_UNSUPPORTED: another version; GT_E_NOMEM. The
 * message quotes the line and has the expected form. */
int gt_recording_code_map_read(const char *text, size_t size, struct gt_recording_code_map *out,
                               struct gt_error *err);

/* { 0 } is fine. */
void gt_recording_code_map_free(struct gt_recording_code_map *map);

#endif
