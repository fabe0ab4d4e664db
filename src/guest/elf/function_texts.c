/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts kept once: see function_texts.h. A search tree of libc, whose depth hostile texts cannot
 * increase. */
#include "guest/elf/function_texts.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct gt_elf_function_texts {
    void *root;
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

struct gt_elf_function_texts *gt_elf_function_texts_new(void)
{
    return calloc(1, sizeof(struct gt_elf_function_texts));
}

const char *gt_elf_function_texts_keep(struct gt_elf_function_texts *t, const char *text)
{
    char **there = tfind(text, &t->root, compare);
    if (there)
        return *there;
    char *copy = strdup(text);
    if (copy && tsearch(copy, &t->root, compare))
        return copy;
    free(copy);
    return NULL;
}

void gt_elf_function_texts_free(struct gt_elf_function_texts *t)
{
    if (t)
        tdestroy(t->root, free);
    free(t);
}
