/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands of guesttrace: a file and a row for each.
 *
 * The table drives dispatch, help, the man page and the completions. A new subcommand is a file
 * that defines one const struct gt_cli_command, and its row in main.c.
 *
 * Exit statuses: 0 done, 1 failed, 2 usage; `record` returns the status of its child, and 125 to
 * 127 for its own failures, as env(1) does.
 */
#ifndef GT_CLI_COMMAND_H
#define GT_CLI_COMMAND_H

#include "base/error.h"
#include "cli/options.h"

#include <glib.h>

enum gt_cli_exit {
    GT_EXIT_DONE = 0,
    GT_EXIT_FAILED = 1,
    GT_EXIT_USAGE = 2,
    GT_EXIT_OWN = 125,        /* record: guesttrace itself failed */
    GT_EXIT_CANNOT_RUN = 126, /* record: the program was found, but cannot be recorded */
    GT_EXIT_NO_PROGRAM = 127, /* record: the program or its QEMU does not exist */
};

/* The operands that shell completion offers. */
enum gt_cli_operands {
    GT_OPERANDS_NONE,
    GT_OPERANDS_FILES,
    GT_OPERANDS_DIRS,
    GT_OPERANDS_PROGRAM,  /* a program, then its arguments */
    GT_OPERANDS_COMMANDS, /* our own subcommands */
    GT_OPERANDS_CHOICES,  /* `operand_choices` */
};

struct gt_cli_command {
    const char *name;
    const char *now;     /* "etrace export", where `name` is the name of an earlier
                          * release, which prints a notice; NULL: it is called `name` */
    const char *summary; /* a phrase without a full stop */
    const char *const
        *usage; /* the text after "guesttrace NAME", one string a line, NULL-terminated */
    const char *const *paragraphs; /* for help and the man page, NULL-terminated, or NULL */
    struct gt_cli_options_spec spec;
    size_t options_size; /* bytes of the struct that the offsets of the options refer to */
    uint8_t operands;    /* enum gt_cli_operands */
    const char *const *operand_choices;
    /* Returns the exit status. `operands` is NULL-terminated, `n` of them. */
    int (*run)(const struct gt_cli_command *self, const void *options, size_t n, char **operands);
};

extern const struct gt_cli_command gt_cli_command_record;
extern const struct gt_cli_command gt_cli_command_symbols;
extern const struct gt_cli_command gt_cli_command_coverage;
extern const struct gt_cli_command gt_cli_command_repair;
extern const struct gt_cli_command gt_cli_command_info;
extern const struct gt_cli_command gt_cli_command_report;
extern const struct gt_cli_command gt_cli_command_graph;
extern const struct gt_cli_command gt_cli_command_dump;
extern const struct gt_cli_command gt_cli_command_diff;
extern const struct gt_cli_command gt_cli_command_events;
extern const struct gt_cli_command gt_cli_command_convert;
extern const struct gt_cli_command gt_cli_command_export;
extern const struct gt_cli_command gt_cli_command_replay;
extern const struct gt_cli_command gt_cli_command_tui;
extern const struct gt_cli_command gt_cli_command_top;
extern const struct gt_cli_command gt_cli_command_view;
extern const struct gt_cli_command gt_cli_command_simpletrace;
extern const struct gt_cli_command gt_cli_command_ctl;
extern const struct gt_cli_command gt_cli_command_setup_qemu;
extern const struct gt_cli_command gt_cli_command_completion;
extern const struct gt_cli_command gt_cli_command_help;

/* Commands for the recordings of one tool: `guesttrace FAMILY VERB`. */
struct gt_cli_family_verb {
    const char *name;
    const struct gt_cli_command *command;
};
struct gt_cli_family {
    const char *name;
    const char *about;                     /* the kind of recording, a phrase */
    const struct gt_cli_family_verb *verb; /* until a NULL name */
};
/* NULL: there is none of that name. */
const struct gt_cli_family *gt_cli_family_by_name(const char *name);
/* The family's command; NULL: it has no such verb. */
const struct gt_cli_command *gt_cli_family_command(const struct gt_cli_family *f, const char *verb);
/* Sets the tables for the functions around: commands in the order of help, until NULL, and families
 * until a NULL name. Call it once, before them. */
void gt_cli_commands_use(const struct gt_cli_command *const *table,
                         const struct gt_cli_family *families);
/* The first of the table. */
const struct gt_cli_family *gt_cli_family_first(void);

/* In the order of help, until NULL. */
const struct gt_cli_command *gt_cli_command_at(size_t index);
/* NULL: no command has that name. */
const struct gt_cli_command *gt_cli_command_by_name(const char *name);

/* How it is called now. */
const char *gt_cli_command_called(const struct gt_cli_command *c);

/* "; near to it: report, repair" or "", for one that is unknown. The caller frees it (g_free). */
char *gt_cli_commands_near(const char *name);

/* Prints "guesttrace NAME: MESSAGE" and where to find help, on stderr; returns GT_EXIT_USAGE. */
int gt_cli_command_usage_error(const struct gt_cli_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints "guesttrace NAME: MESSAGE" on stderr; returns `status`. */
int gt_cli_command_fail(const struct gt_cli_command *self, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The end of a process: a full disk or a closed pipe must not look like success. Returns the exit
 * status. */
int gt_cli_command_close_stdout(int status);

/* Returns notices for libraries: each line is printed as gt_cli_command_fail does. */
struct gt_error_notices gt_cli_command_notices(const struct gt_cli_command *self);

/* help.c, man.c, completion.c: texts that are made from the table. */
void gt_cli_help_overview(GString *out);
void gt_cli_help_family(GString *out, const struct gt_cli_family *f);
/* Prints the options of the group with that name; NULL: the first group's. Where they are many,
 * only the most used, unless `all`. */
void gt_cli_help_command(GString *out, const struct gt_cli_command *c, const char *group, bool all);
void gt_cli_man_page(GString *out);
void gt_cli_man_page_of(GString *out, const struct gt_cli_command *c);
void gt_cli_completion_bash(GString *out);
void gt_cli_completion_zsh(GString *out);
void gt_cli_completion_fish(GString *out);

#endif
