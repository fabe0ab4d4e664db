/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU executables: which one to use, whether it can load plugins, which version it is. */
#ifndef GT_CLI_RECORD_QEMU_H
#define GT_CLI_RECORD_QEMU_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>

/* The environment variable in which a plugin finds the version of the QEMU that loads it. */
#define GT_QEMU_VERSION_VARIABLE "GUESTTRACE_QEMU_VERSION"

/* "qemu-system-aarch64", "qemu-riscv64" or anything else that begins with qemu-: by its base name.
 */
bool gt_record_qemu_is_name(const char *path);
/* "qemu-" and a machine's name: user mode. */
bool gt_record_qemu_is_user_name(const char *path);

/* The first QEMU of that name, or at that path, that can load plugins; scripts are believed. *path
 * is the caller's (g_free). GT_E_NOT_FOUND: none; GT_E_UNSUPPORTED: only such that cannot load
 * plugins, and the message says why and what to do; GT_E_IO, GT_E_FORMAT. */
int gt_record_qemu_find(const char *name, char **path, struct gt_error *err);

/* The user-mode QEMU qemu-TARGET: as gt_record_qemu_find finds it, or the one that `scripts/qemus
 * user` has built (in ${XDG_CACHE_HOME:-~/.cache}/guesttrace/qemus/user), where that is newer or
 * the only one that can load plugins; *built says so. */
int gt_record_qemu_find_user(const char *target, char **path, bool *built, struct gt_error *err);

/* "MAJOR.MINOR.MICRO" as `PATH --version` says it, or NULL where it does not within a few seconds.
 * The caller frees it (g_free). */
char *gt_record_qemu_version(const char *path);

/* The version in a text that says "version 7.2.22 (Debian ...)"; NULL where there is none. */
char *gt_record_qemu_version_in(const char *text);

/* Appends `value` with its commas doubled, as QEMU's option lists want them. */
void gt_record_qemu_append_value(GString *out, const char *value);

/* True where these arguments make QEMU use the terminal as the guest's console or its monitor. */
bool gt_record_qemu_uses_terminal(char *const *argv);

#endif
