/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prompt of `guesttrace ctl` with libedit: see ctl.h. Tab completes the words of commands, the
 * names of events, which are fetched for each line, and file names; of a control socket, whose help
 * is "ok NAME [USAGE] | ...", the names of its commands, and of a snapshot's file.
 */
#include "cli/ctl/ctl.h"

#include <editline/readline.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {"info", "trace-event", "trace-file", "help", "quit", NULL};
static const char *const info_words[] = {"trace-events", NULL};
static const char *const states[] = {"on", "off", NULL};
static const char *const file_words[] = {"on", "off", "flush", "set", "dump", NULL};

/* What the completion functions, which take no context, know. */
static struct {
    struct gt_cli_ctl *link;
    GPtrArray *names;    /* of the events; NULL: not asked for yet */
    GPtrArray *commands; /* of a control socket; NULL: it is a monitor */
    const char *const *words;
    size_t next;
} prompt;

static GPtrArray *ask_names(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    if (gt_cli_ctl_command(prompt.link, "info trace-events", out, NULL) == 0) {
        g_auto(GStrv) lines = g_strsplit(out->str, "\n", -1);
        for (char **l = lines; *l; l++)
            if (**l)
                g_ptr_array_add(names, g_strndup(*l, strcspn(*l, " ")));
    }
    g_ptr_array_add(names, NULL);
    return names;
}

/* The names in the help of a control socket. NULL: it is none. */
static GPtrArray *ask_commands(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    if (gt_cli_ctl_command(prompt.link, "help", out, NULL) < 0 ||
        !g_str_has_prefix(out->str, "ok "))
        return NULL;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) usages = g_strsplit(out->str + strlen("ok "), " | ", -1);
    for (char **u = usages; *u; u++)
        g_ptr_array_add(names, g_strndup(*u, strcspn(*u, " \n")));
    g_ptr_array_add(names, g_strdup("help"));
    g_ptr_array_add(names, g_strdup("quit"));
    g_ptr_array_add(names, NULL);
    return names;
}

static char *next_word(const char *start, int again)
{
    if (!again)
        prompt.next = 0;
    for (const char *word; (word = prompt.words[prompt.next]); prompt.next++) {
        if (g_str_has_prefix(word, start)) {
            prompt.next++;
            return strdup(word);
        }
    }
    return NULL;
}

static const char *const *event_names(void)
{
    if (!prompt.names)
        prompt.names = ask_names();
    return (const char *const *)prompt.names->pdata;
}

/* What may stand as word n (from 0) of a line that begins so; NULL: nothing that we know. */
static const char *const *words_for(char **line, unsigned n)
{
    if (prompt.commands)
        return n == 0 ? (const char *const *)prompt.commands->pdata : NULL;
    if (n == 0)
        return commands;
    if (strcmp(line[0], "info") == 0)
        return n == 1 ? info_words : n == 2 ? event_names() : NULL;
    if (strcmp(line[0], "trace-event") == 0)
        return n == 1 ? event_names() : n == 2 ? states : NULL;
    if (strcmp(line[0], "trace-file") == 0)
        return n == 1 ? file_words : NULL;
    return NULL;
}

static char **complete(const char *text, int start, int end)
{
    g_autofree char *before = g_strndup(rl_line_buffer, (gsize)start);
    (void)end;
    g_strstrip(before);
    g_auto(GStrv) line = g_strsplit_set(before, " ", -1);
    unsigned n = *before ? g_strv_length(line) : 0;
    bool file = n == (prompt.commands ? 1 : 2) &&
                strcmp(line[0], prompt.commands ? "snapshot" : "trace-file") == 0;
    prompt.words = words_for(line, n);
    if (prompt.words)
        return rl_completion_matches(text, next_word);
    rl_attempted_completion_over = !file;
    return NULL;
}

int gt_cli_ctl_prompt(struct gt_cli_ctl *c, int (*take)(void *self, const char *line), void *self)
{
    int status = 0;
    char *line;
    prompt.link = c;
    prompt.commands = ask_commands();
    rl_readline_name = "guesttrace";
    rl_initialize();
    rl_attempted_completion_function = complete;
    rl_basic_word_break_characters = " ";
    using_history();
    while (status == 0 && (line = readline("(guesttrace) "))) {
        g_strstrip(line);
        if (*line) {
            add_history(line);
            status = take(self, line);
        }
        free(line);
        g_clear_pointer(&prompt.names, g_ptr_array_unref);
    }
    g_clear_pointer(&prompt.commands, g_ptr_array_unref);
    if (status == 0)
        putchar('\n');
    return status;
}
