/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays the plan. Translated code runs under the shared lock `running`; a flush and a scoreboard
 * that grows take it alone, as QEMU stops all vCPUs for them.
 */
#include "host.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_rwlock_t running = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct tb **blocks; /* by their first instruction */
static bool flags[64];
static bool *alive; /* by life: between its first callback and its last */

static struct tb *find_block(uint32_t first, uint32_t n)
{
    pthread_mutex_lock(&lock);
    struct tb *tb = blocks[first];
    while (tb && tb->n != n)
        tb = tb->next;
    pthread_mutex_unlock(&lock);
    return tb;
}

static struct tb *translate(uint32_t first, uint32_t n)
{
    struct tb *tb = calloc(1, sizeof *tb);
    tb->insns = calloc(n, sizeof *tb->insns);
    tb->first = first;
    tb->n = n;
    for (uint32_t i = 0; i < n; i++)
        tb->insns[i] = (struct tb_insn){.insn = &gt_recorder_plan.insns[first + i], .tb = tb};
    assert(!gt_translating);
    gt_translating = tb;
    gt_tell_translate(tb);
    gt_translating = NULL;
    pthread_mutex_lock(&lock);
    tb->next = blocks[first];
    blocks[first] = tb;
    pthread_mutex_unlock(&lock);
    return tb;
}

static void flush_alone(void)
{
    for (size_t i = 0; i < gt_recorder_plan.n_insns; i++)
        while (blocks[i]) {
            struct tb *tb = blocks[i];
            blocks[i] = tb->next;
            gt_free_tb(tb);
        }
    gt_tell_flush();
}

static void do_access(const struct tb_insn *insn, unsigned vcpu, const struct access *a)
{
    if (a->kind == 's')
        gt_recorder_plan.registers[a->addr].value[vcpu % 4] = a->value;
    else
        gt_run_memory(&insn->ops, vcpu, a);
}

static void run_block(unsigned vcpu, const struct action *a)
{
    if (a->first + a->count > gt_recorder_plan.n_insns || a->count == 0)
        gt_die("no such block");
    struct tb *tb = find_block(a->first, a->count);
    if (!tb)
        tb = translate(a->first, a->count);
    gt_run_ops(&tb->ops, vcpu);
    for (uint32_t i = 0; i < tb->n; i++) {
        gt_run_ops(&tb->insns[i].ops, vcpu);
        if ((int32_t)i == a->fault)
            return;
        for (size_t k = 0; k < a->n_access; k++)
            if (a->access[k].insn == i)
                do_access(&tb->insns[i], vcpu, &a->access[k]);
    }
}

static void *run_life(void *arg);

static __thread int64_t last_syscall = -1; /* the number of this vCPU's */

/* clone returns when the thread runs, before its vCPU has begun or after. */
static void clone_returns(const struct life *l)
{
    pthread_mutex_lock(&lock);
    while (!l->tid)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    if (last_syscall >= 0)
        gt_tell_syscall_return(gt_this_vcpu, last_syscall, l->tid);
    last_syscall = -1;
}

/* The first life of the vCPU that has not begun. */
static void start(unsigned vcpu)
{
    for (size_t i = 0; i < gt_recorder_plan.n_lives; i++) {
        struct life *l = &gt_recorder_plan.lives[i];
        if (l->vcpu != vcpu || l->started)
            continue;
        l->started = true;
#if GT_SCRIPT_ABI == 1
        gt_tell_init(vcpu);
#endif
        if (pthread_create(&l->thread, NULL, run_life, l) != 0)
            gt_die("no thread");
        clone_returns(l);
        pthread_mutex_lock(&lock);
        while (!alive[i])
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        return;
    }
    gt_die("vCPU %u has no more lives", vcpu);
}

static void join(unsigned vcpu)
{
    for (size_t i = 0; i < gt_recorder_plan.n_lives; i++) {
        struct life *l = &gt_recorder_plan.lives[i];
        if (l->vcpu == vcpu && l->started && l->thread) {
            pthread_join(l->thread, NULL);
            l->thread = 0;
        }
    }
}

static void set_flag(uint64_t flag)
{
    pthread_mutex_lock(&lock);
    flags[flag % 64] = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await_flag(uint64_t flag)
{
    pthread_mutex_lock(&lock);
    while (!flags[flag % 64])
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void act(unsigned vcpu, const struct action *a)
{
    switch (a->kind) {
    case DO_BLOCK:
        run_block(vcpu, a);
        break;
    case DO_SYSCALL:
        gt_tell_syscall(vcpu, a->arg);
        last_syscall = (int64_t)a->arg[0];
        break;
    case DO_SYSCALL_RETURN:
        gt_tell_syscall_return(vcpu, (int64_t)a->arg[0], (int64_t)a->arg[1]);
        break;
    case DO_DISCONTINUITY:
        gt_tell_discontinuity(vcpu, (int)a->arg[0], a->arg[1], a->arg[2]);
        break;
    case DO_MAP:
        gt_map_file(a->arg[0], a->arg[1], a->path);
        break;
    case DO_SHARE:
        gt_recorder_plan.shared.from = a->arg[0];
        gt_recorder_plan.shared.size = a->arg[1];
        gt_recorder_plan.shared.to = a->arg[2];
        break;
    default:
        gt_die("action %d is no guest's", a->kind);
    }
}

/* A machine's exit does not wait for the other vCPUs. */
static void report_exit_once(void)
{
    static bool told;
    if (!told)
        gt_tell_exit();
    told = true;
}

/* False: the guest is done. */
static bool act_alone(unsigned vcpu, const struct action *a)
{
    switch (a->kind) {
    case DO_FLUSH:
        pthread_rwlock_wrlock(&running);
        flush_alone();
        pthread_rwlock_unlock(&running);
        return true;
    case DO_START:
        start((unsigned)a->arg[0]);
        return true;
    case DO_JOIN:
        join((unsigned)a->arg[0]);
        return true;
    case DO_SIGNAL:
        set_flag(a->arg[0]);
        return true;
    case DO_AWAIT:
        await_flag(a->arg[0]);
        return true;
    case DO_EXIT:
        if (gt_recorder_plan.system)
            report_exit_once();
        return gt_recorder_plan.system;
    default:
        pthread_rwlock_rdlock(&running);
        act(vcpu, a);
        pthread_rwlock_unlock(&running);
        return true;
    }
}

static bool run_actions(unsigned vcpu, const struct action *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i].kind != DO_REPEAT) {
            if (!act_alone(vcpu, &a[i]))
                return false;
            continue;
        }
        for (uint32_t k = 0; k < a[i].count; k++)
            if (!run_actions(vcpu, &a[i + 1], a[i].first))
                return false;
        i += a[i].first;
    }
    return true;
}

/* Version 1 tells of a vCPU where it is made; later ones on its own thread, after making room. */
static void begin(unsigned vcpu)
{
    gt_this_vcpu = vcpu;
#if GT_SCRIPT_ABI >= 2
    pthread_rwlock_wrlock(&running);
    if (gt_scores_grow(vcpu))
        flush_alone();
    pthread_rwlock_unlock(&running);
    pthread_rwlock_rdlock(&running);
    gt_tell_init(vcpu);
    pthread_rwlock_unlock(&running);
#endif
}

static void *run_life(void *arg)
{
    struct life *l = arg;
    pthread_mutex_lock(&lock);
    l->tid = gettid();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    begin(l->vcpu);
    pthread_mutex_lock(&lock);
    alive[l - gt_recorder_plan.lives] = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    run_actions(l->vcpu, l->actions, l->n);
    if (!gt_recorder_plan.system) {
        pthread_rwlock_rdlock(&running);
        gt_tell_vcpu_exit(l->vcpu);
        pthread_rwlock_unlock(&running);
    }
    return NULL;
}

static void play_process(void)
{
    struct life *l = &gt_recorder_plan.lives[0];
    l->started = true;
#if GT_SCRIPT_ABI == 1
    gt_tell_init(l->vcpu);
#endif
    begin(l->vcpu);
    run_actions(l->vcpu, l->actions, l->n);
}

static void play_machine(void)
{
    for (unsigned i = 0; i < gt_recorder_plan.vcpus; i++)
        start(i);
    for (unsigned i = 0; i < gt_recorder_plan.vcpus; i++)
        join(i);
}

void gt_play(void)
{
    blocks = calloc(gt_recorder_plan.n_insns + 1, sizeof *blocks);
    alive = calloc(gt_recorder_plan.n_lives + 1, sizeof *alive);
    if (gt_recorder_plan.n_lives == 0)
        return;
    if (gt_recorder_plan.system)
        play_machine();
    else
        play_process();
    pthread_rwlock_wrlock(&running);
    report_exit_once();
    for (size_t i = 0; i < gt_recorder_plan.n_insns; i++)
        while (blocks[i]) {
            struct tb *tb = blocks[i];
            blocks[i] = tb->next;
            gt_free_tb(tb);
        }
    pthread_rwlock_unlock(&running);
}
