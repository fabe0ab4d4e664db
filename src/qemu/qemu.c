/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h over QEMU: installation and events. Instrumentation is in code.c, the state that callbacks
 * read in state.c, messages in message.c. */
#include "qemu/abi.h"
#include "qemu/host.h"
#include "qemu/message.h"
#include "qemu/program_end.h"
#include "qemu/run_state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static struct {
    qemu_id id;   /* whose subscriptions gt_host_start_again ends */
    qemu_id kept; /* whose subscriptions stay; the same: the plugin was loaded once */
    struct gt_host_info info;
    const struct gt_host_events *events;
    void *self;
    void (*then)(void *self); /* gt_host_start_again */
    bool installed;
    bool has_kept;               /* the plugin was loaded with KEEP */
    bool subscribed, kept_begun; /* by id, by kept */
    bool began;                  /* a vCPU was initialized */
} host;

/* The only argument of a first load of the plugin, whose subscriptions are kept. */
#define KEEP "keep=events"

/* Of those that are subscribed to; a thread may still have one of the former (start_again). */
static const struct gt_host_events *events(void)
{
    return __atomic_load_n(&host.events, __ATOMIC_ACQUIRE);
}

/* Events arrive in two shapes: families before 7 put the plugin's id first, 7 the userdata last.
 * The functions below with the suffix _7 are called by it. */

static void on_vcpu_init_7(unsigned vcpu, void *data)
{
    const struct gt_host_events *e = events();
    host.began = true;
    if (e->vcpu_init)
        e->vcpu_init(data, vcpu);
}

static void on_vcpu_init(qemu_id id, unsigned vcpu)
{
    (void)id;
    on_vcpu_init_7(vcpu, host.self);
}

static void on_vcpu_exit(qemu_id id, unsigned vcpu)
{
    (void)id;
    events()->vcpu_exit(host.self, vcpu);
}

static void on_vcpu_exit_7(unsigned vcpu, void *data)
{
    events()->vcpu_exit(data, vcpu);
}

static void on_vcpu_idle_7(unsigned vcpu, void *data)
{
    const struct gt_host_events *e = events();
    if (e->vcpu_idle)
        e->vcpu_idle(data, vcpu);
}

static void on_vcpu_idle(qemu_id id, unsigned vcpu)
{
    (void)id;
    on_vcpu_idle_7(vcpu, host.self);
}

static void on_translate(qemu_id id, void *tb)
{
    (void)id;
    events()->translate(host.self, tb);
}

static void on_translate_7(void *tb, void *data)
{
    events()->translate(data, tb);
}

static void on_flush(qemu_id id)
{
    (void)id;
    events()->flush(host.self);
}

static void on_flush_7(void *data)
{
    events()->flush(data);
}

static void on_exit_event(qemu_id id, void *data)
{
    (void)id;
    gt_qemu_program_end_exited();
    events()->exit(data);
}

static void on_exit_event_7(void *data)
{
    gt_qemu_program_end_exited();
    events()->exit(data);
}

static void on_syscall(qemu_id id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id;
    gt_qemu_program_end_check();
    events()->syscall(host.self, vcpu, num, (const uint64_t[8]){a1, a2, a3, a4, a5, a6, a7, a8});
}

static void on_syscall_7(unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3,
                         uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8,
                         void *data)
{
    gt_qemu_program_end_check();
    events()->syscall(data, vcpu, num, (const uint64_t[8]){a1, a2, a3, a4, a5, a6, a7, a8});
}

static void on_syscall_return(qemu_id id, unsigned vcpu, int64_t num, int64_t result)
{
    (void)id;
    gt_qemu_program_end_check();
    events()->syscall_return(host.self, vcpu, num, result);
}

static void on_syscall_return_7(unsigned vcpu, int64_t num, int64_t result, void *data)
{
    gt_qemu_program_end_check();
    events()->syscall_return(data, vcpu, num, result);
}

static void on_discontinuity(qemu_id id, unsigned vcpu, int kind, uint64_t from, uint64_t to)
{
    (void)id;
    events()->discontinuity(host.self, vcpu, (unsigned)kind, from, to);
}

static void on_discontinuity_7(unsigned vcpu, int kind, uint64_t from, uint64_t to, void *data)
{
    events()->discontinuity(data, vcpu, (unsigned)kind, from, to);
}

/* It stays where another table is subscribed to. */
static void on_run_state(enum gt_qemu_run_state state, uint64_t clock)
{
    const struct gt_host_events *e = events();
    if (e->run_state)
        e->run_state(host.self, state, clock);
}

uint64_t gt_host_place(void)
{
    return gt_qemu_run_state_place();
}

static void on_shutdown_begins(void)
{
    const struct gt_host_events *e = events();
    if (e->shutdown)
        e->shutdown(host.self);
}

/* Registration before family 7 takes no userdata; an extra argument in a register is not seen. */
#define PICK(name) (gt_qemu_family == QEMU_FAMILY_7 ? (void *)name##_7 : (void *)name)

/* QEMU calls these on threads that it does not stop while it ends subscriptions, and frees what it
 * knows of one that ends. So they are kept, where there is an id for that, for any table. */
static void subscribe_kept(const struct gt_host_events *e, void *self)
{
    qemu_id id = host.kept;
    gt_qemu.register_vcpu_init_cb(id, PICK(on_vcpu_init), self);
    if (e->vcpu_exit)
        gt_qemu.register_vcpu_exit_cb(id, PICK(on_vcpu_exit), self);
    if ((e->vcpu_idle || host.has_kept) && gt_qemu.register_vcpu_idle_cb)
        gt_qemu.register_vcpu_idle_cb(id, PICK(on_vcpu_idle), self);
    if (e->syscall && gt_host_can(GT_HOST_SYSCALLS))
        gt_qemu.register_vcpu_syscall_cb(id, PICK(on_syscall), self);
    if (e->syscall_return && gt_host_can(GT_HOST_SYSCALLS))
        gt_qemu.register_vcpu_syscall_ret_cb(id, PICK(on_syscall_return), self);
    gt_qemu.register_atexit_cb(id, PICK(on_exit_event), self);
}

void gt_host_subscribe(const struct gt_host_events *e, void *self)
{
    assert(!host.subscribed && e->translate && e->exit);
    host.subscribed = true;
    host.self = self;
    __atomic_store_n(&host.events, e, __ATOMIC_RELEASE);
    if (!host.kept_begun)
        subscribe_kept(e, self);
    host.kept_begun = true;
    gt_qemu.register_vcpu_tb_trans_cb(host.id, PICK(on_translate), self);
    if (e->flush)
        gt_qemu.register_flush_cb(host.id, PICK(on_flush), self);
    if (e->discontinuity && gt_host_can(GT_HOST_DISCONTINUITY))
        gt_qemu.register_vcpu_discon_cb(host.id, GT_DISCON_INTERRUPT | GT_DISCON_EXCEPTION,
                                        PICK(on_discontinuity), self);
    if (e->run_state && gt_host_can(GT_HOST_RUN_STATE))
        gt_qemu_run_state_watch(on_run_state);
    if (e->shutdown && gt_host_can(GT_HOST_SHUTDOWN))
        gt_qemu_shutdown_watch(on_shutdown_begins);
}
#undef PICK

static void on_reset(qemu_id id)
{
    (void)id;
    host.subscribed = false;
    host.kept_begun = host.has_kept;
    host.then(host.self);
}

void gt_host_start_again(void (*then)(void *self))
{
    host.then = then;
    gt_qemu.reset(host.id, on_reset);
}

bool gt_host_can(enum gt_host_feature feature)
{
    switch (feature) {
    case GT_HOST_SCOREBOARD:
        return gt_qemu.scoreboard_new && gt_qemu.scoreboard_find &&
               gt_qemu.register_vcpu_tb_exec_inline_per_vcpu &&
               gt_qemu.register_vcpu_insn_exec_inline_per_vcpu;
    case GT_HOST_CONDITIONAL:
        return gt_host_can(GT_HOST_SCOREBOARD) && gt_qemu.register_vcpu_tb_exec_cond_cb &&
               gt_qemu.register_vcpu_insn_exec_cond_cb;
    case GT_HOST_REGISTERS:
        return gt_qemu.get_registers && gt_qemu.read_register;
    case GT_HOST_MEMORY:
        return gt_qemu.read_memory_vaddr != NULL;
    case GT_HOST_MEMORY_VALUES:
        return gt_qemu.mem_get_value != NULL;
    case GT_HOST_MEMORY_AT_EXIT:
        return gt_qemu_family != QEMU_FAMILY_1;
    case GT_HOST_DISCONTINUITY:
        return host.info.system && gt_qemu.register_vcpu_discon_cb;
    case GT_HOST_SYSCALLS:
        return !host.info.system && gt_qemu.register_vcpu_syscall_cb &&
               gt_qemu.register_vcpu_syscall_ret_cb;
    case GT_HOST_PHYSICAL:
        return host.info.system && gt_qemu.translate_vaddr;
    case GT_HOST_DEVICES:
        /* QEMU 10.2 looks for the mark of devices where it is not kept any more, and 11.0 may:
         * those that report interrupts and are of the second family. */
        return host.info.system &&
               (gt_qemu_family == QEMU_FAMILY_7 || !gt_qemu.register_vcpu_discon_cb);
    case GT_HOST_PHYSICAL_MEMORY:
        return host.info.system && gt_qemu.read_memory_hwaddr;
    case GT_HOST_START_AGAIN:
        return gt_qemu.reset && (host.has_kept || (host.info.system && host.info.max_vcpus == 1));
    case GT_HOST_RUN_STATE:
        return host.info.system && gt_qemu_run_state_is_exported();
    case GT_HOST_SHUTDOWN:
        return host.info.system && gt_qemu_shutdown_is_exported();
    }
    return false;
}

void gt_host_log(const char *text)
{
    struct gt_qemu_held_signals held;
    gt_qemu_signals_hold(&held);
    gt_qemu.outs(text);
    gt_qemu_signals_release(&held);
}

char *gt_host_program(void)
{
    char *words = NULL;
    gsize size = 0;
    if (gt_qemu.path_to_binary && host.began)
        return gt_qemu.path_to_binary();
    if (!g_file_get_contents("/proc/self/cmdline", &words, &size, NULL))
        return NULL;
    char *program = g_strdup(gt_host_program_in(words, size));
    g_free(words);
    return program;
}

void *gt_host_scoreboard_new(size_t size)
{
    return gt_qemu.scoreboard_new(size);
}

void *gt_host_scoreboard_find(void *scoreboard, unsigned vcpu)
{
    return gt_qemu.scoreboard_find(scoreboard, vcpu);
}

void *gt_host_counters_new(size_t n)
{
    size_t size = n * sizeof(uint64_t);
    return gt_host_can(GT_HOST_SCOREBOARD) ? gt_host_scoreboard_new(size) : g_malloc0(size);
}

unsigned gt_host_counters_sets(unsigned vcpus)
{
    return gt_host_can(GT_HOST_SCOREBOARD) ? vcpus : 1;
}

unsigned gt_host_counters_set_of(unsigned vcpu)
{
    return gt_host_can(GT_HOST_SCOREBOARD) ? vcpu : 0;
}

uint64_t *gt_host_counters_find(void *set, unsigned vcpu)
{
    return gt_host_can(GT_HOST_SCOREBOARD) ? gt_host_scoreboard_find(set, vcpu) : set;
}

static void take_info(qemu_id id, const struct qemu_info *info)
{
    host.id = id;
    if (!host.has_kept)
        host.kept = id;
    gt_qemu_data_copies = info->version.cur >= 3;
    host.info = (struct gt_host_info){
        .target = info->target_name,
        .system = info->system_emulation,
        .vcpus = info->system_emulation ? (unsigned)info->system.smp_vcpus : 0,
        .max_vcpus = info->system_emulation ? (unsigned)info->system.max_vcpus : 0,
        .abi = qemu_plugin_version,
    };
}

/* What QEMU calls once per `-plugin`; anything but 0 refuses the load. */
__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_id id, const struct qemu_info *info, int argc, char **argv);

int qemu_plugin_install(qemu_id id, const struct qemu_info *info, int argc, char **argv)
{
    gt_qemu_message_init();
    if (gt_qemu_missing) {
        gt_host_message("this QEMU does not export %s", gt_qemu_missing);
        return -1;
    }
    if (!host.installed && !host.has_kept && argc == 1 && strcmp(argv[0], KEEP) == 0) {
        host.kept = id;
        host.has_kept = true;
        return 0;
    }
    if (host.installed) {
        gt_host_message("the plugin is loaded twice: load it once, or first with " KEEP " alone");
        return -1;
    }
    host.installed = true;
    take_info(id, info);
    struct gt_error err = {0};
    if (gt_host_tool_install(&host.info, argc, argv, &err) == 0) {
        if (!host.info.system)
            gt_qemu_program_end_watch_signals();
        return 0;
    }
    bool executed = gt_host_executed(NULL);
    gt_host_message("%s%s", err.text,
                    executed ? "; a program that the guest executed is not recorded" : "");
    if (executed)
        gt_host_run_without_plugin();
    return -1;
}
