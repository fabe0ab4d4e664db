/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h over QEMU: the state that a callback can read: memory accesses, registers, memory. */
#include "qemu/abi.h"
#include "qemu/host.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool gt_host_mem_is_store(uint32_t meminfo)
{
    return gt_qemu.mem_is_store(meminfo);
}

unsigned gt_host_mem_size(uint32_t meminfo)
{
    return gt_qemu.mem_size_shift ? 1u << (gt_qemu.mem_size_shift(meminfo) & 7) : 0;
}

bool gt_host_mem_is_big_endian(uint32_t meminfo)
{
    return gt_qemu.mem_is_big_endian && gt_qemu.mem_is_big_endian(meminfo);
}

void gt_host_mem_value(uint32_t meminfo, uint64_t value[2])
{
    struct qemu_mem_value v = gt_qemu.mem_get_value(meminfo);
    value[0] = v.data.u64;
    value[1] = 0;
    switch (v.type) {
    case 0:
        value[0] = v.data.u8;
        break;
    case 1:
        value[0] = v.data.u16;
        break;
    case 2:
        value[0] = v.data.u32;
        break;
    case 4:
        value[1] = v.data.u128.high;
        break;
    }
}

bool gt_host_mem_find(uint32_t meminfo, uint64_t vaddr, struct gt_host_mem_target *out)
{
    bool can = gt_qemu.get_hwaddr && gt_qemu.hwaddr_is_io && gt_qemu.hwaddr_phys_addr;
    void *hwaddr = can ? gt_qemu.get_hwaddr(meminfo, vaddr) : NULL;
    if (!hwaddr)
        return false;
    bool device = gt_qemu.hwaddr_is_io(hwaddr);
    bool named = device && gt_qemu.hwaddr_device_name;
    *out = (struct gt_host_mem_target){
        .physical = gt_qemu.hwaddr_phys_addr(hwaddr),
        .device = device,
        .name = named ? gt_qemu.hwaddr_device_name(hwaddr) : NULL,
    };
    return true;
}

bool gt_host_physical(uint64_t vaddr, uint64_t *physical)
{
    return gt_host_can(GT_HOST_PHYSICAL) && gt_qemu.translate_vaddr(vaddr, physical);
}

typedef void (*register_fn)(void *self, const struct qemu_register *r);

/* Those that have a name, of the calling vCPU. */
static void each_register(register_fn fn, void *self)
{
    GArray *list = gt_host_can(GT_HOST_REGISTERS) ? gt_qemu.get_registers() : NULL;
    if (!list)
        return;
    size_t stride = g_array_get_element_size(list);
    for (guint i = 0; i < list->len && stride >= sizeof(struct qemu_register); i++) {
        const struct qemu_register *r = (const void *)(list->data + i * stride);
        if (r->name)
            fn(self, r);
    }
    g_array_free(list, TRUE);
}

struct wanted {
    struct gt_host_register *r;
    const char *name;
};

static void take_wanted(void *self, const struct qemu_register *at)
{
    const struct wanted *w = self;
    if (w->r->exists || strcasecmp(at->name, w->name) != 0)
        return;
    w->r->handle = at->handle; /* may be NULL: an encoded number in later hosts */
    w->r->exists = true;
}

static void find_register(struct gt_host_register *r, const char *name)
{
    struct wanted w = {r, name};
    if (name)
        each_register(take_wanted, &w);
}

bool gt_host_register_exists(struct gt_host_register *r, const char *name)
{
    if (g_once_init_enter(&r->found)) {
        find_register(r, name);
        g_once_init_leave(&r->found, 1);
    }
    return r->exists;
}

static __thread GByteArray *kept;

static void free_kept(gpointer unused)
{
    (void)unused;
    g_byte_array_free(kept, TRUE);
    kept = NULL;
}

/* What QEMU's answers are put into: empty, the thread's. It begins at a cache line, as stores that
 * cross one are slow to read back. */
static GByteArray *answer(void)
{
    enum { LINE = 64, ROOM = 1024 };
    static GPrivate end = G_PRIVATE_INIT(free_kept);
    void *room;
    if (!kept) {
        kept = posix_memalign(&room, LINE, ROOM) == 0 ? g_byte_array_new_take(room, ROOM)
                                                      : g_byte_array_new();
        g_private_set(&end, kept);
    }
    return g_byte_array_set_size(kept, 0);
}

/* The low 8 bytes. */
static bool read_register(void *handle, uint64_t *value)
{
    GByteArray *bytes = answer();
    gt_qemu.read_register(handle, bytes);
    bool ok = bytes->len > 0; /* its result is an int in some versions, a bool in others */
    *value = 0;
    if (ok)
        memcpy(value, bytes->data, bytes->len < 8 ? bytes->len : 8);
    return ok;
}

bool gt_host_register_read(struct gt_host_register *r, const char *name, uint64_t *value)
{
    return gt_host_register_exists(r, name) && read_register(r->handle, value);
}

/* Those that every debugger shows: the feature "org.gnu.gdb.ARCH.core", "...cpu". */
static bool is_core(const char *feature)
{
    static const char *const ends[] = {".core", ".cpu", "core"};
    size_t n = feature ? strlen(feature) : 0;
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        if (n >= strlen(ends[i]) && strcmp(feature + n - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

static struct {
    void *handle;
    const char *name;
} core[64];
static size_t n_core;

static void take_core(void *self, const struct qemu_register *r)
{
    (void)self;
    if (n_core == G_N_ELEMENTS(core) || !is_core(r->feature))
        return;
    core[n_core].handle = r->handle;
    core[n_core++].name = r->name;
}

const char *gt_host_register_name(size_t i)
{
    static gsize found; /* the first vCPU's are all vCPUs' */
    if (g_once_init_enter(&found)) {
        each_register(take_core, NULL);
        g_once_init_leave(&found, 1);
    }
    return i < n_core ? core[i].name : NULL;
}

bool gt_host_register_value(size_t i, uint64_t *value)
{
    return i < n_core && read_register(core[i].handle, value);
}

struct teller {
    void (*fn)(void *self, const char *name, void *handle);
    void *self;
};

static void add_register(void *self, const struct qemu_register *r)
{
    const struct teller *t = self;
    t->fn(t->self, r->name, r->handle);
}

void gt_host_registers_each(void (*fn)(void *self, const char *name, void *handle), void *self)
{
    struct teller t = {fn, self};
    each_register(add_register, &t);
}

size_t gt_host_register_bytes(void *handle, uint8_t *out, size_t n)
{
    GByteArray *bytes = answer();
    gt_qemu.read_register(handle, bytes);
    if (bytes->len)
        memcpy(out, bytes->data, bytes->len < n ? bytes->len : n);
    return bytes->len;
}

bool gt_host_memory_read(uint64_t addr, void *out, size_t n)
{
    if (!gt_host_can(GT_HOST_MEMORY))
        return false;
    GByteArray *bytes = answer();
    bool ok = gt_qemu.read_memory_vaddr(addr, bytes, n) && bytes->len == n;
    if (ok)
        memcpy(out, bytes->data, n);
    return ok;
}

bool gt_host_memory_read_physical(uint64_t addr, void *out, size_t n)
{
    if (!gt_host_can(GT_HOST_PHYSICAL_MEMORY))
        return false;
    GByteArray *bytes = answer();
    bool ok = gt_qemu.read_memory_hwaddr(addr, bytes, n) == 0 && bytes->len == n; /* 0: success */
    if (ok)
        memcpy(out, bytes->data, n);
    return ok;
}

bool gt_host_memory_number(uint64_t addr, size_t n, uint64_t *out)
{
    uint8_t bytes[8] = {0};
    *out = 0;
    if (n > sizeof bytes || !gt_host_memory_read(addr, bytes, n))
        return false;
    for (size_t i = n; i > 0; i--)
        *out = *out << 8 | bytes[i - 1];
    return true;
}
