/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace help`: texts for the terminal from the table of subcommands. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#define WIDTH       80
#define HELP_COLUMN 30

static bool has_family(const struct gt_cli_command *c)
{
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
            if (v->command == c && strcmp(v->name, "diff") != 0) /* which is of calls, too */
                return true;
    return false;
}

static void append_verbs(GString *out, const struct gt_cli_family *f)
{
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++) {
        g_autofree char *name = g_strdup_printf("%s %s", f->name, v->name);
        g_string_append_printf(out, "  %-19s %s\n", name, v->command->summary);
    }
}

void gt_cli_help_overview(GString *out)
{
    g_string_append(out, "usage: guesttrace COMMAND [OPTIONS] ...\n"
                         "       guesttrace --help | --version\n\n"
                         "Records what a QEMU guest executes, from the outside.\n\n"
                         "Calls:\n");
    size_t i = 0;
    for (; gt_cli_command_at(i) && !has_family(gt_cli_command_at(i)); i++)
        g_string_append_printf(out, "  %-12s %s\n", gt_cli_command_at(i)->name,
                               gt_cli_command_at(i)->summary);
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++) {
        g_string_append_printf(out, "\n%c%s:\n", g_ascii_toupper(f->about[0]), f->about + 1);
        append_verbs(out, f);
    }
    g_string_append(out, "\nOthers:\n");
    for (; gt_cli_command_at(i); i++)
        if (!has_family(gt_cli_command_at(i)))
            g_string_append_printf(out, "  %-12s %s\n", gt_cli_command_at(i)->name,
                                   gt_cli_command_at(i)->summary);
    g_string_append(out, "\nFor a command's options: guesttrace help COMMAND\n");
}

void gt_cli_help_family(GString *out, const struct gt_cli_family *f)
{
    g_string_append_printf(out, "usage: guesttrace %s VERB [OPTIONS] ...\n\nFor %s.\n\n", f->name,
                           f->about);
    append_verbs(out, f);
}

/* Breaks `text` at blanks so that lines end before WIDTH, later ones indented by `indent`; the
 * cursor stands at `column`. */
static void append_wrapped(GString *out, const char *text, size_t column, size_t indent)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    bool first = true;
    for (char **w = words; *w; w++) {
        size_t len = strlen(*w);
        if (!first && column + 1 + len > WIDTH) {
            g_string_append_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            g_string_append_c(out, ' ');
            column++;
        }
        g_string_append(out, *w);
        column += len;
        first = false;
    }
    g_string_append_c(out, '\n');
}

static void append_option(GString *out, const struct gt_cli_option *o)
{
    gsize start = out->len;
    if (o->letter)
        g_string_append_printf(out, "  -%c, --%s", o->letter, o->name);
    else
        g_string_append_printf(out, "      --%s", o->name);
    g_autofree char *value = gt_cli_option_value_name(o);
    if (value)
        g_string_append_printf(out, " %s", value);
    size_t column = out->len - start;
    if (column + 2 > HELP_COLUMN) {
        g_string_append_c(out, '\n');
        column = 0;
    }
    g_string_append_printf(out, "%*s", (int)(HELP_COLUMN - column), "");
    g_autofree char *help = g_strconcat(o->help, o->repeat ? " (repeatable)" : "", NULL);
    append_wrapped(out, help, HELP_COLUMN, HELP_COLUMN);
}

/* ---- options of a command ------------------------------------------------------------------ */

#define FIRST_ROWS 12 /* of options, at most, where not all are asked for */

static const char *const headings[] = {
    [GT_UNDER_WHAT] = "What is recorded",      [GT_UNDER_SHOWN] = "What is shown",
    [GT_UNDER_PART] = "Part of the recording", [GT_UNDER_FILTERS] = "Filters",
    [GT_UNDER_NAMES] = "Names of functions",   [GT_UNDER_OUTPUT] = "Output",
    [GT_UNDER_RUN] = "The run of QEMU",        [GT_UNDER_CONTROL] = "While the guest runs",
};
_Static_assert(G_N_ELEMENTS(headings) == GT_HEADINGS, "each heading has a text");

/* Options of a command, its own and one group's. */
struct listing {
    const struct gt_cli_option *table, *group; /* NULL: there are none */
    bool all;                                  /* not only the most used */
};

static size_t count_options(const struct gt_cli_option *table)
{
    size_t n = 0;
    while (table && table[n].name)
        n++;
    return n;
}

/* Appends the options of a table that are under the heading, the most used or the others, after its
 * line unless that is there; returns whether it is there now. */
static bool append_headed(GString *out, const struct gt_cli_option *table, unsigned heading,
                          bool begun)
{
    for (const struct gt_cli_option *o = table; o && o->name; o++) {
        if (o->heading != heading)
            continue;
        if (!begun)
            g_string_append_printf(out, "\n%s:\n", headings[heading & ~GT_OPTION_FIRST]);
        begun = true;
        append_option(out, o);
    }
    return begun;
}

static void append_headings(GString *out, const struct listing *l)
{
    for (unsigned h = GT_UNDER_WHAT; h < GT_HEADINGS; h++) {
        bool begun = append_headed(out, l->table, h | GT_OPTION_FIRST, false);
        begun = append_headed(out, l->group, h | GT_OPTION_FIRST, begun);
        if (l->all) {
            begun = append_headed(out, l->table, h, begun);
            append_headed(out, l->group, h, begun);
        }
    }
    const struct gt_cli_option help = {"help", 'h', GT_OPTION_TEXT, .value = "[all]",
                                       .help = "print this help, or all options"};
    g_string_append(out, "\nHelp:\n");
    append_option(out, &help);
}

/* Without headings: the first screen holds them all. */
static void append_few(GString *out, const struct gt_cli_option *table)
{
    const struct gt_cli_option help = {"help", 'h', GT_OPTION_FLAG, .help = "print this help"};
    g_string_append(out, "\nOptions:\n");
    for (const struct gt_cli_option *o = table; o && o->name; o++)
        append_option(out, o);
    append_option(out, &help);
}

static void append_options(GString *out, const struct gt_cli_command *c,
                           const struct gt_cli_option_group *group, bool all)
{
    const struct listing l = {c->spec.table, group ? group->table : NULL, all};
    const size_t n = count_options(l.table) + count_options(l.group) + 1;
    if (n <= FIRST_ROWS && !group) {
        append_few(out, l.table);
        return;
    }
    if (group)
        g_string_append_printf(out, "\nOptions with --%s %s%s:\n", c->spec.chooser, group->name,
                               group == c->spec.groups ? " (the default)" : "");
    append_headings(out, &l);
    g_string_append_c(out, '\n');
    for (const struct gt_cli_option_group *g = c->spec.groups; g && g->name; g++)
        if (g != group)
            g_string_append_printf(out, "For the options of %s: guesttrace help %s --%s %s\n",
                                   g->name, gt_cli_command_called(c), c->spec.chooser, g->name);
    if (all)
        return;
    g_autofree char *chosen =
        group ? g_strdup_printf(" --%s %s", c->spec.chooser, group->name) : g_strdup("");
    g_string_append_printf(out, "For all %zu options: guesttrace help %s%s all\n", n,
                           gt_cli_command_called(c), chosen);
}

void gt_cli_help_command(GString *out, const struct gt_cli_command *c, const char *group, bool all)
{
    for (size_t i = 0; c->usage[i]; i++)
        g_string_append_printf(out, "%s guesttrace %s%s%s\n",
                               i ? "      " : "usage:", gt_cli_command_called(c),
                               c->usage[i][0] ? " " : "", c->usage[i]);
    g_string_append_c(out, '\n');
    g_autofree char *summary = g_strconcat(c->summary, ".", NULL);
    summary[0] = g_ascii_toupper(summary[0]);
    append_wrapped(out, summary, 0, 0);
    for (size_t i = 0; c->paragraphs && c->paragraphs[i]; i++) {
        g_string_append_c(out, '\n');
        append_wrapped(out, c->paragraphs[i], 0, 0);
    }
    append_options(out, c, gt_cli_options_group(&c->spec, group), all);
}

struct help_options {
    bool man;
    const char *tool;
};

static const struct gt_cli_option help_table[] = {
    {"man", .type = GT_OPTION_FLAG, .help = "print the manual page, or that of COMMAND, in mdoc",
     .offset = offsetof(struct help_options, man)},
    {"tool", .type = GT_OPTION_TEXT, .value = "TOOL",
     .help = "with 'record': show the options of this tool",
     .offset = offsetof(struct help_options, tool)},
    {0},
};

/* What the operands name: a family, a family's verb, or a command; *used: how many of them. Manual
 * pages are named as commands of earlier releases are. */
static const struct gt_cli_command *find_command(size_t n, char **operands, bool man,
                                                 const struct gt_cli_family **family, size_t *used)
{
    const struct gt_cli_family *f = n > 0 ? gt_cli_family_by_name(operands[0]) : NULL;
    const struct gt_cli_command *c = f && n >= 2 ? gt_cli_family_command(f, operands[1]) : NULL;
    *used = c ? 2 : MIN(n, 1);
    if (!c && n > 0 && (man || !f))
        c = gt_cli_command_by_name(operands[0]);
    *family = c ? NULL : f;
    return c;
}

static int help_of(const struct gt_cli_command *self, const struct help_options *opt,
                   const char *name, const struct gt_cli_command *c, bool all, GString *text)
{
    g_autofree char *near = c ? NULL : gt_cli_commands_near(name);
    if (!c)
        return gt_cli_command_usage_error(self, "unknown command '%s'%s", name, near);
    if (opt->tool && !gt_cli_options_group(&c->spec, opt->tool))
        return gt_cli_command_usage_error(self, "'%s' has no tool '%s'", name, opt->tool);
    if (opt->man)
        gt_cli_man_page_of(text, c);
    else
        gt_cli_help_command(text, c, opt->tool, all);
    return GT_EXIT_DONE;
}

static int run_help(const struct gt_cli_command *self, const void *options, size_t n,
                    char **operands)
{
    const struct help_options *opt = options;
    g_autoptr(GString) text = g_string_new(NULL);
    const struct gt_cli_family *family;
    size_t used;
    const struct gt_cli_command *c = find_command(n, operands, opt->man, &family, &used);
    const bool all = n == used + 1 && strcmp(operands[used], "all") == 0;
    int status = GT_EXIT_DONE;
    if (n > used && !all)
        return gt_cli_command_usage_error(self, "unexpected '%s'", operands[n - 1]);
    if (n == 0 && opt->man)
        gt_cli_man_page(text);
    else if (n == 0)
        gt_cli_help_overview(text);
    else if (family)
        gt_cli_help_family(text, family);
    else
        status = help_of(self, opt, operands[0], c, all, text);
    fputs(text->str, stdout);
    return status;
}

const struct gt_cli_command gt_cli_command_help = {
    .name = "help",
    .summary = "explain guesttrace or one of its commands",
    .usage = (const char *const[]){"[COMMAND [all]]", "record --tool TOOL [all]", "--man [COMMAND]",
                                   NULL},
    .spec = {.table = help_table},
    .options_size = sizeof(struct help_options),
    .operands = GT_OPERANDS_COMMANDS,
    .run = run_help,
};
