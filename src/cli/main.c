/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guesttrace: the table of subcommands and their families; picks one, reads its options and runs
 * it.
 */
#include "base/socket.h"
#include "cli/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct gt_cli_command *const commands[] = {
    &gt_cli_command_record,     &gt_cli_command_report,
    &gt_cli_command_graph,      &gt_cli_command_replay,
    &gt_cli_command_tui,        &gt_cli_command_top,
    &gt_cli_command_view,       &gt_cli_command_export,
    &gt_cli_command_diff,       &gt_cli_command_info,
    &gt_cli_command_symbols,    &gt_cli_command_repair,
    &gt_cli_command_ctl,        &gt_cli_command_coverage,
    &gt_cli_command_dump,       &gt_cli_command_convert,
    &gt_cli_command_events,     &gt_cli_command_simpletrace,
    &gt_cli_command_setup_qemu, &gt_cli_command_completion,
    &gt_cli_command_help,       NULL,
};

static const struct gt_cli_family_verb etrace[] = {{"coverage", &gt_cli_command_coverage},
                                                   {"dump", &gt_cli_command_dump},
                                                   {"export", &gt_cli_command_convert},
                                                   {NULL, NULL}};
static const struct gt_cli_family_verb execlog[] = {
    {"dump", &gt_cli_command_dump}, {"diff", &gt_cli_command_diff}, {NULL, NULL}};
static const struct gt_cli_family_verb events[] = {
    {"list", &gt_cli_command_events}, {"simpletrace", &gt_cli_command_simpletrace}, {NULL, NULL}};

static const struct gt_cli_family families[] = {
    {"etrace", "executed code and memory accesses", etrace},
    {"execlog", "logs of instructions", execlog},
    {"events", "trace events", events},
    {NULL, NULL, NULL},
};

static int print_text(void (*make)(GString *))
{
    g_autoptr(GString) text = g_string_new(NULL);
    make(text);
    fputs(text->str, stdout);
    return GT_EXIT_DONE;
}

static int print_command_help(const struct gt_cli_command *c, const void *options, bool all)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const struct gt_cli_option_group *group = gt_cli_options_chosen(&c->spec, options);
    gt_cli_help_command(text, c, group ? group->name : NULL, all);
    fputs(text->str, stdout);
    return GT_EXIT_DONE;
}

static int run_command(const struct gt_cli_command *c, int argc, char **argv)
{
    g_autofree void *options = g_malloc0(c->options_size ? c->options_size : 1);
    g_autoptr(GPtrArray) operands = g_ptr_array_new();
    struct gt_error err = {0};
    const struct gt_error_notices notices = gt_cli_command_notices(c);
    int status = gt_cli_options_parse(&c->spec, options, argc, argv, operands, &notices, &err);
    if (status > 0) {
        status = print_command_help(c, options, status == GT_OPTIONS_HELP_ALL);
    } else if (status < 0) {
        status = gt_cli_command_usage_error(c, "%s", err.text);
    } else {
        size_t n = operands->len;
        g_ptr_array_add(operands, NULL);
        status = c->run(c, options, n, (char **)operands->pdata);
    }
    gt_cli_options_clear(&c->spec, options);
    return status;
}

/* Standard descriptors that are closed would be given to files that we open. What takes their place
 * can neither be read nor written, and a program that we start does not have it. */
static void fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static bool is_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

/* A family without a verb, or one that it does not have. */
static int use_family(const struct gt_cli_family *f, const char *verb)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const bool help = is_help(verb);
    if (verb && !help)
        g_string_append_printf(text, "guesttrace %s: unknown verb '%s'\n", f->name, verb);
    gt_cli_help_family(text, f);
    fputs(text->str, help ? stdout : stderr);
    return help ? GT_EXIT_DONE : GT_EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        g_autoptr(GString) text = g_string_new(NULL);
        gt_cli_help_overview(text);
        fputs(text->str, stderr);
        return GT_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (is_help(word))
        return print_text(gt_cli_help_overview);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0) {
        puts("guesttrace " GT_VERSION);
        return GT_EXIT_DONE;
    }
    const struct gt_cli_family *family = gt_cli_family_by_name(word);
    const struct gt_cli_command *c =
        family && argc > 2 ? gt_cli_family_command(family, argv[2]) : NULL;
    if (c)
        return run_command(c, argc - 3, argv + 3);
    c = gt_cli_command_by_name(word);
    if (family && (!c || is_help(argc > 2 ? argv[2] : NULL)))
        return use_family(family, argc > 2 ? argv[2] : NULL);
    if (c && c->now)
        fprintf(stderr, "guesttrace: %s is '%s' now; it goes on until the next release\n", word,
                c->now);
    if (c)
        return run_command(c, argc - 2, argv + 2);
    g_autofree char *near = gt_cli_commands_near(word);
    fprintf(stderr, "guesttrace: unknown %s '%s'%s\nTry 'guesttrace help'.\n",
            word[0] == '-' ? "option" : "command", word, near);
    return GT_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    fill_standard();
    gt_cli_commands_use(commands, families);
    gt_socket_listeners_watch_signals();
    return gt_cli_command_close_stdout(dispatch(argc, argv));
}
