/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a recorder begins and ends, and QEMU's targets: see recorder.h. */
#include "etrace/plugin/recorder.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/early_exit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct gt_etrace gt_etrace_of_plugin;

static int create_keys(struct gt_etrace *e, struct gt_error *err)
{
    int error = pthread_key_create(&e->own_buffer, NULL);
    if (error)
        return gt_error_errno(err, error, "cannot keep data of threads");
    error = pthread_key_create(&e->began_there, NULL);
    if (error)
        pthread_key_delete(e->own_buffer);
    return error ? gt_error_errno(err, error, "cannot keep data of threads") : 0;
}

int gt_etrace_init(struct gt_etrace *e, const struct gt_host_info *host, struct gt_error *err)
{
    memset(e, 0, sizeof *e);
    e->host = *host;
    e->count.streams = e->maps.streams = 1;
    if (!gt_etrace_arch_of(host->target, &e->arch))
        return gt_error_set(err, GT_E_UNSUPPORTED, "guests of target %s are not known",
                            host->target);
    e->insns = gt_arch_by_target(host->target);
    e->bits = e->arch.guest.bits;
    int status = create_keys(e, err);
    if (status < 0)
        return status;
    e->vcpus = mmap(NULL, GT_ETRACE_MAX_VCPUS * sizeof *e->vcpus, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (e->vcpus == MAP_FAILED) {
        pthread_key_delete(e->own_buffer);
        pthread_key_delete(e->began_there);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    gt_gate_init(&e->gate);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->count.lock, NULL);
    e->cache.ranges = g_ptr_array_new();
    e->counters.sets = g_ptr_array_new();
    e->counters.ended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    e->count.delivered = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    e->devices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return 0;
}

static void free_cold(struct gt_etrace *e)
{
    gt_etrace_early_exit_flush(e);
    for (guint i = 0; i < e->cache.ranges->len; i++)
        for (struct gt_etrace_block *b = e->cache.ranges->pdata[i], *next; b; b = next) {
            next = b->cold ? b->cold->same_range : NULL;
            g_free(b->cold);
        }
    GHashTableIter pages;
    gpointer page;
    if (!e->cache.pages.all)
        return;
    g_hash_table_iter_init(&pages, e->cache.pages.all);
    while (g_hash_table_iter_next(&pages, NULL, &page))
        gt_etrace_early_exit_free(page);
}

static void free_buffers(struct gt_etrace *e)
{
    for (struct gt_etrace_buffer *buf = e->buffers, *next; buf; buf = next) {
        next = buf->next;
        pthread_mutex_destroy(&buf->lock);
        free(buf);
    }
}

void gt_etrace_fini(struct gt_etrace *e)
{
    gt_packet_sink_destroy(e->sink);
    free_cold(e);
    gt_etrace_cache_clear(e);
    free_buffers(e);
    free(e->tail.data);
    g_ptr_array_free(e->cache.ranges, TRUE);
    g_ptr_array_free(e->counters.sets, TRUE);
    g_array_free(e->counters.ended, TRUE);
    g_array_free(e->count.delivered, TRUE);
    g_free(e->maps.program);
    if (e->maps.ranges)
        g_array_free(e->maps.ranges, TRUE);
    g_hash_table_destroy(e->devices);
    pthread_mutex_destroy(&e->count.lock);
    pthread_mutex_destroy(&e->lock);
    munmap(e->vcpus, GT_ETRACE_MAX_VCPUS * sizeof *e->vcpus);
    pthread_key_delete(e->own_buffer);
    pthread_key_delete(e->began_there);
}

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__i386__)
#define HOST_MACHINE EM_386
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__arm__)
#define HOST_MACHINE EM_ARM
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define HOST_MACHINE EM_PPC64
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#elif defined(__mips__)
#define HOST_MACHINE EM_MIPS
#else
#define HOST_MACHINE EM_NONE
#endif

enum { HEXAGON = 164, LOONGARCH = 258, ALPHA = 0x9026 };

static const struct {
    const char *name;
    struct gt_etrace_arch_side side;
} targets[] = {
    {"aarch64", {EM_AARCH64, 64, 0}},
    {"aarch64_be", {EM_AARCH64, 64, 1}},
    {"alpha", {ALPHA, 64, 0}},
    {"arm", {EM_ARM, 32, 0}},
    {"armeb", {EM_ARM, 32, 1}},
    {"avr", {EM_AVR, 32, 0}},
    {"cris", {EM_CRIS, 32, 0}},
    {"hexagon", {HEXAGON, 32, 0}},
    {"hppa", {EM_PARISC, 32, 1}},
    {"i386", {EM_386, 32, 0}},
    {"loongarch64", {LOONGARCH, 64, 0}},
    {"m68k", {EM_68K, 32, 1}},
    {"microblaze", {EM_MICROBLAZE, 32, 1}},
    {"microblazeel", {EM_MICROBLAZE, 32, 0}},
    {"mips", {EM_MIPS, 32, 1}},
    {"mips64", {EM_MIPS, 64, 1}},
    {"mips64el", {EM_MIPS, 64, 0}},
    {"mipsel", {EM_MIPS, 32, 0}},
    {"mipsn32", {EM_MIPS, 32, 1}},
    {"mipsn32el", {EM_MIPS, 32, 0}},
    {"nios2", {EM_ALTERA_NIOS2, 32, 0}},
    {"or1k", {EM_OPENRISC, 32, 1}},
    {"ppc", {EM_PPC, 32, 1}},
    {"ppc64", {EM_PPC64, 64, 1}},
    {"ppc64le", {EM_PPC64, 64, 0}},
    {"riscv32", {EM_RISCV, 32, 0}},
    {"riscv64", {EM_RISCV, 64, 0}},
    {"rx", {EM_RX, 32, 0}},
    {"s390x", {EM_S390, 64, 1}},
    {"sh4", {EM_SH, 32, 0}},
    {"sh4eb", {EM_SH, 32, 1}},
    {"sparc", {EM_SPARC, 32, 1}},
    {"sparc32plus", {EM_SPARC32PLUS, 32, 1}},
    {"sparc64", {EM_SPARCV9, 64, 1}},
    {"tricore", {EM_TRICORE, 32, 0}},
    {"x86_64", {EM_X86_64, 64, 0}},
    {"xtensa", {EM_XTENSA, 32, 0}},
    {"xtensaeb", {EM_XTENSA, 32, 1}},
};

uint8_t gt_etrace_longest_insn(uint32_t machine)
{
    switch (machine) {
    case EM_AARCH64:
    case EM_ARM:
    case EM_RISCV:
    case ALPHA:
    case LOONGARCH:
    case EM_MICROBLAZE:
    case EM_OPENRISC:
    case EM_PARISC:
    case EM_SPARC:
    case EM_SPARC32PLUS:
    case EM_SPARCV9:
        return 4;
    default:
        return 0;
    }
}

bool gt_etrace_arch_of(const char *target, struct gt_etrace_arch *out)
{
    out->host = (struct gt_etrace_arch_side){HOST_MACHINE, 8 * sizeof(void *),
                                             __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, target) == 0) {
            out->guest = targets[i].side;
            return true;
        }
    return false;
}
