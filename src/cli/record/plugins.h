/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where our plugins are: in the directory that GUESTTRACE_PLUGIN_DIR names, else in `plugins`
 * beside the executable (a build folder), else in lib/guesttrace/plugins of the place it is
 * installed in.
 */
#ifndef GT_CLI_RECORD_PLUGINS_H
#define GT_CLI_RECORD_PLUGINS_H

#include "base/error.h"

/* The absolute path of the plugin file `name`, or of `given` if that is not NULL. *path is the
 * caller's (g_free). GT_E_NOT_FOUND: the message names the places that were tried. */
int gt_plugins_find(const char *name, const char *given, char **path, struct gt_error *err);

#endif
