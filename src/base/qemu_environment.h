/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environment variables that a QEMU which records is started with: `record` sets them, a plugin
 * reads them, or sets them for the next QEMU. */
#ifndef GT_BASE_QEMU_ENVIRONMENT_H
#define GT_BASE_QEMU_ENVIRONMENT_H

/* In which a plugin finds the version of the QEMU that loads it; without it, it looks in QEMU's
 * executable (qemu/load.c). */
#define GT_QEMU_VERSION_VARIABLE "GUESTTRACE_QEMU_VERSION"
/* With this value GLib before 2.76 allocates by malloc() alone. Its own allocator has locks that a
 * fork of the guest may find taken by another thread of QEMU: the child would wait for ever. */
#define GT_SLICE_VARIABLE "G_SLICE"
#define GT_SLICE_VALUE    "always-malloc"

#endif
