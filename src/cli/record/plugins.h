/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds our plugins: in the directory $GUESTTRACE_PLUGIN_DIR, else in `plugins` beside the
 * executable (a build folder), else in lib/guesttrace/plugins of the installation prefix.
 */
#ifndef GT_CLI_RECORD_PLUGINS_H
#define GT_CLI_RECORD_PLUGINS_H

#include "base/error.h"

/* Sets *path to the absolute path of the plugin file `name`, or of `given` if that is not NULL; the
 * caller frees it (g_free). GT_E_NOT_FOUND: the message has the directories that were tried. */
int gt_record_plugins_find(const char *name, const char *given, char **path, struct gt_error *err);

#endif
