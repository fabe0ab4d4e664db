/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a plugin as QEMU does: the version is read before install is called. */
#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus, max_vcpus;
        } system;
    };
};

static uint64_t next_id = UINT64_C(0x5eed0001);

bool gt_load_plugin(const char *path, int min, int argc, char **argv)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "scripted host: %s\n", dlerror());
        return false;
    }
    const int *version = dlsym(handle, "qemu_plugin_version");
    void *install = dlsym(handle, "qemu_plugin_install");
    if (!version || !install) {
        fprintf(stderr, "scripted host: %s is no plugin\n", path);
        return false;
    }
    if (*version < min || *version > GT_SCRIPT_ABI) {
        fprintf(stderr, "scripted host: version %d of %s, %d to %d are taken\n", *version, path,
                min, GT_SCRIPT_ABI);
        return false;
    }
    printf("version %d\n", *version);
    gt_plugin_id = next_id++;
    struct info *info = calloc(1, sizeof *info); /* gone when install returns */
    info->target_name = gt_recorder_plan.target;
    info->version.min = min;
    info->version.cur = GT_SCRIPT_ABI;
    info->system_emulation = gt_recorder_plan.system;
    info->system.smp_vcpus = (int)gt_recorder_plan.vcpus;
    info->system.max_vcpus = (int)gt_recorder_plan.max_vcpus;
    int status = ((int (*)(uint64_t, const struct info *, int, char **))install)(gt_plugin_id, info,
                                                                                 argc, argv);
    free(info);
    return status == 0;
}
