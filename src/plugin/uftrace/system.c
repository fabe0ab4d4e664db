/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers and contexts of machines, as translated code and the host show them to the tracker
 * (track/machine.h).
 *
 * Where handlers begin. QEMU 10.2 and later tell when an interrupt or an exception is taken. Before
 * that it is concluded: a block that no code seen so far leads to, reached while nothing is under
 * way that leads there, can only have been reached by an exception. From then on that block is a
 * vector, and so are the others of its table. What is missed so is the first use of a vector that
 * hits between an indirect jump or call and its arrival.
 *
 * Where they end: at the exception return, before it runs.
 *
 * Stack pointers: their values are read where the host lets us; everywhere the addresses of the
 * words are known that they are stored in and loaded from.
 */
#include "guest/arch/privilege.h"
#include "plugin/uftrace/uftrace.h"
#include "track/machine.h"

static uint64_t read_sp(void)
{
    static struct gt_register pointer;
    uint64_t sp;
    return gt_register_read(&pointer, gt_rec.arch->sp_register, &sp) ? sp : GT_NO_ADDR;
}

/* The stack pointer that the exception return goes on with; 0: not known. */
static uint64_t returned_sp(const struct gt_code *code)
{
    static struct gt_register below;
    uint64_t sp = 0;
    if (!code->pops_sp)
        return gt_register_read(&below, gt_rec.arch->returned_sp, &sp) ? sp : 0;
    uint64_t frame = read_sp();
    const size_t word = gt_rec.arch->bits / 8;
    return frame != GT_NO_ADDR && gt_memory_number(frame + GT_POPPED_SP * word, word, &sp) ? sp : 0;
}

static bool is_of(uint64_t mark, enum gt_code_exit exit)
{
    return mark & GT_MARK_CODE && gt_mark_code(mark)->exit == exit;
}

static void before_syscall(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (!gt_vcpu_is_recorded(v))
        return;
    uint64_t sp = read_sp();
    v->thread.calling_sp = sp == GT_NO_ADDR ? 0 : sp;
}

/* A callback at an instruction finds the mark that its block's end is to leave on hosts that have
 * no cells: it is set when the block begins. */
static void leave(struct gt_vcpu *v, struct gt_cells *cells, const struct gt_code *code)
{
    uint64_t mark = gt_code_mark(code);
    gt_machine_leave(&v->thread, &mark, gt_vcpu_time(v, cells));
    if (is_of(mark, GT_EXIT_EXCEPTION_RETURN)) /* or of one that an interrupt had followed */
        v->thread.returned_sp = returned_sp(code);
    cells->mark = mark;
}

static bool first_argument_is_0(void)
{
    static struct gt_register argument;
    uint64_t value;
    return gt_register_read(&argument, gt_rec.arch->first_argument, &value) && value == 0;
}

static void on_exception_return(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (!gt_vcpu_is_recorded(v))
        return;
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    leave(v, cells, data);
    if (is_of(cells->mark, GT_EXIT_SYSCALL))
        v->thread.cleared = first_argument_is_0();
}

static void on_world_return(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (!gt_vcpu_is_recorded(v))
        return;
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    leave(v, cells, data);
    gt_level_change_world(v, data, &cells->mark, gt_vcpu_time(v, cells));
}

void gt_machine_enter_at(struct gt_vcpu *v, struct gt_cells *cells, struct gt_code *code)
{
    uint64_t time = gt_vcpu_time(v, cells);
    if (v->levels)
        gt_level_enter(v, code, time);
    gt_machine_enter(&v->thread, code->pc, code->fn, code, cells->mark, time);
    cells->mark = gt_mark_of_func(code->fn);
}

/* Vector tables found so far, by their first vectors. Read without the lock. */
static uint64_t tables[16];
static unsigned n_tables;

static uint64_t table_of(uint64_t pc)
{
    return pc & ~(uint64_t)(gt_rec.arch->vector_table - 1);
}

static bool in_table(uint64_t pc)
{
    unsigned n = __atomic_load_n(&n_tables, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n && gt_rec.arch->vector_table; i++)
        if (tables[i] == table_of(pc))
            return true;
    return false;
}

static bool is_page_offset(uint64_t a, uint64_t b)
{
    return (a - b) % GT_PAGE == 0;
}

static bool is_of_bios(const struct gt_code *code)
{
    return code->pc < gt_rec.arch->vector_lowest;
}

/* True where what is under way does not lead to the block either. Where the host tells of
 * exceptions, only system calls that are none to it are left. Returns that are jumps look the same
 * where vectors may stand anywhere, unless their function is known. */
static bool is_astray(const struct gt_vcpu *v, const struct gt_code *code, uint64_t mark)
{
    bool told = gt_rec.discontinuities, named = code->fn->flags & GT_FUNC_VECTORS;
    if (!(mark & GT_MARK_CODE) && mark & GT_MARK_JUMPED)
        return !told && named;
    if (!(mark & GT_MARK_CODE)) /* resumed elsewhere in its function: a fault has been mended */
        return !told && (!(mark & GT_MARK_RESUME) || gt_mark_func(mark) != code->fn ||
                         code->fn->flags & GT_FUNC_ANON);
    const struct gt_code *from = gt_mark_code(mark);
    switch (from->exit) {
    case GT_EXIT_SYSCALL:
        /* It has ended, and comes back to the program: the block is none of the program's where
         * levels can be read. */
        return gt_code_end(from) != code->pc &&
               (!(mark & GT_MARK_RESUME) || is_of_bios(code) || (!told && from->user));
    case GT_EXIT_EXCEPTION_RETURN: /* those that end no handler lead to lower levels */
        return !told && from->pc >> 63 && code->pc >> 63;
    case GT_EXIT_CALL:
        return !told && !is_page_offset(from->target, code->pc);
    case GT_EXIT_RETURN:
        return !told && (named || gt_rec.arch->vector_align > 1) &&
               !gt_machine_returns(&v->thread, code->pc);
    default:
        return !told && named;
    }
}

/* Of a block that nothing under way leads to. With the lock. */
static uint8_t decide(const struct gt_code *code, uint64_t mark)
{
    bool by_call = is_of(mark, GT_EXIT_SYSCALL);
    if (gt_arrival_is_known(code->pc) || (is_of_bios(code) && !by_call && gt_rec.discontinuities))
        return GT_VECTOR_NO;
    if (n_tables < G_N_ELEMENTS(tables) && !in_table(code->pc)) {
        tables[n_tables] = table_of(code->pc);
        __atomic_store_n(&n_tables, n_tables + 1, __ATOMIC_RELEASE);
    }
    return GT_VECTOR_YES;
}

bool gt_machine_may_be_vector(const struct gt_code *code)
{
    uint64_t high = code->pc >> 63;
    return code->vector != GT_VECTOR_NO &&
           (code->fn->flags & GT_FUNC_VECTORS ||
            code->pc % (high ? gt_rec.arch->vector_align_high : gt_rec.arch->vector_align) == 0);
}

bool gt_machine_is_vector(struct gt_vcpu *v, struct gt_code *code, uint64_t mark)
{
    if (!gt_vcpu_is_recorded(v))
        return false;
    if (code->vector != GT_VECTOR_UNKNOWN || !mark || !gt_machine_may_be_vector(code))
        return code->vector == GT_VECTOR_YES;
    if (in_table(code->pc) || is_astray(v, code, mark)) {
        pthread_mutex_lock(&gt_rec.lock);
        code->vector = decide(code, mark);
        pthread_mutex_unlock(&gt_rec.lock);
    }
    return code->vector == GT_VECTOR_YES;
}

void gt_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to)
{
    (void)self, (void)kind;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    /* From == to: an instruction that the host runs as a call of its own, and what comes before the
     * true event on x86. */
    if (!gt_vcpu_is_recorded(v) || from == to)
        return;
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    pthread_mutex_lock(&gt_rec.lock);
    const struct gt_func *fn = gt_code_func_at(to);
    pthread_mutex_unlock(&gt_rec.lock);
    uint64_t time = gt_vcpu_time(v, cells);
    if (v->levels)
        gt_level_enter(v, NULL, time);
    gt_machine_enter(&v->thread, to, fn, NULL, cells->mark, time);
    cells->mark = gt_mark_of_func(fn);
}

/* ---- stack pointers ------------------------------------------------------------------------ */

static void on_stored(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *pushed)
{
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (gt_vcpu_is_recorded(v) && gt_mem_is_store(meminfo))
        gt_machine_saved(&v->thread, vaddr, (uint64_t)(uintptr_t)pushed);
}

static void on_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (gt_vcpu_is_recorded(v) && !gt_mem_is_store(meminfo))
        gt_track_restored(&v->thread, vaddr);
}

static void before_switch(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    v->left_sp = read_sp();
    v->loads_sp = true;
}

/* Of no code: a block's own mark is another. */
static const struct gt_func leaping = {.flags = GT_FUNC_ANON};

static void switch_to(struct gt_vcpu *v, unsigned vcpu, uint64_t sp)
{
    v->loads_sp = false;
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    uint64_t time = gt_vcpu_time(v, cells);
    gt_machine_switch(&v->thread, v->left_sp, sp, time);
    if (gt_machine_has_leapt(&v->thread) && !(cells->mark & GT_MARK_CODE))
        cells->mark = gt_mark_of_func(&leaping); /* the next look asks where that was to */
    gt_machine_landed(v, time);
}

static void after_switch(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (gt_vcpu_is_recorded(v) && v->loads_sp)
        switch_to(v, vcpu, read_sp());
}

/* A block ends with the load: an interrupt may come before what is next. */
static void on_last_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    on_loaded(vcpu, meminfo, vaddr, data);
    if (gt_vcpu_is_recorded(v) && !gt_mem_is_store(meminfo))
        switch_to(v, vcpu, GT_NO_ADDR);
}

/* Where blocks go on that have ended with the load: hosts that count instructions end one anywhere.
 * NULL: none has yet. With gt_rec.lock. */
static GHashTable *splits;

static void note_split(uint64_t pc)
{
    if (!splits)
        splits = g_hash_table_new(NULL, NULL);
    g_hash_table_add(splits, (void *)(uintptr_t)pc);
}

static bool is_split(uint64_t pc)
{
    return splits && g_hash_table_contains(splits, (void *)(uintptr_t)pc);
}

static void watch_switch(const struct gt_translation *t, size_t at)
{
    uint64_t end = gt_decoded_end(&t->insn[at]);
    bool last = at + 1 == t->n;
    for (size_t i = 0; i <= at; i++)
        gt_insn_on_memory(t->insn[i].ref, last && i == at ? on_last_loaded : on_loaded,
                          GT_MEM_LOADS, NULL);
    gt_insn_on_exec_regs(t->insn[at].ref, before_switch, NULL);
    gt_linux_watch(&t->insn[at]);
    if (last)
        note_split(end);
    else
        gt_insn_on_exec_regs(t->insn[at + 1].ref, after_switch, NULL);
}

/* Where a context goes on whose stack pointer is stored now; NULL: not known. */
static void *resumes_at(const struct gt_pushed *pushed)
{
    bool known = pushed->push.width == 4 && pushed->above >= 0;
    return known ? (void *)(uintptr_t)pushed->push.value : NULL;
}

static void watch_stack_pointer(const struct gt_translation *t)
{
    uint32_t copies = 0;
    if (is_split(t->insn[0].pc))
        gt_insn_on_exec_regs(t->insn[0].ref, after_switch, NULL);
    struct gt_pushed pushed = gt_pushed_before(t);
    for (size_t i = 0; i < t->n && gt_rec.arch->stack_use; i++) {
        const struct gt_decoded *d = &t->insn[i];
        gt_pushed_see(&pushed, d);
        uint8_t use = gt_rec.arch->stack_use(d->bytes, d->size, &copies);
        if (use == GT_STACK_STORED)
            gt_insn_on_memory(d->ref, on_stored, GT_MEM_STORES, resumes_at(&pushed));
        else if (d->insn.kind == GT_INSN_STACK_SWITCH && use != GT_STACK_OWN)
            watch_switch(t, i);
    }
}

void gt_machine_watch(const struct gt_translation *t, struct gt_code *code)
{
    const struct gt_decoded *last = &t->insn[t->n - 1];
    watch_stack_pointer(t);
    if (t->insn[0].pc == code->pc && code->entry)
        gt_linux_watch_entry(&t->insn[0]);
    if (code->exit == GT_EXIT_SYSCALL && gt_host_can(GT_HOST_REGISTERS))
        gt_insn_on_exec_regs(last->ref, before_syscall, NULL);
    if (code->exit != GT_EXIT_EXCEPTION_RETURN || last->insn.kind != GT_INSN_EXCEPTION_RETURN)
        return;
    if (gt_level_leaves_world(code))
        gt_insn_on_exec_regs(last->ref, on_world_return, code);
    else
        gt_insn_on_exec_regs(last->ref, on_exception_return, code);
}

/* ---- tasks --------------------------------------------------------------------------------- */

void gt_machine_landed(struct gt_vcpu *v, uint64_t time)
{
    const struct gt_stack *s = v->thread.stack;
    if (s == v->seen)
        return;
    v->seen = s;
    /* A context that comes from a vCPU whose clock is ahead takes its time along. */
    if (!gt_rec.host_clock && s->last_time > time)
        v->insn_base += s->last_time - time;
    gt_linux_landed(v, time);
}
