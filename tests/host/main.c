/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *   scripted-N PLUGIN PLAN [-min V] [-again] [NAME=VALUE...]
 *
 * Exit status 0: played; 1: the plugin was refused, or refused to load. -min V: the oldest version
 * that the host takes; -again: loads the plugin a second time.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What -version prints, of system emulators and of others: how a plugin may tell version 6 from 7;
 * and what else has a version. */
#if GT_SCRIPT_ABI >= 7
#define VERSION "QEMU emulator version 11.1.0"
#elif GT_SCRIPT_ABI == 6
#define VERSION "qemu-aarch64 version 11.0.2"
#else
#define VERSION "qemu-aarch64_be version 10.1.0"
#endif
static const char text[] =
    "QEMU Virtual CPU version 12.0\0" VERSION " (Debian)\nCopyright (c) 2003-";

enum { OLDEST = GT_SCRIPT_ABI == 1 ? 0 : GT_SCRIPT_ABI >= 7 ? 7 : 2 };

int main(int argc, char **argv)
{
    int min = OLDEST, at = 3;
    bool again = false;
    if (argc == 2 && strcmp(argv[1], "-version") == 0)
        return puts(strchr(text, '\0') + 1) < 0;
    if (argc < 3)
        gt_die("usage: scripted PLUGIN PLAN [-min V] [-again] [NAME=VALUE...]");
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-again") == 0)
            again = true;
        else if (strcmp(argv[at], "-min") == 0 && at + 1 < argc)
            min = atoi(argv[++at]);
    }
    gt_plan_read(argv[2]);
    if (!gt_load_plugin(argv[1], min, argc - at, argv + at))
        return 1;
    if (again && !gt_load_plugin(argv[1], min, argc - at, argv + at))
        return 1;
    gt_play();
    return 0;
}
