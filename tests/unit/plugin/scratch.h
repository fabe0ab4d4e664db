/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder of the test's own, and what a plugin wrote there. */
#ifndef TESTS_PLUGIN_SCRATCH_H
#define TESTS_PLUGIN_SCRATCH_H

#include <glib.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char scratch_folder[] = "/tmp/gt-plugin-XXXXXX";

static inline int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch_folder, "/tmp/gt-plugin-XXXXXX");
    return g_mkdtemp(scratch_folder) ? 0 : -1;
}

/* The words, and "NAME=PATH" of a file in the folder; free with g_strfreev. */
static inline char **words_with_file(const char *const *words, const char *name, const char *file)
{
    GPtrArray *all = g_ptr_array_new();
    for (size_t i = 0; words[i]; i++)
        g_ptr_array_add(all, g_strdup(words[i]));
    if (name)
        g_ptr_array_add(all, g_strdup_printf("%s=%s/%s", name, scratch_folder, file));
    g_ptr_array_add(all, NULL);
    return (char **)(void *)g_ptr_array_free(all, FALSE);
}

/* The file's bytes, which are removed with it; free with g_free. */
static inline char *take_file(const char *file, size_t *n)
{
    char *path = g_strdup_printf("%s/%s", scratch_folder, file), *bytes = NULL;
    assert_true(g_file_get_contents(path, &bytes, n, NULL));
    g_unlink(path);
    g_free(path);
    return bytes;
}

static inline int drop_scratch(void **state)
{
    (void)state;
    return g_rmdir(scratch_folder);
}

#endif
