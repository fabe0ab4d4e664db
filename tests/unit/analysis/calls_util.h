/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of calls made by hand: a scratch folder, text files, records as a directory and as a
 * compact file. */
#ifndef GT_TESTS_UNIT_ANALYSIS_CALLS_UTIL_H
#define GT_TESTS_UNIT_ANALYSIS_CALLS_UTIL_H

#include "base/file.h"
#include "calls/file/file.h"
#include "calls/read/calls.h"
#include "recording/directory/dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#define SID     "00000000000000a1"
#define PROGRAM "/bin/prog"
/* The program's text, and the addresses of its functions f0, f1, ... */
enum { BASE = 0x400000, FUNCTION = 0x10, FUNCTIONS = 24 };

int make_scratch(void **state);
int remove_scratch(void **state);
/* A path in the scratch folder, in one of some buffers. */
const char *in_scratch(const char *name);

static inline uint64_t address_of(uint32_t function)
{
    return BASE + (uint64_t)FUNCTION * function;
}

struct gt_uftrace_dir make_dir(const char *name);
void put_text(const struct gt_uftrace_dir *d, const char *name, const char *text);
void put_info(const struct gt_uftrace_dir *d);
/* The map and the symbols of PROGRAM. */
void put_program(const struct gt_uftrace_dir *d);
void put_records(const struct gt_uftrace_dir *d, uint32_t tid, const struct gt_compact_record *r,
                 size_t n);
void append_file(const char *file, const char *name, const char *data, size_t n);
/* The directory's text files into a compact file. */
void append_texts(const char *file, const struct gt_uftrace_dir *d);
void end_block(const char *file, struct gt_compact_packer *p);

/* What the recording that was opened last has reported, a line each. */
extern GString *notices;
struct gt_calls *open_calls(const char *path);

static inline const char *name_of(const struct gt_calls *c, uint32_t function)
{
    return gt_calls_function(c, function)->name;
}

#endif
