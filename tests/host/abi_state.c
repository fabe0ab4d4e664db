/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exported functions that read the guest's state: registers and memory (version 2, 4). */
#include "host.h"

#include <glib.h>
#include <string.h>

#define EXPORT(type, name, parameters)                                                             \
    __attribute__((visibility("default"))) type qemu_plugin_##name parameters;                     \
    type qemu_plugin_##name parameters

#if GT_SCRIPT_ABI >= 2
struct reg {
    void *handle;
    const char *name, *feature;
#if GT_SCRIPT_ABI >= 7
    bool read_only;
#endif
};

/* The first one's handle is NULL, as a host may have it. */
static const char *const names[] = {"x0", "pc", "sp"};

EXPORT(GArray *, get_registers, (void))
{
    GArray *list = g_array_new(FALSE, TRUE, sizeof(struct reg));
    for (uintptr_t i = 0; i < gt_recorder_plan.n_registers; i++) {
        struct reg r = {.handle = (void *)(i * 8), .name = gt_recorder_plan.registers[i].name};
        g_array_append_val(list, r);
    }
    if (gt_recorder_plan.n_registers)
        return list;
    for (uintptr_t i = 0; i < G_N_ELEMENTS(names); i++) {
        struct reg r = {.handle = (void *)(i * 8), .name = names[i], .feature = "core"};
        g_array_append_val(list, r);
    }
    return list;
}

/* Version 7 returns bool: only the low byte of the register says something. */
#if GT_SCRIPT_ABI >= 7
enum { READ_ONE = (int)0xdeadbe01 };
#else
enum { READ_ONE = 8 };
#endif

/* A register's value is a pattern that names the vCPU and the register. */
EXPORT(int, read_register, (void *handle, GByteArray *out))
{
    if (gt_callback_flags < 1)
        gt_die("a register read in a callback that did not ask for registers");
    if (gt_recorder_plan.n_registers) {
        const struct scripted_register *r = &gt_recorder_plan.registers[(uintptr_t)handle / 8];
        static const uint8_t rest[GT_PLAN_REGISTER];
        guint known = MIN(r->size, 8);
        g_byte_array_append(out, (const uint8_t *)&r->value[gt_this_vcpu % 4], known);
        g_byte_array_append(out, rest, r->size - known);
        return READ_ONE;
    }
    uint64_t value = UINT64_C(0x1122334400000000) | gt_this_vcpu << 8 | ((uintptr_t)handle / 8);
    g_byte_array_append(out, (const uint8_t *)&value, sizeof value);
    return READ_ONE;
}
#endif

#if GT_SCRIPT_ABI >= 4
EXPORT(bool, read_memory_vaddr, (uint64_t addr, GByteArray *out, size_t n))
{
    if (addr < gt_recorder_plan.lo || addr - gt_recorder_plan.lo > gt_recorder_plan.size ||
        n > gt_recorder_plan.size - (addr - gt_recorder_plan.lo))
        return false;
    g_byte_array_append(out, gt_recorder_guest(addr), (guint)n);
    return true;
}

struct value {
    int type;
    union {
        uint64_t u64;
        struct {
            uint64_t low, high;
        } u128;
    } data;
};

EXPORT(struct value, mem_get_value, (uint32_t info))
{
    const struct access *a = gt_this_access;
    return (struct value){.type = (int)(info & 7), .data.u128 = {a->value, a->high}};
}
#endif
