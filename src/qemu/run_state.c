/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a machine stops, runs again and ends: see run_state.h. */
#include "qemu/run_state.h"

#include "qemu/host.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* QEMU's numbers, the same from 2013 on. */
enum { CLOCK_VIRTUAL = 1, STATE_DEBUG = 0, STATE_RESTORE = 8 };

typedef void (*handler)(void *opaque, bool runs, int state);

static void *(*add_handler)(handler fn, void *opaque);
static int64_t (*get_clock)(int clock);
static void (*watcher)(enum gt_qemu_run_state state, uint64_t clock);

/* As QEMU declares what it calls at a shutdown: the function, and links of its own. */
struct notifier {
    void (*notify)(struct notifier *self, void *data);
    void *links[2];
};

static void (*add_notifier)(struct notifier *n);
static void (*ends)(void);

static bool is_option(const char *word, const char *name)
{
    return word[0] == '-' && strcmp(word + 1 + (word[1] == '-'), name) == 0;
}

bool gt_host_loads_state(void)
{
    g_autofree char *words = NULL;
    gsize size = 0;
    if (!g_file_get_contents("/proc/self/cmdline", &words, &size, NULL))
        return false;
    for (const char *w = words; w < words + size; w += strlen(w) + 1)
        if (is_option(w, "loadvm") || is_option(w, "incoming"))
            return true;
    return false;
}

bool gt_qemu_run_state_is_exported(void)
{
    add_handler = (__typeof__(add_handler))dlsym(RTLD_DEFAULT, "qemu_add_vm_change_state_handler");
    get_clock = (__typeof__(get_clock))dlsym(RTLD_DEFAULT, "qemu_clock_get_ns");
    return add_handler && get_clock;
}

static enum gt_qemu_run_state known(bool runs, int state)
{
    if (runs)
        return GT_MACHINE_RUNS;
    return state == STATE_DEBUG     ? GT_MACHINE_DEBUGGED
           : state == STATE_RESTORE ? GT_MACHINE_LOADS
                                    : GT_MACHINE_STOPS;
}

static void on_change(void *opaque, bool runs, int state)
{
    (void)opaque;
    int64_t clock = get_clock(CLOCK_VIRTUAL);
    watcher(known(runs, state), clock > 0 ? (uint64_t)clock : 0);
}

void gt_qemu_run_state_watch(void (*fn)(enum gt_qemu_run_state state, uint64_t clock))
{
    bool added = watcher != NULL;
    watcher = fn;
    if (!added)
        add_handler(on_change, NULL);
}

/* ---- where vCPUs are ------------------------------------------------------------------------ */

static void *(*get_cpu)(int index);
static void (*dump_cpu)(void *cpu, FILE *out, int flags);
static int (*read_memory)(void *cpu, uint64_t addr, void *out, size_t n, bool writes);

/* The number behind one of the words in QEMU's text of a vCPU's registers. */
static bool find(const char *text, const char *const *words, uint64_t *value)
{
    for (; *words; words++)
        for (const char *at = text; (at = strstr(at, *words)); at++)
            if (at == text || g_ascii_isspace(at[-1])) {
                char *end;
                const char *digits = at + strlen(*words);
                *value = strtoull(digits, &end, 16);
                return end != digits;
            }
    return false;
}

static uint64_t add(uint64_t sum, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* False: the text does not say. */
static bool add_vcpu(void *cpu, uint64_t *sum)
{
    static const char *const pc[] = {"RIP=", "EIP=", "PC=", "pc ", NULL};
    static const char *const sp[] = {"RSP=", "ESP=", "SP=", "x2/sp ", NULL};
    enum { STACK = 512 };
    uint8_t stack[STACK];
    uint64_t at[2] = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return false;
    dump_cpu(cpu, f, 0);
    bool known = fclose(f) == 0 && find(text, pc, &at[0]) && find(text, sp, &at[1]);
    free(text);
    *sum = add(*sum, at, sizeof at);
    if (known && read_memory(cpu, at[1], stack, sizeof stack, false) == 0)
        *sum = add(*sum, stack, sizeof stack);
    return known;
}

uint64_t gt_qemu_run_state_place(void)
{
    get_cpu = (__typeof__(get_cpu))dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    dump_cpu = (__typeof__(dump_cpu))dlsym(RTLD_DEFAULT, "cpu_dump_state");
    read_memory = (__typeof__(read_memory))dlsym(RTLD_DEFAULT, "cpu_memory_rw_debug");
    if (!get_cpu || !dump_cpu || !read_memory)
        return 0;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    void *cpu;
    for (int i = 0; (cpu = get_cpu(i)); i++)
        if (!add_vcpu(cpu, &sum))
            return 0;
    return sum;
}

/* ---- the end -------------------------------------------------------------------------------- */

bool gt_qemu_shutdown_is_exported(void)
{
    add_notifier = (__typeof__(add_notifier))dlsym(RTLD_DEFAULT, "qemu_register_shutdown_notifier");
    return add_notifier;
}

static void on_shutdown(struct notifier *self, void *data)
{
    (void)self, (void)data;
    ends();
}

void gt_qemu_shutdown_watch(void (*fn)(void))
{
    static struct notifier notifier = {.notify = on_shutdown};
    bool added = ends != NULL;
    ends = fn;
    if (!added)
        add_notifier(&notifier);
}
