/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a recorder begins and ends: see recorder.h. */
#include "execlog/plugin/recorder.h"

#include "execlog/format/execlog.h"

#include <string.h>
#include <sys/mman.h>

enum { ABI_11_1 = 7 }; /* the version of the plugin ABI */

int gt_exlog_init(struct gt_exlog *e, const struct gt_host_info *host, struct gt_error *err)
{
    memset(e, 0, sizeof *e);
    e->host = *host;
    e->insns = gt_arch_by_target(host->target);
    e->physical = host->system;
    e->many = host->system && host->max_vcpus > 1;
    e->repeats = host->abi < ABI_11_1;
    e->vcpus = mmap(NULL, GT_EXLOG_MAX_VCPUS * sizeof *e->vcpus, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (e->vcpus == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    pthread_mutex_init(&e->lock, NULL);
    gt_gate_init(&e->gate);
    gt_exlog_cache_init(e);
    e->registers.all = g_ptr_array_new();
    return 0;
}

void gt_exlog_fini(struct gt_exlog *e)
{
    gt_packet_sink_destroy(e->packet_sink);
    gt_exlog_cache_fini(e);
    gt_exlog_registers_fini(e);
    gt_exlog_filter_fini(e);
    gt_exlog_where_fini(e);
    gt_execlog_writer_destroy(e->writer);
    pthread_mutex_destroy(&e->gate.lock);
    pthread_mutex_destroy(&e->lock);
    munmap(e->vcpus, GT_EXLOG_MAX_VCPUS * sizeof *e->vcpus);
}
