/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This QEMU for a program that another QEMU's guest has executed. Its plugin may be refused where
 * the first one's was not (a socket or file that is in use, a function that this program does not
 * have): then the program runs as it would have, in a QEMU without the plugin.
 */
#include "qemu/host.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
