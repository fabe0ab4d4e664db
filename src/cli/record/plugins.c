/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding plugins: see plugins.h. */
#include "cli/record/plugins.h"

#include <glib.h>
#include <stdbool.h>

#define VARIABLE "GUESTTRACE_PLUGIN_DIR"

static const char *const places[] = {
    "plugins",
    "../lib/guesttrace/plugins",
    "../" GT_LIBDIR "/guesttrace/plugins",
};

static bool is_file(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

int gt_record_plugins_find(const char *name, const char *given, char **path, struct gt_error *err)
{
    const char *dir = g_getenv(VARIABLE);
    if (given || dir) {
        g_autofree char *file = given ? g_strdup(given) : g_build_filename(dir, name, NULL);
        *path = g_canonicalize_filename(file, NULL);
        if (is_file(*path))
            return 0;
        int status = gt_error_set(err, GT_E_NOT_FOUND, "no plugin %s (%s)", *path,
                                  given ? "--plugin" : VARIABLE);
        g_clear_pointer(path, g_free);
        return status;
    }
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *bin = g_path_get_dirname(self ? self : "/usr/bin/guesttrace");
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *relative = g_build_filename(bin, places[i], name, NULL);
        *path = g_canonicalize_filename(relative, NULL);
        if (is_file(*path))
            return 0;
        g_clear_pointer(path, g_free);
    }
    return gt_error_set(
        err, GT_E_NOT_FOUND,
        "no %s in %s/plugins nor in %s/%s; name its folder with --plugin or " VARIABLE, name, bin,
        bin, places[1]);
}
