/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manual pages guesttrace(1) and guesttrace-COMMAND(1), in mdoc: commands and options from the
 * table, the rest from here. */
#include "cli/command.h"
#include "cli/default_recording.h"

#include <string.h>

#define LINE_MAX_BYTES 78

/* Text for mdoc: lines that end with each sentence and before they get long, no backslash, and none
 * that would be read as a request. */
static void append_text(GString *out, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    gsize line = out->len;
    for (char **w = words; *w; w++) {
        if (out->len > line) {
            bool sentence = out->str[out->len - 1] == '.' && g_ascii_isupper(**w);
            bool full = out->len - line + strlen(*w) + 1 > LINE_MAX_BYTES;
            g_string_append_c(out, sentence || full ? '\n' : ' ');
            line = sentence || full ? out->len : line;
        }
        if (out->len == line && (**w == '.' || **w == '\''))
            g_string_append(out, "\\&");
        for (const char *c = *w; *c; c++) {
            if (*c == '\\' || *c == '-')
                g_string_append(out, *c == '-' ? "\\-" : "\\e");
            else
                g_string_append_c(out, *c);
        }
    }
    g_string_append_c(out, '\n');
}

/* Words that end in punctuation, or are macros' names, must not be taken for it: quoted. */
static void append_argument(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            g_string_append(out, "\\(dq");
        else if (*c == '\\')
            g_string_append(out, "\\e");
        else
            g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
}

static void append_option(GString *out, const struct gt_cli_option *o)
{
    g_autofree char *value = gt_cli_option_value_name(o);
    g_string_append(out, ".It ");
    if (o->letter)
        g_string_append_printf(out, "Fl %c , ", o->letter);
    g_string_append_printf(out, "Fl Fl %s", o->name);
    if (value) {
        g_string_append(out, " Ar ");
        append_argument(out, value);
    }
    g_string_append_c(out, '\n');
    g_autofree char *help = g_strconcat(o->help, o->repeat ? " (repeatable)." : ".", NULL);
    help[0] = g_ascii_toupper(help[0]);
    append_text(out, help);
}

static void append_options(GString *out, const struct gt_cli_option *table)
{
    if (!table || !table->name)
        return;
    g_string_append(out, ".Bl -tag -width Ds\n");
    for (const struct gt_cli_option *o = table; o->name; o++)
        append_option(out, o);
    g_string_append(out, ".El\n");
}

/* What a command does, and its options. */
static void append_description(GString *out, const struct gt_cli_command *c)
{
    g_autofree char *summary = g_strconcat(c->summary, ".", NULL);
    summary[0] = g_ascii_toupper(summary[0]);
    append_text(out, summary);
    for (size_t i = 0; c->paragraphs && c->paragraphs[i]; i++) {
        g_string_append(out, ".Pp\n");
        append_text(out, c->paragraphs[i]);
    }
    append_options(out, c->spec.table);
    for (const struct gt_cli_option_group *g = c->spec.groups; g && g->name; g++) {
        g_string_append_printf(out, ".Pp\nWith\n.Fl Fl %s Cm %s%s :\n", c->spec.chooser, g->name,
                               g == c->spec.groups ? "\n(the default)" : "");
        append_options(out, g->table);
    }
}

static void append_usage(GString *out, const struct gt_cli_command *c)
{
    for (size_t u = 0; c->usage[u]; u++) {
        g_string_append_printf(out, ".Nm guesttrace\n.Cm %s\n", gt_cli_command_called(c));
        if (c->usage[u][0])
            append_text(out, c->usage[u]);
    }
}

static void append_synopsis(GString *out)
{
    g_string_append(out, ".Sh SYNOPSIS\n");
    for (size_t i = 0; gt_cli_command_at(i); i++)
        append_usage(out, gt_cli_command_at(i));
    g_string_append(out, ".Nm guesttrace\n.Fl Fl help | Fl Fl version\n");
}

static const char tail[] =
    ".Sh ENVIRONMENT\n"
    ".Bl -tag -width Ds\n"
    ".It Ev GUESTTRACE_PLUGIN_DIR\n"
    "The directory of the plugins (default: beside the executable).\n"
    ".It Ev QEMU_LD_PREFIX\n"
    "The directory of a guest's libraries, as in QEMU; if set,\n"
    ".Cm record\n"
    "does not choose one.\n"
    ".El\n"
    ".Sh FILES\n"
    ".Bl -tag -width Ds\n"
    ".It Pa " GT_DEFAULT_FILE "\n"
    "The default output of\n"
    ".Cm record ;\n"
    "an earlier one is renamed to\n"
    ".Pa " GT_DEFAULT_FILE ".old .\n"
    ".It Pa " GT_DEFAULT_DIRECTORY "\n"
    "The same with\n"
    ".Fl Fl format Cm uftrace .\n"
    "Commands that read a recording take the newer of both where none is named.\n"
    ".It Pa " GT_DEFAULT_DIRECTORY "/guesttrace.stats\n"
    "How much was recorded, anomalies and counts, as key=value lines;\n"
    ".Cm info\n"
    "shows them.\n"
    ".El\n"
    ".Sh EXIT STATUS\n"
    "0 if all went well, 1 if something failed, 2 for an invalid\n"
    "command line.\n"
    ".Cm record\n"
    "ends as its child does, with the same status or signal.\n"
    "Without a child it exits with 125 if it failed itself, 126 if the program or its\n"
    "QEMU cannot be recorded, and 127 if there is no such program or no QEMU for it.\n"
    ".Sh EXAMPLES\n"
    "A program for another machine, then its call graph:\n"
    ".Bd -literal -offset indent\n"
    "guesttrace record ./hello.riscv64 world\n"
    "guesttrace graph\n"
    ".Ed\n"
    ".Pp\n"
    "A machine, with the functions of its firmware named:\n"
    ".Bd -literal -offset indent\n"
    "guesttrace record -o boot.gtrace --symbols fw_dynamic.elf:0x80000000 -- \\e\n"
    "    qemu-system-riscv64 -M virt -bios fw_dynamic.bin -nographic\n"
    "guesttrace view boot.gtrace\n"
    ".Ed\n"
    ".Pp\n"
    "A directory for uftrace, recorded or made of a file:\n"
    ".Bd -literal -offset indent\n"
    "guesttrace record --format uftrace -o ls.data /bin/ls\n"
    "guesttrace export --format uftrace -o boot.data boot.gtrace\n"
    "uftrace tui -d boot.data\n"
    ".Ed\n"
    ".Sh SEE ALSO\n"
    ".Xr uftrace 1\n";

void gt_cli_man_page(GString *out)
{
    g_string_append(out,
                    ".\\\" SPDX-License-Identifier: GPL-2.0-or-later\n"
                    ".Dd " GT_RELEASE_DATE "\n.Dt GUESTTRACE 1\n.Os\n.Sh NAME\n.Nm guesttrace\n"
                    ".Nd record what a QEMU guest executes\n");
    append_synopsis(out);
    g_string_append(out,
                    ".Sh DESCRIPTION\n"
                    ".Nm\n"
                    "loads a plugin into an unmodified QEMU and writes what other tools read.\n");
    for (size_t i = 0; gt_cli_command_at(i); i++) {
        g_string_append_printf(out, ".Ss guesttrace %s\n",
                               gt_cli_command_called(gt_cli_command_at(i)));
        append_description(out, gt_cli_command_at(i));
    }
    g_string_append(out, tail);
}

void gt_cli_man_page_of(GString *out, const struct gt_cli_command *c)
{
    g_autofree char *upper = g_ascii_strup(c->name, -1);
    g_string_append_printf(out,
                           ".\\\" SPDX-License-Identifier: GPL-2.0-or-later\n"
                           ".Dd " GT_RELEASE_DATE "\n.Dt GUESTTRACE-%s 1\n.Os\n.Sh NAME\n"
                           ".Nm guesttrace-%s\n.Nd %s\n.Sh SYNOPSIS\n",
                           upper, c->name, c->summary);
    append_usage(out, c);
    g_string_append(out, ".Sh DESCRIPTION\n");
    append_description(out, c);
    g_string_append(out, ".Sh SEE ALSO\n.Xr guesttrace 1\n");
}
