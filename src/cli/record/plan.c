/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From `record`'s command line to QEMU's: which QEMU, which plugin, which arguments.
 *
 * A program becomes `QEMU -plugin P -U V [-L ROOT] [-0 NAME] PROGRAM ARGS...`; a command that is a
 * QEMU gets `-plugin P` (and -U V in user mode) right after its first word. Where recording may be
 * switched off and on, the plugin is loaded once more, before, for what QEMU must not free
 * while threads use it (qemu/host.h, GT_HOST_START_AGAIN).
 */
#include "base/qemu_environment.h"
#include "cli/command.h"
#include "cli/record/arguments.h"
#include "cli/record/causes.h"
#include "cli/record/console.h"
#include "cli/record/console_events.h"
#include "cli/record/machine.h"
#include "cli/record/names.h"
#include "cli/record/plugins.h"
#include "cli/record/qemu.h"
#include "names/image/program.h"

#include "guest/arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static void add(struct gt_record_recording *r, const char *word)
{
    g_ptr_array_add(r->argv, g_strdup(word));
}

static void add_all(struct gt_record_recording *r, char **words)
{
    for (; *words; words++)
        add(r, *words);
    g_ptr_array_add(r->argv, NULL);
}

static void add_value(GString *out, const char *name, const char *value)
{
    if (!value)
        return;
    g_string_append_printf(out, ",%s=", name);
    gt_record_qemu_append_value(out, value);
}

/* The plugin by another path than r->plugin: QEMU adds up the arguments of a path. */
static void add_kept(struct gt_record_recording *r)
{
    g_autofree char *dir = g_path_get_dirname(r->plugin), *base = g_path_get_basename(r->plugin);
    g_autofree char *path = g_strconcat(dir, "/./", base, NULL);
    GString *value = g_string_new("file=");
    gt_record_qemu_append_value(value, path);
    g_string_append(value, ",keep=events");
    add(r, "-plugin");
    g_ptr_array_add(r->argv, g_string_free(value, FALSE));
}

/* What both kinds of command lines get after QEMU's name. In user mode the guest would inherit the
 * variables that are set for QEMU and the plugin: -U takes them away. */
static void add_plugin(struct gt_record_recording *r)
{
    GString *value = g_string_new("file=");
    gt_record_qemu_append_value(value, r->plugin);
    r->tool->arguments(r, value);
    if (r->tool == &gt_record_tool_events || !gt_record_starts_off(r))
        add_value(value, "trace", r->opt->trace);
    if (r->user_mode && !r->opt->no_follow_exec)
        add_value(value, "follow-exec", "on");
    add_value(value, "trace-file", r->opt->trace_file);
    if (r->tool->switches && r->tool->switches(r))
        add_kept(r);
    add(r, "-plugin");
    g_ptr_array_add(r->argv, g_string_free(value, FALSE));
    if (r->user_mode) {
        add(r, "-U");
        add(r, GT_QEMU_VERSION_VARIABLE);
    }
    if (r->user_mode && !g_getenv(GT_SLICE_VARIABLE)) {
        add(r, "-U");
        add(r, GT_SLICE_VARIABLE);
    }
}

static int exit_of(int status)
{
    return status == GT_E_NOT_FOUND ? GT_EXIT_NO_PROGRAM
           : status == GT_E_USAGE   ? GT_EXIT_USAGE
                                    : GT_EXIT_CANNOT_RUN;
}

/* ---- a command that is a QEMU -------------------------------------------------------------- */

static bool is_qemu(const char *word)
{
    if (gt_record_qemu_is_name(word))
        return true;
    g_autoptr(GPtrArray) found = gt_image_program_search(word, false);
    struct gt_image_program p;
    if (!found->len || gt_image_program_inspect(found->pdata[0], &p, NULL) < 0)
        return false;
    bool yes = p.exports_plugins;
    gt_image_program_clear(&p);
    return yes;
}

/* The program among the words of a user-mode QEMU; where there is none, QEMU says so. */
static void note_program(struct gt_record_recording *r, char *const *words)
{
    const char *root = NULL;
    char *const *program = gt_record_qemu_program(words, &root);
    struct gt_image_program p;
    if (!program || gt_image_program_inspect(*program, &p, NULL) < 0)
        return;
    const struct gt_record_guest_target *machine =
        p.is_elf ? gt_record_guest_target_find(p.e_machine, p.bits, p.data) : NULL;
    gt_image_program_clear(&p);
    if (machine)
        r->program = (struct gt_record_program){
            .path = g_strdup(*program), .root = g_strdup(root), .triples = machine->triples};
}

static int find_qemu_command(struct gt_record_recording *r, char **operands, struct gt_error *err)
{
    r->user_mode = gt_record_qemu_is_user_name(operands[0]);
    if (r->opt->sysroot && r->user_mode)
        return gt_error_set(err, GT_E_USAGE,
                            "--sysroot is for a program or a machine; give %s its own -L",
                            operands[0]);
    if (r->user_mode) {
        g_autofree char *base = g_path_get_basename(operands[0]);
        r->target = g_strdup(base + strlen("qemu-"));
    }
    if (r->user_mode)
        note_program(r, operands + 1);
    return gt_record_qemu_find(operands[0], &r->qemu, err);
}

static void add_qemu_command(struct gt_record_recording *r, char **operands)
{
    add(r, operands[0]);
    add_plugin(r);
    if (gt_record_causes_config(r->causes)) {
        add(r, "-readconfig");
        add(r, gt_record_causes_config(r->causes));
    }
    add_all(r, operands + 1);
}

/* ---- a program ----------------------------------------------------------------------------- */

struct target {
    char *path;
    struct gt_image_program program;
    const struct gt_record_guest_target *machine;
};

static int find_program(const char *name, char **path, struct gt_error *err)
{
    g_autoptr(GPtrArray) found = gt_image_program_search(name, false);
    if (found->len) {
        *path = g_strdup(found->pdata[0]);
        return 0;
    }
    bool here = g_file_test(name, G_FILE_TEST_IS_REGULAR);
    return gt_error_set(err, GT_E_NOT_FOUND, "no program '%s' in PATH%s%s%s", name,
                        here ? " (did you mean ./" : "", here ? name : "", here ? "?)" : "");
}

static int not_a_program(const char *path, const struct gt_image_program *p, struct gt_error *err)
{
    if (p->shebang)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s is a script, not an ELF program; its interpreter can be recorded:"
                            " guesttrace record %s %s (a script that runs a QEMU with the arguments"
                            " it gets must be called qemu-SOMETHING)",
                            path, p->shebang, path);
    if (!p->is_elf)
        return gt_error_set(err, GT_E_FORMAT, "%s is not an ELF program", path);
    if (p->e_type == ET_DYN)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s is a shared library, not a program: it has no entry point", path);
    return gt_error_set(err, GT_E_FORMAT, "%s is an ELF file but not a program (type %u)", path,
                        p->e_type);
}

static int find_machine(const struct gt_record_recording *r, const char *path,
                        const struct gt_image_program *p,
                        const struct gt_record_guest_target **machine, struct gt_error *err)
{
    if (!p->is_elf || (p->e_type != ET_EXEC && p->e_type != ET_DYN) || !p->has_entry)
        return not_a_program(path, p, err);
    *machine = gt_record_guest_target_find(p->e_machine, p->bits, p->data);
    if (!*machine)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s is for a machine that QEMU's user mode does not have"
                            " (ELF machine %u, %u bits)",
                            path, p->e_machine, p->bits);
    if (!r->tool->needs_machine || gt_arch_by_target((*machine)->target))
        return 0;
    g_autoptr(GString) known = g_string_new(NULL);
    for (size_t i = 0; gt_arch_at(i); i++)
        g_string_append_printf(known, "%s%s", i ? ", " : "", gt_arch_at(i)->name);
    return gt_error_set(err, GT_E_UNSUPPORTED,
                        "%s is for %s, which guesttrace does not support (supported: %s)", path,
                        (*machine)->target, known->str);
}

/* Where a cross toolchain keeps the program's dynamic linker; NULL: nowhere known, or it is needed
 * nowhere but where the program says. */
static char *find_sysroot(const struct gt_record_guest_target *machine, const char *interpreter)
{
    static const char *const endings[] = {"", "/sys-root", "/libc"};
    if (!interpreter || access(interpreter, F_OK) == 0 || g_getenv("QEMU_LD_PREFIX"))
        return NULL;
    for (const char *const *triple = machine->triples; *triple; triple++) {
        for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
            char *root = g_strconcat("/usr/", *triple, endings[i], NULL);
            g_autofree char *linker = g_strconcat(root, interpreter, NULL);
            if (access(linker, F_OK) == 0)
                return root;
            g_free(root);
        }
    }
    return NULL;
}

static void add_program(struct gt_record_recording *r, const struct target *t, char **operands)
{
    add(r, r->qemu);
    add_plugin(r);
    if (r->program.root) {
        add(r, "-L");
        add(r, r->program.root);
    }
    if (strcmp(t->path, operands[0]) != 0) { /* the shell would not show it the path either */
        add(r, "-0");
        add(r, operands[0]);
    }
    add(r, t->path);
    add_all(r, operands + 1);
}

/* A QEMU whose name says which machine it is must be for the program's. */
static int check_qemu(const char *qemu, const struct target *t, struct gt_error *err)
{
    g_autofree char *base = g_path_get_basename(qemu);
    const char *is_for = base + strlen("qemu-");
    if (!gt_record_qemu_is_user_name(base) || strcmp(is_for, t->machine->target) == 0)
        return 0;
    return gt_error_set(err, GT_E_UNSUPPORTED,
                        "%s is for %s, and %s runs programs for %s: use qemu-%s", t->path,
                        t->machine->target, qemu, is_for, t->machine->target);
}

static int find_target(struct gt_record_recording *r, const char *name, struct target *t,
                       struct gt_error *err)
{
    if (r->opt->symbols)
        return gt_error_set(err, GT_E_USAGE,
                            "--symbols is for machines (qemu-system-*): a program's own symbols "
                            "are found without it");
    int status = find_program(name, &t->path, err);
    if (status == 0)
        status = gt_image_program_inspect(t->path, &t->program, err);
    if (status == 0)
        status = find_machine(r, t->path, &t->program, &t->machine, err);
    if (status == 0 && access(t->path, X_OK) != 0)
        status = gt_error_set(err, GT_E_FORMAT, "%s: %s: it is not executable (chmod +x %s)",
                              t->path, strerror(errno), t->path);
    if (status == 0 && r->opt->qemu)
        status = check_qemu(r->opt->qemu, t, err);
    if (status < 0)
        return status;
    r->user_mode = true;
    r->target = g_strdup(t->machine->target);
    r->program = (struct gt_record_program){
        .path = g_strdup(t->path),
        .root = r->opt->sysroot ? g_strdup(r->opt->sysroot)
                                : find_sysroot(t->machine, t->program.interpreter),
        .triples = t->machine->triples};
    if (r->opt->qemu)
        return gt_record_qemu_find(r->opt->qemu, &r->qemu, err);
    return gt_record_qemu_find_user(t->machine->target, &r->qemu, &r->qemu_built, err);
}

/* ---- both ---------------------------------------------------------------------------------- */

/* Linux takes words up to a size. */
static int check_plugin_word(const struct gt_record_recording *r, struct gt_error *err)
{
    enum { MOST = 32 * 4096 - 1 };
    for (guint i = 0; i < r->argv->len && r->argv->pdata[i]; i++) {
        size_t n = strlen(r->argv->pdata[i]);
        if (n <= MOST || i == 0 || strcmp(r->argv->pdata[i - 1], "-plugin") != 0)
            continue;
        gt_error_set(
            err, GT_E_USAGE,
            "the options of the recording have %zu bytes, and the plugin takes at most %d; "
            "give fewer filters, or several as one expression ('a|b')",
            n, MOST);
        return GT_EXIT_USAGE;
    }
    return GT_EXIT_DONE;
}

int gt_record_plan(struct gt_record_recording *r, size_t n, char **operands, struct gt_error *err)
{
    r->argv = g_ptr_array_new_with_free_func(g_free);
    if (n == 0) {
        gt_error_set(err, GT_E_USAGE, "needs a program, or a QEMU and its arguments");
        return GT_EXIT_USAGE;
    }
    r->compact = r->tool->file && !(r->opt->format && strcmp(r->opt->format, "uftrace") == 0);
    const char *output = r->compact ? r->tool->file : r->tool->output;
    r->shown = g_strdup(r->opt->output ? r->opt->output : output);
    r->output = g_canonicalize_filename(r->shown, NULL);
    r->dir = g_strconcat(r->output, r->compact ? GT_COMPACT_WORK_ENDING : "", NULL);
    bool qemu = !r->opt->qemu && is_qemu(operands[0]);
    struct target target = {0};
    int status =
        qemu ? find_qemu_command(r, operands, err) : find_target(r, operands[0], &target, err);
    int result = status < 0 ? exit_of(status) : GT_EXIT_DONE;
    if (status == 0 && gt_record_plugins_find(r->tool->plugin, r->opt->plugin, &r->plugin, err) < 0)
        result = GT_EXIT_OWN;
    r->machine = qemu && !r->user_mode ? operands + 1 : NULL;
    if (result == GT_EXIT_DONE && r->tool->prepare && (status = r->tool->prepare(r, err)) < 0)
        result = status == GT_E_USAGE ? GT_EXIT_USAGE : GT_EXIT_OWN;
    if (result == GT_EXIT_DONE && qemu)
        add_qemu_command(r, operands);
    else if (result == GT_EXIT_DONE)
        add_program(r, &target, operands);
    if (result == GT_EXIT_DONE)
        result = check_plugin_word(r, err);
    gt_image_program_clear(&target.program);
    g_free(target.path);
    return result;
}

void gt_record_clear(struct gt_record_recording *r)
{
    gt_record_names_clear(r);
    gt_record_arguments_clear(r);
    gt_record_programs_clear(r);
    g_free(r->program.path);
    g_free(r->program.root);
    g_free(r->target);
    gt_record_console_free(r->console);
    gt_record_causes_free(r->causes);
    gt_record_console_events_free(r->console_events);
    gt_events_dynamic_free(&r->events);
    if (r->snapshots_before)
        g_array_unref(r->snapshots_before);
    if (r->folder_events)
        close(r->folder_events);
    g_free(r->shown);
    g_free(r->output);
    g_free(r->dir);
    g_free(r->qemu);
    g_free(r->plugin);
    if (r->argv)
        g_ptr_array_unref(r->argv);
}
