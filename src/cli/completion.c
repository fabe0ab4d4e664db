/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `guesttrace completion`: scripts for bash, zsh and fish from the table of subcommands.
 *
 * Summaries and help texts are written in single quotes: append_quoted escapes the texts of the
 * table for the shell.
 */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

/* `text` in single quotes; each character of `escape` gets a backslash, `quote` stands for a single
 * quote. */
static void append_quoted(GString *out, const char *text, const char *escape, const char *quote)
{
    g_string_append_c(out, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            g_string_append(out, quote);
            continue;
        }
        if (strchr(escape, *c))
            g_string_append_c(out, '\\');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, '\'');
}

/* The first words: commands, without names of earlier releases, and families. */
static void append_names(GString *out)
{
    const size_t begin = out->len;
    for (size_t i = 0; gt_cli_command_at(i); i++)
        if (!gt_cli_command_at(i)->now)
            g_string_append_printf(out, "%s%s", out->len > begin ? " " : "",
                                   gt_cli_command_at(i)->name);
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        g_string_append_printf(out, " %s", f->name);
}

static void append_verbs(GString *out, const struct gt_cli_family *f)
{
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        g_string_append_printf(out, "%s%s", v == f->verb ? "" : " ", v->name);
}

static char *join_choices(const char *const *choices)
{
    return g_strjoinv(" ", (char **)choices);
}

/* ---- bash ---------------------------------------------------------------------------------- */

static void bash_reply(GString *out, const char *flags, const char *words)
{
    if (words)
        g_string_append_printf(out, "mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\")", words);
    else if (flags)
        g_string_append_printf(out, "mapfile -t COMPREPLY < <(compgen %s -- \"$cur\")", flags);
    else
        g_string_append(out, "COMPREPLY=()");
}

static void bash_option(GString *out, const struct gt_cli_command *c, const struct gt_cli_option *o)
{
    if (o->type == GT_OPTION_FLAG)
        return;
    g_string_append_printf(out, "    %s:--%s", c->name, o->name);
    if (o->letter)
        g_string_append_printf(out, " | %s:-%c", c->name, o->letter);
    g_string_append(out, ")\n        ");
    g_autofree char *words = gt_cli_options_choices(&c->spec, o);
    const char *flags = o->type == GT_OPTION_FILE ? "-f" : o->type == GT_OPTION_DIR ? "-d" : NULL;
    bash_reply(out, flags, words);
    g_string_append(out, "\n        return\n        ;;\n");
}

static void bash_operands(GString *out, const struct gt_cli_command *c)
{
    static const char *const flags[] = {
        [GT_OPERANDS_FILES] = "-f",
        [GT_OPERANDS_DIRS] = "-d",
        [GT_OPERANDS_PROGRAM] = "-c -f",
        [GT_OPERANDS_CHOICES] = NULL,
    };
    g_autoptr(GString) words = g_string_new(NULL);
    g_string_append_printf(out, "    %s:-*)\n        ", c->name);
    const struct gt_cli_option *o;
    for (size_t k = 0; (o = gt_cli_options_at(&c->spec, k)); k++)
        g_string_append_printf(words, "--%s ", o->name);
    g_string_append(words, "--help");
    bash_reply(out, NULL, words->str);
    g_string_append_printf(out, "\n        ;;\n    %s:*)\n        ", c->name);
    g_string_truncate(words, 0);
    if (c->operands == GT_OPERANDS_COMMANDS)
        append_names(words);
    g_autofree char *choices = c->operand_choices ? join_choices(c->operand_choices) : NULL;
    if (choices)
        g_string_append(words, choices);
    bash_reply(out, flags[c->operands], words->len ? words->str : NULL);
    g_string_append(out, "\n        ;;\n");
}

/* The second word of a family; after it, the command that it names. */
static void bash_family(GString *out, const struct gt_cli_family *f)
{
    g_autoptr(GString) words = g_string_new(NULL);
    append_verbs(words, f);
    g_string_append(words, " --help");
    g_string_append_printf(out, "    %s)\n        if ((COMP_CWORD == 2)); then\n            ",
                           f->name);
    bash_reply(out, NULL, words->str);
    g_string_append(out, "\n            return\n        fi\n        case ${COMP_WORDS[2]} in\n");
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        g_string_append_printf(out, "        %s) cmd=%s ;;\n", v->name, v->command->name);
    g_string_append(out, "        esac\n        ;;\n");
}

void gt_cli_completion_bash(GString *out)
{
    g_string_append(out, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                         "# bash completion for guesttrace\n"
                         "_guesttrace()\n{\n"
                         "    local cur=${COMP_WORDS[COMP_CWORD]}"
                         " prev=${COMP_WORDS[COMP_CWORD - 1]} cmd=${COMP_WORDS[1]}\n"
                         "    COMPREPLY=()\n"
                         "    if ((COMP_CWORD == 1)); then\n        ");
    g_autoptr(GString) words = g_string_new(NULL);
    append_names(words);
    g_string_append(words, " --help --version");
    bash_reply(out, NULL, words->str);
    g_string_append(out, "\n        return\n    fi\n    case $cmd in\n");
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        bash_family(out, f);
    g_string_append(out, "    esac\n    case $cmd:$prev in\n");
    const struct gt_cli_option *o;
    for (size_t i = 0; gt_cli_command_at(i); i++)
        for (size_t k = 0; (o = gt_cli_options_at(&gt_cli_command_at(i)->spec, k)); k++)
            bash_option(out, gt_cli_command_at(i), o);
    g_string_append(out, "    esac\n    case $cmd:$cur in\n");
    for (size_t i = 0; gt_cli_command_at(i); i++)
        bash_operands(out, gt_cli_command_at(i));
    g_string_append(out, "    esac\n}\ncomplete -o filenames -F _guesttrace guesttrace\n");
}

/* ---- zsh ----------------------------------------------------------------------------------- */

/* What may not stand bare in a part of an _arguments specification. */
static void zsh_part(GString *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr("[]:\\", *c))
            g_string_append_c(out, '\\');
        g_string_append_c(out, *c);
    }
}

/* [HELP] and, if it takes a value, :NAME:ACTION. */
static char *zsh_spec(const struct gt_cli_command *c, const struct gt_cli_option *o)
{
    GString *spec = g_string_new("[");
    zsh_part(spec, o->help);
    g_string_append_c(spec, ']');
    if (o->type == GT_OPTION_FLAG)
        return g_string_free(spec, FALSE);
    g_string_append_c(spec, ':');
    zsh_part(spec, o->value);
    g_string_append_c(spec, ':');
    g_autofree char *choices = gt_cli_options_choices(&c->spec, o);
    if (choices)
        g_string_append_printf(spec, "(%s)", choices);
    else if (o->type == GT_OPTION_FILE || o->type == GT_OPTION_DIR)
        g_string_append(spec, o->type == GT_OPTION_DIR ? "_files -/" : "_files");
    return g_string_free(spec, FALSE);
}

static void zsh_option(GString *out, const struct gt_cli_command *c, const struct gt_cli_option *o)
{
    const char *equals = o->type == GT_OPTION_FLAG ? "" : "=";
    const char *plus = o->type == GT_OPTION_FLAG ? "" : "+";
    g_autofree char *spec = zsh_spec(c, o);
    g_string_append(out, "            ");
    if (o->repeat)
        g_string_append(out, "'*'");
    else if (o->letter)
        g_string_append_printf(out, "'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        g_string_append_printf(out, "{-%c%s,--%s%s}", o->letter, plus, o->name, equals);
    else
        g_string_append_printf(out, "--%s%s", o->name, equals);
    append_quoted(out, spec, "", "'\\''");
    g_string_append(out, " \\\n");
}

static void zsh_operands(GString *out, const struct gt_cli_command *c)
{
    g_autofree char *choices = c->operand_choices ? join_choices(c->operand_choices) : NULL;
    g_string_append(out, "            ");
    switch (c->operands) {
    case GT_OPERANDS_FILES:
        g_string_append(out, "'*:file:_files'");
        break;
    case GT_OPERANDS_DIRS:
        g_string_append(out, "'*:directory:_files -/'");
        break;
    case GT_OPERANDS_PROGRAM:
        g_string_append(out, "'(-)1:program:_files' '*::arguments:_normal'");
        break;
    case GT_OPERANDS_COMMANDS:
        g_string_append(out, "'1:command:(");
        append_names(out);
        g_string_append(out, ")'");
        break;
    case GT_OPERANDS_CHOICES:
        g_string_append_printf(out, "'1:which:(%s)'", choices);
        break;
    }
    g_string_append(out, "\n        ;;\n");
}

static void zsh_described(GString *out, const char *name, const char *about)
{
    g_autofree char *line = g_strconcat(name, ":", about, NULL);
    g_string_append(out, "        ");
    append_quoted(out, line, "", "'\\''");
    g_string_append_c(out, '\n');
}

/* The verb becomes the command, and the words before it go. */
static void zsh_family(GString *out, const struct gt_cli_family *f)
{
    g_string_append_printf(out, "    %s)\n        commands=(\n", f->name);
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        zsh_described(out, v->name, v->command->summary);
    g_string_append(out, "        )\n"
                         "        if ((CURRENT == 2)); then\n"
                         "            _describe command commands\n            return\n"
                         "        fi\n        case $words[2] in\n");
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        g_string_append_printf(out, "        %s) cmd=%s ;;\n", v->name, v->command->name);
    g_string_append(out, "        esac\n        shift words\n        ((CURRENT--))\n        ;;\n");
}

void gt_cli_completion_zsh(GString *out)
{
    g_string_append(out, "#compdef guesttrace\n# SPDX-License-Identifier: GPL-2.0-or-later\n"
                         "_guesttrace() {\n"
                         "    local -a commands\n    commands=(\n");
    for (size_t i = 0; gt_cli_command_at(i); i++)
        if (!gt_cli_command_at(i)->now)
            zsh_described(out, gt_cli_command_at(i)->name, gt_cli_command_at(i)->summary);
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        zsh_described(out, f->name, f->about);
    g_string_append(out, "    )\n"
                         "    if ((CURRENT == 2)); then\n"
                         "        _describe command commands\n        return\n    fi\n"
                         "    local cmd=$words[2]\n"
                         "    shift words\n    ((CURRENT--))\n"
                         "    case $cmd in\n");
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        zsh_family(out, f);
    g_string_append(out, "    esac\n    case $cmd in\n");
    for (size_t i = 0; gt_cli_command_at(i); i++) {
        const struct gt_cli_command *c = gt_cli_command_at(i);
        g_string_append_printf(out, "    %s)\n        _arguments -s -S \\\n", c->name);
        const struct gt_cli_option *o;
        for (size_t k = 0; (o = gt_cli_options_at(&c->spec, k)); k++)
            zsh_option(out, c, o);
        g_string_append(out, "            '(- *)'{-h,--help}'[print help]' \\\n");
        zsh_operands(out, c);
    }
    g_string_append(out, "    esac\n}\n_guesttrace \"$@\"\n");
}

/* ---- fish ---------------------------------------------------------------------------------- */

/* True where the words are so, whatever follows. */
static const char fish_is[] = "function __guesttrace_is\n"
                              "    set -l words (commandline -opc)\n"
                              "    set -l last (math 1 + (count $argv))\n"
                              "    test (count $words) -ge $last\n"
                              "    and test \"$words[2..$last]\" = \"$argv\"\n"
                              "end\n";

/* The command is given, by its name or as a family's verb. */
static char *fish_given(const struct gt_cli_command *c)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "__guesttrace_is %s", c->name);
    if (gt_cli_family_by_name(c->name))
        g_string_truncate(text, 0);
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
            if (v->command == c)
                g_string_append_printf(text, "%s__guesttrace_is %s %s", text->len ? "; or " : "",
                                       f->name, v->name);
    return g_string_free(text, FALSE);
}

static void fish_option(GString *out, const struct gt_cli_command *c, const struct gt_cli_option *o)
{
    g_autofree char *given = fish_given(c);
    g_string_append_printf(out, "complete -c guesttrace -n '%s' -l %s", given, o->name);
    if (o->letter)
        g_string_append_printf(out, " -s %c", o->letter);
    g_autofree char *choices = gt_cli_options_choices(&c->spec, o);
    if (choices)
        g_string_append_printf(out, " -x -a '%s'", choices);
    else if (o->type == GT_OPTION_FILE)
        g_string_append(out, " -r -F");
    else if (o->type == GT_OPTION_DIR)
        g_string_append(out, " -x -a '(__fish_complete_directories)'");
    else if (o->type != GT_OPTION_FLAG)
        g_string_append(out, " -x");
    g_string_append(out, " -d ");
    append_quoted(out, o->help, "\\", "\\'");
    g_string_append_c(out, '\n');
}

static void fish_operands(GString *out, const struct gt_cli_command *c)
{
    g_autoptr(GString) words = g_string_new(NULL);
    if (c->operands == GT_OPERANDS_COMMANDS)
        append_names(words);
    else if (c->operands == GT_OPERANDS_DIRS)
        g_string_append(words, "(__fish_complete_directories)");
    g_autofree char *choices = c->operand_choices ? join_choices(c->operand_choices) : NULL;
    if (choices)
        g_string_append(words, choices);
    if (!words->len && c->operands != GT_OPERANDS_NONE)
        return; /* fish offers files by itself */
    g_autofree char *given = fish_given(c);
    g_string_append_printf(out, "complete -c guesttrace -n '%s' -f -a '%s'\n", given, words->str);
}

static void fish_word(GString *out, const char *given, const char *word, const char *about)
{
    g_string_append_printf(out, "complete -c guesttrace -n '%s' -f -a %s -d ", given, word);
    append_quoted(out, about, "\\", "\\'");
    g_string_append_c(out, '\n');
}

static void fish_family(GString *out, const struct gt_cli_family *f)
{
    g_autoptr(GString) given = g_string_new(NULL);
    fish_word(out, "__fish_use_subcommand", f->name, f->about);
    g_string_printf(given, "__guesttrace_is %s", f->name);
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        g_string_append_printf(given, "; and not __guesttrace_is %s %s", f->name, v->name);
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        fish_word(out, given->str, v->name, v->command->summary);
}

void gt_cli_completion_fish(GString *out)
{
    g_string_append(out, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                         "# fish completion for guesttrace\n"
                         "complete -c guesttrace -n __fish_use_subcommand -l version -d 'print the"
                         " version'\n"
                         "complete -c guesttrace -s h -l help -d 'print help'\n");
    g_string_append(out, fish_is);
    for (size_t i = 0; gt_cli_command_at(i); i++) {
        const struct gt_cli_command *c = gt_cli_command_at(i);
        if (!c->now)
            fish_word(out, "__fish_use_subcommand", c->name, c->summary);
        const struct gt_cli_option *o;
        for (size_t k = 0; (o = gt_cli_options_at(&c->spec, k)); k++)
            fish_option(out, c, o);
        fish_operands(out, c);
    }
    for (const struct gt_cli_family *f = gt_cli_family_first(); f->name; f++)
        fish_family(out, f);
}

/* ---- the command --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*make)(GString *out);
} shells[] = {
    {"bash", gt_cli_completion_bash},
    {"zsh", gt_cli_completion_zsh},
    {"fish", gt_cli_completion_fish},
};

static int run_completion(const struct gt_cli_command *self, const void *options, size_t n,
                          char **operands)
{
    (void)options;
    if (n != 1)
        return gt_cli_command_usage_error(self, "takes the name of one shell: bash, zsh or fish");
    for (size_t i = 0; i < G_N_ELEMENTS(shells); i++) {
        if (strcmp(shells[i].name, operands[0]) != 0)
            continue;
        g_autoptr(GString) text = g_string_new(NULL);
        shells[i].make(text);
        fputs(text->str, stdout);
        return GT_EXIT_DONE;
    }
    return gt_cli_command_usage_error(self, "unknown shell '%s' (bash, zsh or fish)", operands[0]);
}

const struct gt_cli_command gt_cli_command_completion = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .usage = (const char *const[]){"bash|zsh|fish", NULL},
    .operands = GT_OPERANDS_CHOICES,
    .operand_choices = (const char *const[]){"bash", "zsh", "fish", NULL},
    .run = run_completion,
};
