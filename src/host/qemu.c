/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h over QEMU: installation, events and instrumentation. Messages are in message.c. */
#include "host/host.h"
#include "host/message.h"
#include "host/qemu_abi.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static struct {
    qemu_id id;
    struct gt_host_info info;
    const struct gt_host_events *events;
    void *self;
    bool data_copies; /* insn_data copies (version 3 of the host) rather than pointing */
    bool installed;
} host;

/* Events arrive in two shapes: families before 7 put the plugin's id first, 7 the userdata last.
 * The functions below with the suffix _7 are called by it. */

static void on_vcpu_init(qemu_id id, unsigned vcpu)
{
    (void)id;
    host.events->vcpu_init(host.self, vcpu);
}

static void on_vcpu_init_7(unsigned vcpu, void *data)
{
    host.events->vcpu_init(data, vcpu);
}

static void on_vcpu_exit(qemu_id id, unsigned vcpu)
{
    (void)id;
    host.events->vcpu_exit(host.self, vcpu);
}

static void on_vcpu_exit_7(unsigned vcpu, void *data)
{
    host.events->vcpu_exit(data, vcpu);
}

static void on_translate(qemu_id id, void *tb)
{
    (void)id;
    host.events->translate(host.self, tb);
}

static void on_translate_7(void *tb, void *data)
{
    host.events->translate(data, tb);
}

static void on_flush(qemu_id id)
{
    (void)id;
    host.events->flush(host.self);
}

static void on_flush_7(void *data)
{
    host.events->flush(data);
}

static void on_exit_event(qemu_id id, void *data)
{
    (void)id;
    host.events->exit(data);
}

static void on_exit_event_7(void *data)
{
    host.events->exit(data);
}

static void on_syscall(qemu_id id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id;
    host.events->syscall(host.self, vcpu, num, (const uint64_t[8]){a1, a2, a3, a4, a5, a6, a7, a8});
}

static void on_syscall_7(unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3,
                         uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8,
                         void *data)
{
    host.events->syscall(data, vcpu, num, (const uint64_t[8]){a1, a2, a3, a4, a5, a6, a7, a8});
}

static void on_syscall_return(qemu_id id, unsigned vcpu, int64_t num, int64_t result)
{
    (void)id;
    host.events->syscall_return(host.self, vcpu, num, result);
}

static void on_syscall_return_7(unsigned vcpu, int64_t num, int64_t result, void *data)
{
    host.events->syscall_return(data, vcpu, num, result);
}

static void on_discontinuity(qemu_id id, unsigned vcpu, int kind, uint64_t from, uint64_t to)
{
    (void)id;
    host.events->discontinuity(host.self, vcpu, (unsigned)kind, from, to);
}

static void on_discontinuity_7(unsigned vcpu, int kind, uint64_t from, uint64_t to, void *data)
{
    host.events->discontinuity(data, vcpu, (unsigned)kind, from, to);
}

void gt_host_subscribe(const struct gt_host_events *e, void *self)
{
    assert(!host.events && e->translate && e->exit);
    host.events = e;
    host.self = self;
    bool v7 = gt_qemu_family == QEMU_FAMILY_7;
/* Registration before family 7 takes no userdata; an extra argument in a register is not seen. */
#define PICK(name) (v7 ? (void *)name##_7 : (void *)name)
    if (e->vcpu_init)
        gt_qemu.register_vcpu_init_cb(host.id, PICK(on_vcpu_init), self);
    if (e->vcpu_exit)
        gt_qemu.register_vcpu_exit_cb(host.id, PICK(on_vcpu_exit), self);
    gt_qemu.register_vcpu_tb_trans_cb(host.id, PICK(on_translate), self);
    if (e->flush)
        gt_qemu.register_flush_cb(host.id, PICK(on_flush), self);
    if (e->syscall && gt_host_can(GT_HOST_SYSCALLS))
        gt_qemu.register_vcpu_syscall_cb(host.id, PICK(on_syscall), self);
    if (e->syscall_return && gt_host_can(GT_HOST_SYSCALLS))
        gt_qemu.register_vcpu_syscall_ret_cb(host.id, PICK(on_syscall_return), self);
    if (e->discontinuity && gt_host_can(GT_HOST_DISCONTINUITY))
        gt_qemu.register_vcpu_discon_cb(host.id, GT_DISCON_INTERRUPT | GT_DISCON_EXCEPTION,
                                        PICK(on_discontinuity), self);
    gt_qemu.register_atexit_cb(host.id, PICK(on_exit_event), self);
#undef PICK
}

bool gt_host_can(enum gt_host_feature feature)
{
    switch (feature) {
    case GT_HOST_CELLS:
        return gt_qemu.scoreboard_new && gt_qemu.scoreboard_find &&
               gt_qemu.register_vcpu_tb_exec_inline_per_vcpu &&
               gt_qemu.register_vcpu_insn_exec_inline_per_vcpu;
    case GT_HOST_CONDITIONAL:
        return gt_host_can(GT_HOST_CELLS) && gt_qemu.register_vcpu_tb_exec_cond_cb &&
               gt_qemu.register_vcpu_insn_exec_cond_cb;
    case GT_HOST_REGISTERS:
        return gt_qemu.get_registers && gt_qemu.read_register;
    case GT_HOST_MEMORY:
        return gt_qemu.read_memory_vaddr != NULL;
    case GT_HOST_MEMORY_VALUES:
        return gt_qemu.mem_get_value != NULL;
    case GT_HOST_DISCONTINUITY:
        return host.info.system && gt_qemu.register_vcpu_discon_cb;
    case GT_HOST_SYSCALLS:
        return !host.info.system && gt_qemu.register_vcpu_syscall_cb &&
               gt_qemu.register_vcpu_syscall_ret_cb;
    }
    return false;
}

void gt_host_log(const char *text)
{
    gt_qemu.outs(text);
}

char *gt_host_program(void)
{
    return gt_qemu.path_to_binary ? gt_qemu.path_to_binary() : NULL;
}

uint64_t gt_host_entry(void)
{
    return gt_qemu.entry_code ? gt_qemu.entry_code() : 0;
}

void *gt_cells_new(size_t size)
{
    return gt_qemu.scoreboard_new(size);
}

void *gt_cells_find(void *score, unsigned vcpu)
{
    return gt_qemu.scoreboard_find(score, vcpu);
}

static struct qemu_u64 entry_of(struct gt_cell cell)
{
    return (struct qemu_u64){.score = cell.score, .offset = cell.offset};
}

size_t gt_block_insns(const struct gt_block *b)
{
    return gt_qemu.tb_n_insns(b);
}

uint64_t gt_block_pc(const struct gt_block *b)
{
    return gt_qemu.tb_vaddr(b);
}

struct gt_insn_ref *gt_block_insn(const struct gt_block *b, size_t i)
{
    return gt_qemu.tb_get_insn(b, i);
}

void gt_block_on_exec(struct gt_block *b, gt_exec_fn fn, void *data)
{
    gt_qemu.register_vcpu_tb_exec_cb(b, fn, QEMU_CB_NO_REGS, data);
}

void gt_block_on_exec_ne(struct gt_block *b, gt_exec_fn fn, struct gt_cell cell, uint64_t value,
                         void *data)
{
    gt_qemu.register_vcpu_tb_exec_cond_cb(b, fn, QEMU_CB_R_REGS, QEMU_COND_NE, entry_of(cell),
                                          value, data);
}

void gt_block_add(struct gt_block *b, struct gt_cell cell, uint64_t value)
{
    gt_qemu.register_vcpu_tb_exec_inline_per_vcpu(b, QEMU_INLINE_ADD, entry_of(cell), value);
}

bool gt_block_add_shared(struct gt_block *b, uint64_t *counter, uint64_t value)
{
    if (gt_qemu_family != QEMU_FAMILY_1 || !gt_qemu.register_vcpu_tb_exec_inline)
        return false;
    gt_qemu.register_vcpu_tb_exec_inline(b, QEMU_INLINE_ADD, counter, value);
    return true;
}

uint64_t gt_insn_pc(const struct gt_insn_ref *insn)
{
    return gt_qemu.insn_vaddr(insn);
}

size_t gt_insn_size(const struct gt_insn_ref *insn)
{
    return gt_qemu.insn_size(insn);
}

void *gt_insn_host_addr(const struct gt_insn_ref *insn)
{
    return gt_qemu.insn_haddr(insn);
}

size_t gt_insn_bytes(const struct gt_insn_ref *insn, uint8_t *out, size_t n)
{
    size_t size = gt_insn_size(insn);
    if (n > size)
        n = size;
    if (host.data_copies)
        return ((size_t(*)(const void *, void *, size_t))gt_qemu.insn_data)(insn, out, n);
    const void *p = ((const void *(*)(const void *))gt_qemu.insn_data)(insn);
    memcpy(out, p, n);
    return n;
}

void gt_insn_store(struct gt_insn_ref *insn, struct gt_cell cell, uint64_t value)
{
    gt_qemu.register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_INLINE_STORE, entry_of(cell), value);
}

void gt_insn_on_exec(struct gt_insn_ref *insn, gt_exec_fn fn, void *data)
{
    gt_qemu.register_vcpu_insn_exec_cb(insn, fn, QEMU_CB_NO_REGS, data);
}

void gt_insn_on_exec_regs(struct gt_insn_ref *insn, gt_exec_fn fn, void *data)
{
    gt_qemu.register_vcpu_insn_exec_cb(insn, fn, QEMU_CB_R_REGS, data);
}

void gt_insn_on_exec_ne(struct gt_insn_ref *insn, gt_exec_fn fn, struct gt_cell cell,
                        uint64_t value, void *data)
{
    gt_qemu.register_vcpu_insn_exec_cond_cb(insn, fn, QEMU_CB_R_REGS, QEMU_COND_NE, entry_of(cell),
                                            value, data);
}

void gt_insn_on_memory(struct gt_insn_ref *insn, gt_mem_fn fn, unsigned which, void *data)
{
    /* QEMU 7.2 takes "loads" for stores and "stores" for both; both of them, it does right. */
    if (gt_qemu_family == QEMU_FAMILY_1)
        which = GT_MEM_LOADS | GT_MEM_STORES;
    gt_qemu.register_vcpu_mem_cb(insn, fn, QEMU_CB_NO_REGS, (int)which, data);
}

bool gt_mem_is_store(uint32_t meminfo)
{
    return gt_qemu.mem_is_store(meminfo);
}

static bool register_is(const struct qemu_register *r, const char *const *names)
{
    for (; r->name && *names; names++)
        if (strcasecmp(r->name, *names) == 0)
            return true;
    return false;
}

/* A handle of the host may be NULL (it is an encoded number in later hosts), so ours is its index.
 */
static void *register_handles[64];
static int n_register_handles;

int gt_register_find(const char *const *names)
{
    if (!gt_host_can(GT_HOST_REGISTERS))
        return -1;
    GArray *list = gt_qemu.get_registers();
    if (!list)
        return -1;
    int found = -1;
    size_t stride = g_array_get_element_size(list);
    for (guint i = 0; i < list->len && stride >= sizeof(struct qemu_register); i++) {
        const struct qemu_register *r = (const void *)(list->data + i * stride);
        if (!register_is(r, names) || n_register_handles == G_N_ELEMENTS(register_handles))
            continue;
        register_handles[n_register_handles] = r->handle;
        found = n_register_handles++;
        break;
    }
    g_array_free(list, TRUE);
    return found;
}

bool gt_register_read(int handle, uint64_t *value)
{
    if (handle < 0 || handle >= n_register_handles)
        return false;
    GByteArray *bytes = g_byte_array_sized_new(16);
    gt_qemu.read_register(register_handles[handle], bytes);
    bool ok = bytes->len > 0; /* its result is an int in some versions, a bool in others */
    *value = 0;
    if (ok)
        memcpy(value, bytes->data, bytes->len < 8 ? bytes->len : 8);
    g_byte_array_free(bytes, TRUE);
    return ok;
}

bool gt_memory_read(uint64_t addr, void *out, size_t n)
{
    if (!gt_host_can(GT_HOST_MEMORY))
        return false;
    GByteArray *bytes = g_byte_array_sized_new((guint)n);
    bool ok = gt_qemu.read_memory_vaddr(addr, bytes, n) && bytes->len == n;
    if (ok)
        memcpy(out, bytes->data, n);
    g_byte_array_free(bytes, TRUE);
    return ok;
}

static void take_info(qemu_id id, const struct qemu_info *info)
{
    host.id = id;
    host.data_copies = info->version.cur >= 3;
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
    gt_message_init();
    if (gt_qemu_missing) {
        gt_host_message("this QEMU does not export %s", gt_qemu_missing);
        return -1;
    }
    if (host.installed) {
        gt_host_message("the plugin is loaded twice; once records everything");
        return -1;
    }
    host.installed = true;
    take_info(id, info);
    struct gt_error err = {0};
    if (gt_tool_install(&host.info, argc, argv, &err) == 0)
        return 0;
    gt_host_message("%s", err.text);
    return -1;
}
