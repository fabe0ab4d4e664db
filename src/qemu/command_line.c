/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's command line: the program of user mode in it, and the same line without the plugin.
 *
 * The plugin interface has a function for the program, but QEMU 10.0's user mode does not export
 * it; there the program is the first word that is neither an option nor an option's value.
 *
 * A program that another QEMU's guest has executed may refuse the plugin where the first one did
 * not (a socket or file that is in use, a function that this program does not have): then it runs
 * as it would have, in a QEMU without the plugin.
 */
#include "qemu/host.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

unsigned gt_host_executed(bool *child)
{
    const char *given = g_getenv(GT_HOST_EXECUTED_VARIABLE);
    int pid;
    unsigned n, is_child;
    if (!given || sscanf(given, "%d:%u:%u", &pid, &n, &is_child) != 3)
        return 0;
    if (child)
        *child = is_child;
    return pid == getpid() ? n : 0;
}

/* The words before the program, but for the plugin. */
static char **words_without_plugin(char *text, size_t size)
{
    GPtrArray *words = g_ptr_array_new();
    const char *program = gt_host_program_in(text, size), *end = text + size;
    bool drop = false;
    for (char *word = text; word < end; word += strlen(word) + 1) {
        const char *name = word + strspn(word, "-");
        bool option = word != text && program && word < program && name != word;
        if (drop) {
            drop = false;
            continue;
        }
        drop = option && strcmp(name, "plugin") == 0;
        if (!drop)
            g_ptr_array_add(words, word);
        if (option && !drop && gt_host_option_takes_value(word)) {
            word += strlen(word) + 1;
            g_ptr_array_add(words, word);
        }
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

void gt_host_run_without_plugin(void)
{
    extern char **environ;
    char *text;
    gsize size;
    if (!g_file_get_contents("/proc/self/cmdline", &text, &size, NULL) || !size || text[size - 1])
        return;
    execve("/proc/self/exe", words_without_plugin(text, size), environ);
}
