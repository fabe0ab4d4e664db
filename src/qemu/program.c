/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the program of user mode. The plugin interface has a function for it, but QEMU 10.0's user
 * mode does not export it; there the program is the first word of QEMU's command line that is
 * neither an option nor an option's value.
 */
#include "qemu/host.h"

#include <stdbool.h>
#include <string.h>

bool gt_host_option_takes_value(const char *option)
{
    static const char *const names[] = {"0",      "B",   "D", "E",       "L",       "R",
                                        "U",      "cpu", "d", "dfilter", "g",       "p",
                                        "plugin", "r",   "s", "seed",    "tb-size", "trace"};
    option += strspn(option, "-");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return false;
}

const char *gt_host_program_in(const char *words, size_t size)
{
    const char *end = words + size;
    bool is_value = true; /* the first word is QEMU's own name */
    for (const char *word = words; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
        if (is_value)
            is_value = false;
        else if (word[0] != '-' || !word[1])
            return memchr(word, '\0', (size_t)(end - word)) ? word : NULL;
        else
            is_value = gt_host_option_takes_value(word);
    }
    return NULL;
}
