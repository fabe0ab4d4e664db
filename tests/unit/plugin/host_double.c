/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host that a test plays: see host_double.h. Its blocks are in host_block.c. */
#include "host_double.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct host_double host_double;

struct cell_area {
    size_t size;
    char *bytes; /* HOST_DOUBLE_VCPUS of them */
};

static void free_area(void *p)
{
    struct cell_area *a = p;
    free(a->bytes);
    free(a);
}

/* From which ABI version on the host has it; 0: by what else is said there. */
static unsigned features_of(int abi, bool system)
{
    static const int since[] = {
        [GT_HOST_SCOREBOARD] = 2,      [GT_HOST_CONDITIONAL] = 2,    [GT_HOST_REGISTERS] = 2,
        [GT_HOST_MEMORY] = 4,          [GT_HOST_MEMORY_VALUES] = 4,  [GT_HOST_DISCONTINUITY] = 5,
        [GT_HOST_SYSCALLS] = 1,        [GT_HOST_PHYSICAL] = 5,       [GT_HOST_START_AGAIN] = 1,
        [GT_HOST_PHYSICAL_MEMORY] = 5, [GT_HOST_MEMORY_AT_EXIT] = 2,
    };
    unsigned features = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(since); i++)
        features |= (unsigned)(abi >= since[i]) << i;
    unsigned absent = system ? 1u << GT_HOST_SYSCALLS
                             : 1u << GT_HOST_DISCONTINUITY | 1u << GT_HOST_PHYSICAL |
                                   1u << GT_HOST_PHYSICAL_MEMORY;
    return features & ~absent;
}

void host_double_start(const char *target, unsigned vcpus, int abi)
{
    assert(vcpus <= HOST_DOUBLE_VCPUS);
    host_double = (struct host_double){
        .info = {target, vcpus > 0, vcpus, vcpus, abi},
        .features = features_of(abi, vcpus > 0),
        .messages = g_string_new(NULL),
        .log = g_string_new(NULL),
        .score = g_ptr_array_new_with_free_func(free_area),
        .counters = g_ptr_array_new_with_free_func(g_free),
    };
}

void host_double_stop(void)
{
    g_string_free(host_double.messages, TRUE);
    g_string_free(host_double.log, TRUE);
    g_ptr_array_free(host_double.score, TRUE);
    g_ptr_array_free(host_double.counters, TRUE);
    host_double = (struct host_double){0};
}

int host_double_install(struct gt_error *err, const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return gt_host_tool_install(&host_double.info, n, (char **)(void *)words, err);
}

/* ---- events, messages ----------------------------------------------------------------------- */

void gt_host_subscribe(const struct gt_host_events *events, void *self)
{
    assert(!host_double.events && events->translate && events->exit);
    host_double.events = events;
    host_double.self = self;
}

void gt_host_start_again(void (*then)(void *self))
{
    host_double.events = NULL;
    then(host_double.self);
}

bool gt_host_can(enum gt_host_feature feature)
{
    return host_double.features >> feature & 1;
}

void gt_host_program_ends(void)
{
}

bool gt_host_on_abnormal_exit(void (*fn)(int sig))
{
    host_double.on_abnormal_exit = fn;
    return true;
}

void gt_host_log(const char *text)
{
    g_string_append(host_double.log, text);
}

void gt_host_message(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_string_append_vprintf(host_double.messages, format, ap);
    va_end(ap);
    g_string_append_c(host_double.messages, '\n');
}

char *gt_host_program(void)
{
    return g_strdup(host_double.program);
}

enum gt_host_vcpus gt_host_vcpus_correct(const struct gt_host_info *host, unsigned vcpu,
                                         const char *wrong)
{
    (void)host, (void)vcpu, (void)wrong;
    return host_double.vcpus;
}

bool gt_host_loads_state(void)
{
    return false;
}

uint64_t gt_host_place(void)
{
    return 0;
}

char *gt_host_messages_to(void)
{
    return NULL;
}

/* ---- score, counters ------------------------------------------------------------------------ */

void *gt_host_scoreboard_new(size_t size)
{
    assert(gt_host_can(GT_HOST_SCOREBOARD));
    struct cell_area *a = malloc(sizeof *a);
    *a = (struct cell_area){size, calloc(HOST_DOUBLE_VCPUS, size)};
    g_ptr_array_add(host_double.score, a);
    return a;
}

void *gt_host_scoreboard_find(void *score, unsigned vcpu)
{
    const struct cell_area *a = score;
    assert(vcpu < HOST_DOUBLE_VCPUS);
    return a->bytes + vcpu * a->size;
}

void host_double_move_scoreboard(void)
{
    for (guint i = 0; i < host_double.score->len; i++) {
        struct cell_area *a = host_double.score->pdata[i];
        char *old = a->bytes;
        a->bytes = malloc(HOST_DOUBLE_VCPUS * a->size);
        memcpy(a->bytes, old, HOST_DOUBLE_VCPUS * a->size);
        memset(old, 0xff, HOST_DOUBLE_VCPUS * a->size);
        free(old);
    }
}

void *gt_host_counters_new(size_t n)
{
    if (gt_host_can(GT_HOST_SCOREBOARD))
        return gt_host_scoreboard_new(n * sizeof(uint64_t));
    uint64_t *set = g_new0(uint64_t, n);
    g_ptr_array_add(host_double.counters, set);
    return set;
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

/* ---- memory accesses ------------------------------------------------------------------------ */

/* meminfo: the size's exponent, and bits for a store and for big-endian data. */
enum { STORE_BIT = 8, BIG_ENDIAN_BIT = 16 };

static uint32_t meminfo_of(const struct host_double_access *a)
{
    unsigned shift = 0;
    while (1u << shift < a->size)
        shift++;
    assert(shift < STORE_BIT && 1u << shift == a->size);
    return shift | (a->store ? STORE_BIT : 0) | (a->big_endian ? BIG_ENDIAN_BIT : 0);
}

bool gt_host_mem_is_store(uint32_t meminfo)
{
    return meminfo & STORE_BIT;
}

unsigned gt_host_mem_size(uint32_t meminfo)
{
    return 1u << (meminfo & (STORE_BIT - 1));
}

bool gt_host_mem_is_big_endian(uint32_t meminfo)
{
    return meminfo & BIG_ENDIAN_BIT;
}

void gt_host_mem_value(uint32_t meminfo, uint64_t value[2])
{
    assert(gt_host_can(GT_HOST_MEMORY_VALUES) && host_double.access &&
           meminfo == meminfo_of(host_double.access));
    memcpy(value, host_double.access->value, sizeof host_double.access->value);
}

bool gt_host_mem_find(uint32_t meminfo, uint64_t vaddr, struct gt_host_mem_target *out)
{
    assert(host_double.access && meminfo == meminfo_of(host_double.access) &&
           vaddr == host_double.access->vaddr);
    if (!host_double.info.system || !host_double.has_place)
        return false;
    *out = host_double.target;
    return true;
}

void host_double_access(struct gt_host_block *b, unsigned vcpu, size_t i,
                        const struct host_double_access *access)
{
    host_double.access = access;
    host_double.vcpu = vcpu;
    for (size_t k = 0; k < b->n_hooks; k++) {
        const struct host_double_hook *h = &b->hooks[k];
        unsigned kind = access->store ? GT_MEM_STORES : GT_MEM_LOADS;
        if (h->kind == HOST_DOUBLE_MEMORY && h->insn == (int)i && h->which & kind)
            h->memory(vcpu, meminfo_of(access), access->vaddr, h->data);
    }
    host_double.access = NULL;
}

/* ---- registers, guest memory ---------------------------------------------------------------- */

bool gt_host_register_exists(struct gt_host_register *r, const char *name)
{
    for (size_t i = 0; !r->found && name && i < host_double.n_registers; i++)
        if (gt_host_can(GT_HOST_REGISTERS) && !r->exists &&
            g_ascii_strcasecmp(host_double.registers[i].name, name) == 0) {
            r->handle = &host_double.registers[i];
            r->exists = true;
        }
    r->found = 1;
    return r->exists;
}

static bool low_bytes(const struct host_double_register *r, uint64_t *value)
{
    *value = 0;
    memcpy(value, r->bytes, MIN(r->size, sizeof *value));
    return r->size > 0;
}

bool gt_host_register_read(struct gt_host_register *r, const char *name, uint64_t *value)
{
    return gt_host_register_exists(r, name) && low_bytes(r->handle, value);
}

const char *gt_host_register_name(size_t i)
{
    bool is = gt_host_can(GT_HOST_REGISTERS) && i < host_double.n_registers;
    return is ? host_double.registers[i].name : NULL;
}

bool gt_host_register_value(size_t i, uint64_t *value)
{
    return gt_host_register_name(i) && low_bytes(&host_double.registers[i], value);
}

void gt_host_registers_each(void (*fn)(void *self, const char *name, void *handle), void *self)
{
    for (size_t i = 0; gt_host_register_name(i); i++)
        fn(self, gt_host_register_name(i), &host_double.registers[i]);
}

size_t gt_host_register_bytes(void *handle, uint8_t *out, size_t n)
{
    const struct host_double_register *r = handle;
    memset(out, 0, MIN(r->size, n));
    memcpy(out, r->bytes, MIN(sizeof r->bytes, MIN(r->size, n)));
    return r->size;
}

bool gt_host_physical(uint64_t vaddr, uint64_t *physical)
{
    if (!gt_host_can(GT_HOST_PHYSICAL))
        return false;
    *physical = vaddr + host_double.physical_offset;
    return true;
}

bool gt_host_memory_read(uint64_t addr, void *out, size_t n)
{
    uint64_t at = addr - host_double.memory_addr;
    if (!gt_host_can(GT_HOST_MEMORY) || at > host_double.memory_size ||
        n > host_double.memory_size - at)
        return false;
    memcpy(out, host_double.memory + at, n);
    return true;
}

bool gt_host_memory_read_physical(uint64_t addr, void *out, size_t n)
{
    if (!gt_host_can(GT_HOST_PHYSICAL_MEMORY) || addr > host_double.physical_size ||
        n > host_double.physical_size - addr)
        return false;
    memcpy(out, host_double.physical + addr, n);
    return true;
}

bool gt_host_memory_number(uint64_t addr, size_t n, uint64_t *out)
{
    *out = 0;
    return n <= sizeof *out && gt_host_memory_read(addr, out, n);
}
