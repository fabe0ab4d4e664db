/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace setup-qemu`: builds a user-mode QEMU that loads plugins, by the scripts that are
 * installed with us. */
#include "cli/command.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside the executable: in the source tree, and installed. */
static const char *const places[] = {
    "../scripts",
    "../share/guesttrace/scripts",
    "../" GT_DATADIR "/guesttrace/scripts",
};

/* The folder of the scripts, or NULL. */
static char *find_scripts(void)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *bin = g_path_get_dirname(self ? self : "/usr/bin/guesttrace");
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *relative = g_build_filename(bin, places[i], NULL);
        g_autofree char *folder = g_canonicalize_filename(relative, NULL);
        g_autofree char *qemus = g_build_filename(folder, "qemus", NULL);
        if (access(qemus, X_OK) == 0)
            return g_steal_pointer(&folder);
    }
    return NULL;
}

/* Runs a script with our standard files; its exit status, 128 and its signal, or -1: it does not
 * start. */
static int run_script(const char *folder, const char *name, const char *const *arguments)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_build_filename(folder, name, NULL));
    for (; *arguments; arguments++)
        g_ptr_array_add(words, g_strdup(*arguments));
    g_ptr_array_add(words, NULL);
    int status;
    if (!g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL,
                      NULL, NULL, &status, NULL))
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_setup_qemu(const struct gt_cli_command *self, const void *options, size_t n,
                          char **operands)
{
    (void)options;
    (void)operands;
    if (n)
        return gt_cli_command_usage_error(self, "takes no operands");
    g_autofree char *folder = find_scripts();
    if (!folder)
        return gt_cli_command_fail(
            self, GT_EXIT_FAILED,
            "the scripts of guesttrace are missing: scripts/qemus is neither in"
            " its source tree nor installed");
    const struct {
        const char *name;
        const char *const *arguments;
    } steps[] = {
        {"setup", (const char *const[]){"--what", "qemu", NULL}},
        {"qemus", (const char *const[]){"user", NULL}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
        int status = run_script(folder, steps[i].name, steps[i].arguments);
        if (status != 0)
            return gt_cli_command_fail(self, GT_EXIT_FAILED, "%s/%s: %s", folder, steps[i].name,
                                       status < 0 ? "it does not start" : "it failed: see above");
    }
    return GT_EXIT_DONE;
}

const struct gt_cli_command gt_cli_command_setup_qemu = {
    .name = "setup-qemu",
    .summary = "build a user-mode QEMU that loads plugins",
    .usage = (const char *const[]){"", NULL},
    .paragraphs =
        (const char *const[]){
            "Debian 13's qemu-user is linked statically and loads no plugins, and older ones let "
            "plugins read no values. This builds a user-mode QEMU from Debian's source package, in "
            "some minutes, in ${XDG_CACHE_HOME:-~/.cache}/guesttrace/qemus/user, where 'record' "
            "finds it. Packages that are missing for that are named and installed first, which "
            "needs root "
            "or sudo. A second call changes nothing.",
            NULL},
    .operands = GT_OPERANDS_NONE,
    .run = run_setup_qemu,
};
