/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder of a test's own, and the path of a compact file in it. */
#ifndef TESTS_UNIT_FORMAT_COMPACT_FOLDER_H
#define TESTS_UNIT_FORMAT_COMPACT_FOLDER_H

#include "base/file.h"
#include "calls/file/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char dir[64], path[96];
static struct gt_error err;

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/guesttrace-compact-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/a.gtrace", dir);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return gt_file_remove_dir(dir, &err);
}

static inline void add_text(const char *name, const char *text)
{
    uint8_t *block;
    size_t size;
    assert_int_equal(gt_compact_text_pack(name, text, strlen(text), &block, &size), 0);
    assert_int_equal(gt_compact_file_append(path, block, size, &err), 0);
    free(block);
}

#endif
