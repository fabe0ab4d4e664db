/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines: a table of options for each command, and one parser for all.
 *
 * An option is `--name`, `--name VALUE`, `--name=VALUE`, `-x`, `-x VALUE` or `-xVALUE`; flags of
 * one letter may be joined (`-qv`). `--` ends the options. Names cannot be abbreviated. If an
 * option is given twice the last one wins, unless it is repeatable. Every table has -h and --help.
 *
 * The parser stores each value in the command's own struct, at the option's offset. The struct is
 * zeroed first, so NULL, false and 0 (or the option's `initial`) mean "not given". Texts point into
 * argv.
 */
#ifndef GT_CLI_OPTIONS_H
#define GT_CLI_OPTIONS_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_cli_option_type {
    GT_OPTION_FLAG,   /* takes no value; bool */
    GT_OPTION_TEXT,   /* const char * */
    GT_OPTION_FILE,   /* const char *, completed as a file name */
    GT_OPTION_DIR,    /* const char *, completed as a directory */
    GT_OPTION_CHOICE, /* const char *, one of `choices` */
    GT_OPTION_NUMBER, /* uint64_t in min..max; decimal, or hex after 0x */
};

/* Headings of help, in their order there; each option of a long table is under one. */
enum gt_cli_option_heading {
    GT_UNDER_NONE, /* in tables that the first screen holds */
    GT_UNDER_WHAT,
    GT_UNDER_SHOWN,
    GT_UNDER_PART,
    GT_UNDER_FILTERS,
    GT_UNDER_NAMES,
    GT_UNDER_OUTPUT,
    GT_UNDER_RUN,
    GT_UNDER_CONTROL,
    GT_HEADINGS,
    GT_OPTION_FIRST = 0x80, /* added to one: among the most used, on the first screen of help */
};

struct gt_cli_option {
    const char *name;           /* without dashes; NULL ends a table */
    char letter;                /* 0: none */
    uint8_t type;               /* enum gt_cli_option_type */
    uint8_t heading;            /* enum gt_cli_option_heading, maybe with GT_OPTION_FIRST */
    bool off;                   /* GT_OPTION_FLAG: false is stored, as --no-NAME does */
    bool chooses;               /* a text of a group: given without the chooser, it selects that */
    bool repeat;                /* the field is a GPtrArray * of texts, made at the first use */
    const char *prefix;         /* what a repeated option's texts get in front; NULL: nothing */
    const char *value;          /* name of the value in help texts: "DIR"; NULL for flags */
    const char *help;           /* a phrase without a full stop */
    const char *const *choices; /* GT_OPTION_CHOICE, NULL-terminated */
    uint64_t min, max;          /* GT_OPTION_NUMBER */
    uint64_t initial;           /* GT_OPTION_NUMBER, GT_OPTION_FLAG: the value if it is not given */
    const char *old; /* spellings of earlier releases, "-t --min-time": they go on, with a
                      * notice; NULL: none */
    size_t offset;   /* offset of the field in the command's struct */
};

#define GT_OPTIONS_HELP     1 /* -h or --help was seen */
#define GT_OPTIONS_HELP_ALL 2 /* and then "all" */

/* Options that apply to one value of another option, as to one tool of `record`. An option of
 * several groups is in the table of each, with the same type and offset; its choices may differ. */
struct gt_cli_option_group {
    const char *name; /* the value that selects the group */
    const struct gt_cli_option *table;
};

struct gt_cli_options_spec {
    const struct gt_cli_option *table;        /* NULL: no options but --help */
    const struct gt_cli_option_group *groups; /* ends with a NULL name; NULL: no groups */
    const char *chooser;  /* the option of `table`, a choice, that selects the group; if it is not
                             given, an option that chooses, or else the first is selected */
    bool stop_at_operand; /* the first operand ends the options, as in `env` */
};

/* Returns each option once, those without a group first; NULL after the last. */
const struct gt_cli_option *gt_cli_options_at(const struct gt_cli_options_spec *spec, size_t index);
/* Finds a group by name; a NULL name finds the first. NULL: no such group. */
const struct gt_cli_option_group *gt_cli_options_group(const struct gt_cli_options_spec *spec,
                                                       const char *name);
/* Returns the group that was selected. NULL: there are no groups. */
const struct gt_cli_option_group *gt_cli_options_chosen(const struct gt_cli_options_spec *spec,
                                                        const void *into);

/* Reads argv[0..argc), stores the values in `into` and appends the operands to `operands`. 0,
 * GT_OPTIONS_HELP, GT_OPTIONS_HELP_ALL, or GT_E_USAGE with a message that quotes the argument; an
 * option of another group than the chosen one is such an error. The caller frees the lists of
 * repeatable options in any case, with gt_cli_options_clear. `notices` takes a line about each old
 * spelling. */
int gt_cli_options_parse(const struct gt_cli_options_spec *spec, void *into, int argc, char **argv,
                         GPtrArray *operands, const struct gt_error_notices *notices,
                         struct gt_error *err);

/* Frees the lists of repeatable options. */
void gt_cli_options_clear(const struct gt_cli_options_spec *spec, void *into);

/* Returns "A|B|C" for a choice, NULL for a flag, else the value's name. The caller frees it. */
char *gt_cli_option_value_name(const struct gt_cli_option *o);
/* The choices that an option of this name has in any group, separated by blanks; NULL: not a
 * choice. The caller frees it. */
char *gt_cli_options_choices(const struct gt_cli_options_spec *spec, const struct gt_cli_option *o);
/* The values of an option that may be given several times, until NULL; NULL: it was not given. They
 * belong to the list, which stays as long. */
const char *const *gt_cli_option_texts(GPtrArray *list);

#endif
