/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.map: what code may run in a machine, to be recognised by its bytes wherever it runs, both
 * directions.
 *
 *   # guesttrace code: 1
 *   # linux: current=sp_el0 comm=1464 pid=1176 tgid=1180
 *   # module: <start hex> <end hex> <path>
 *   <address hex> <size hex> <hash hex, =PATTERN or -> <name>
 *
 * The linux line is optional and comes before the modules: which register (sp_el0, tp) or word
 * (gs:0xOFFSET) holds the address of the current struct task_struct, and three byte offsets in
 * it. All addresses are those that a module is linked for; its functions follow its line, rise, and
 * lie in its range, which is not empty. Modules may overlap.
 *
 * The hash is FNV-1a, 64 bits, of the function's first GT_CODE_HASHED bytes as they are in the
 * file. It is "-" where the function is shorter, where its bytes are not known, and where another
 * function in the whole map begins with the same bytes. A module of a kernel has other bytes in
 * memory than in its file wherever its loader writes; so its functions have a pattern, the first
 * bytes with two hex digits each, or ".." where a byte may be any.
 */
#ifndef GT_FORMAT_CODE_MAP_CODE_MAP_H
#define GT_FORMAT_CODE_MAP_CODE_MAP_H

#include "base/error.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_CODE_HASHED  16
#define GT_CODE_PATTERN 192 /* bytes of a pattern, at most */

enum gt_code_current {
    GT_CODE_NO_LINUX, /* there is no linux line */
    GT_CODE_SP_EL0,
    GT_CODE_TP,
    GT_CODE_GS, /* the word at gs_offset from the gs base */
};

/* Where a Linux guest keeps its current task and what is in it. */
struct gt_code_linux {
    enum gt_code_current current;
    uint64_t gs_offset;
    uint32_t comm, pid, tgid; /* byte offsets in struct task_struct */
};

struct gt_code_pattern {
    uint8_t n; /* 1 to GT_CODE_PATTERN */
    uint8_t byte[GT_CODE_PATTERN];
    uint8_t known[GT_CODE_PATTERN / 8]; /* bit i % 8 of i / 8: byte i is the one of the file, else
                                         * it may be any; see gt_code_pattern_knows */
};

static inline bool gt_code_pattern_knows(const struct gt_code_pattern *p, size_t i)
{
    return p->known[i / 8] >> i % 8 & 1;
}

static inline void gt_code_pattern_set(struct gt_code_pattern *p, size_t i, uint8_t byte)
{
    p->byte[i] = byte;
    p->known[i / 8] |= (uint8_t)(1u << i % 8);
}

struct gt_code_function {
    uint64_t addr;
    uint64_t size; /* at least 1 */
    uint64_t hash;
    const char *name;
    bool hashed;                           /* false: "-", or there is a pattern */
    const struct gt_code_pattern *pattern; /* NULL: none */
};

struct gt_code_module {
    uint64_t start, end;
    const char *path;
    size_t first, n; /* its functions in gt_code_map.function */
};

/* To write: the caller's arrays. As read: everything belongs to gt_code_map_free. */
struct gt_code_map {
    struct gt_code_linux os;
    struct gt_code_module *module;
    size_t n_modules;
    struct gt_code_function *function;
    size_t n_functions;
    struct gt_code_pattern *patterns; /* of the map as read */
    void *storage;
};

/* The hash of the GT_CODE_HASHED bytes there. */
uint64_t gt_code_hash(const uint8_t *bytes);

/* Appends the whole file. Hashes that occur twice are written as "-"; paths are mended as
 * gt_uftrace_path does, control characters in names become '?', an empty name is "?".
 * GT_E_USAGE: functions that do not rise, or do not fit their module, a pattern longer than its
 * function, or a module outside the array of functions; GT_E_NOMEM. */
int gt_code_map_write(struct gt_text *t, const struct gt_code_map *map, struct gt_error *err);

/* Reads a whole file; *out is to be given to gt_code_map_free. GT_E_TRUNC: it ends within a line or
 * before the first; GT_E_FORMAT; GT_E_UNSUPPORTED: another version; GT_E_NOMEM. The message names
 * the line, what it is and what was expected. */
int gt_code_map_read(const char *text, size_t size, struct gt_code_map *out, struct gt_error *err);

/* { 0 } is fine. */
void gt_code_map_free(struct gt_code_map *map);

#endif
