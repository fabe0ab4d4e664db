/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU executables: choosing one, checking that it can load plugins, reading its version. */
#ifndef GT_CLI_RECORD_QEMU_H
#define GT_CLI_RECORD_QEMU_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>

/* What QEMU exits with where it cannot begin: a plugin that is not loaded, arguments that it
 * refuses, files that are missing. */
enum { GT_RECORD_QEMU_FAILED = 1 };

/* True if the base name begins with "qemu-": "qemu-system-aarch64", "qemu-riscv64", a script that
 * runs one of them; not for a program that loads no plugins and has no such name (qemu-img). */
bool gt_record_qemu_is_name(const char *path);
/* True for "qemu-" and the name of a target: a user-mode QEMU. */
bool gt_record_qemu_is_user_name(const char *path);

/* Finds the first QEMU with that name or path that can load plugins; scripts are accepted without a
 * check. The caller frees *path (g_free). GT_E_NOT_FOUND: none; GT_E_UNSUPPORTED: none that can
 * load plugins; the message has the reason and a remedy; GT_E_IO, GT_E_FORMAT. */
int gt_record_qemu_find(const char *name, char **path, struct gt_error *err);

/* Finds the user-mode QEMU qemu-TARGET with gt_record_qemu_find, or the one that `scripts/qemus
 * user` built (in ${XDG_CACHE_HOME:-~/.cache}/guesttrace/qemus/user) if that is newer or the only
 * one that can load plugins; then *built is set. */
int gt_record_qemu_find_user(const char *target, char **path, bool *built, struct gt_error *err);

/* Returns "MAJOR.MINOR.MICRO" from `PATH --version`; NULL: it printed no version within a few
 * seconds. The caller frees it (g_free). */
char *gt_record_qemu_version(const char *path);

/* Returns the version in a text like "version 7.2.22 (Debian ...)"; NULL: none. */
char *gt_record_qemu_version_in(const char *text);

/* Appends `value` with its commas doubled, as QEMU's option lists require. */
void gt_record_qemu_append_value(GString *out, const char *value);

/* Appends ",NAME=PATH", the path absolute; NULL: nothing. */
void gt_record_qemu_append_path(GString *out, const char *name, const char *path);

/* Finds the program among the arguments of a user-mode QEMU, and -L's (*root, else unchanged).
 * Returns where it stands; NULL: there is none. */
char *const *gt_record_qemu_program(char *const *words, const char **root);

/* True if these arguments make QEMU use the terminal as the guest's console or its monitor. */
bool gt_record_qemu_uses_terminal(char *const *argv);

#endif
