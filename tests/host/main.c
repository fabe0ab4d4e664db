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

/* A machine's name, as system emulators carry it: how a plugin may tell version 6 from 7. */
#if GT_SCRIPT_ABI >= 7
const char *const gt_machine = "virt-11.1";
#elif GT_SCRIPT_ABI == 6
const char *const gt_machine = "virt-11.0";
#else
const char *const gt_machine = "virt-10.1";
#endif
extern const char *const gt_machine;

enum { OLDEST = GT_SCRIPT_ABI == 1 ? 0 : GT_SCRIPT_ABI >= 7 ? 7 : 2 };

int main(int argc, char **argv)
{
    int min = OLDEST, at = 3;
    bool again = false;
    if (argc < 3 || !gt_machine[0])
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
