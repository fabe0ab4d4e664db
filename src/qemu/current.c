/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which vCPU a callback is of, where QEMU passes another one's number: see current.h. */
#include "qemu/current.h"
#include "qemu/host.h"

#include <dlfcn.h>
#include <glib.h>
#include <pthread.h>

enum { MOST = 1024 };

/* QEMU's own word, of the one thread that runs all vCPUs: the object of the one that runs. */
static void *const *current;
static void *objects[MOST]; /* of each vCPU; NULL: not known */
static unsigned n_objects;
static bool corrects, instrumented;

bool gt_qemu_current_is_corrected(void)
{
    instrumented = true;
    return corrects;
}

static void learn(unsigned vcpu)
{
    void *const *word = dlsym(RTLD_DEFAULT, "current_cpu");
    if (!word || vcpu >= MOST)
        return;
    current = word;
    objects[vcpu] = *word;
    n_objects = vcpu >= n_objects ? vcpu + 1 : n_objects;
}

static bool are_distinct(void)
{
    for (unsigned i = 0; i < n_objects; i++)
        for (unsigned j = 0; j < i; j++)
            if (objects[i] && objects[i] == objects[j])
                return false;
    return true;
}

static bool correct(unsigned vcpu)
{
    bool known = vcpu < n_objects && objects[vcpu] && are_distinct();
    corrects = known && (corrects || !instrumented);
    return corrects;
}

/* True where the calling thread runs another vCPU, too, and callbacks have the wrong one. */
static bool is_wrong(const struct gt_host_info *host)
{
    static __thread bool other;
    bool wrong = host->system && host->abi >= 2 && other;
    other = true;
    return wrong;
}

static void report(const struct gt_host_info *host, const char *wrong)
{
    static bool reported;
    if (!reported)
        gt_host_message(
            "with single-threaded TCG this QEMU (plugin ABI %d) reports the wrong vCPU: %s",
            host->abi, wrong);
    reported = true;
}

enum gt_host_vcpus gt_host_vcpus_correct(const struct gt_host_info *host, unsigned vcpu,
                                         const char *wrong)
{
    if (host->system)
        learn(vcpu);
    if (!is_wrong(host))
        return GT_VCPUS_RIGHT;
    if (correct(vcpu))
        return GT_VCPUS_CORRECTED;
    report(host, wrong);
    return GT_VCPUS_WRONG;
}

/* ---- callbacks ----------------------------------------------------------------------------- */

/* One that is not known keeps the number that QEMU gives. */
static unsigned running(unsigned given)
{
    static unsigned last;
    const void *object = *current;
    if (last < n_objects && objects[last] == object)
        return last;
    for (unsigned i = 0; i < n_objects; i++)
        if (objects[i] == object)
            return last = i;
    return given;
}

struct target {
    void *fn, *data;
};

static guint hash_target(const void *target)
{
    const struct target *t = target;
    return g_direct_hash(t->fn) * 31 ^ g_direct_hash(t->data);
}

static gboolean same_target(const void *a, const void *b)
{
    const struct target *x = a, *y = b;
    return x->fn == y->fn && x->data == y->data;
}

/* Lives for ever, as blocks may. Each is kept once: blocks are translated again. */
void *gt_qemu_current_target(void *fn, void *data)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static GHashTable *all;
    const struct target want = {fn, data};
    pthread_mutex_lock(&lock);
    if (!all)
        all = g_hash_table_new(hash_target, same_target);
    struct target *found = g_hash_table_lookup(all, &want);
    if (!found) {
        found = g_memdup2(&want, sizeof want);
        g_hash_table_add(all, found);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void gt_qemu_current_on_exec(unsigned vcpu, void *target)
{
    const struct target *t = target;
    ((gt_host_exec_fn)t->fn)(running(vcpu), t->data);
}

void gt_qemu_current_on_memory(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *target)
{
    const struct target *t = target;
    ((gt_host_mem_fn)t->fn)(running(vcpu), meminfo, vaddr, t->data);
}
