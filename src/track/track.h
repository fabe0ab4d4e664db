/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tracker: turns "control arrived at this block, having left that one" into a call stack.
 * Pure logic: it includes nothing of QEMU and opens no files; its call events go to a sink.
 *
 * Each vCPU has one word, the last exit, that says how control left the last block:
 *   - the address of a struct gt_track_func: control stayed in that function as far as is known, or
 *     jumped; with GT_LAST_EXIT_JUMPED after an indirect jump that may be a return by its form, and
 *     GT_LAST_EXIT_RETURN, or, where the user needs it, any;
 *   - the address of a struct gt_code with GT_LAST_EXIT_CODE: it ended in a call or a return.
 *
 * When a block begins whose own function is not the last exit, that is a transfer: only then is the
 * tracker called (gt_track_transfer, in transfer.h). Jumps and branches inside a function cost
 * nothing; a jump into another function is a transfer, and so are signals and exceptions. The
 * tracker's user decides where the last exit is stored and compared.
 *
 * Frames. A call pushes a frame with its return address. A return that arrives there pops it; for
 * any other return gt_track_slow decides what happened (resolve.c, returns.c): a longjmp or an
 * exception (frames are closed), a coroutine switch (another stack continues), a signal handler's
 * end, or an unknown return, which closes nothing. Each such case is counted (counters.h).
 * Addresses are the guest's. Times are in ns, and never decrease for one stack.
 */
#ifndef GT_TRACK_TRACK_H
#define GT_TRACK_TRACK_H

#include "base/page.h"
#include "track/counters.h"
#include "track/sink.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_track_func_flag {
    GT_FUNC_ANON = 1,           /* code without a symbol: `lo` is not an entry */
    GT_FUNC_STUB = 2,           /* PLT stubs: a call of one is a call of where it jumps to */
    GT_FUNC_HANDLER = 4,        /* the guest registered it for a signal */
    GT_FUNC_SAVER = 8,          /* saves a context to memory: setjmp, getcontext, swapcontext */
    GT_FUNC_RESTORER = 16,      /* continues with a saved context: setcontext, swapcontext */
    GT_FUNC_UNWIND_RAISE = 32,  /* begins to unwind for an exception: see unwind.c */
    GT_FUNC_UNWIND_RESUME = 64, /* continues to unwind */
    GT_FUNC_PERSONALITY = 128,  /* called for each frame that is unwound */
    GT_FUNC_SET_CONTEXT = 512,  /* a restorer that never returns: setcontext */
    GT_FUNC_GET_IP = 256,       /* returns where that frame is: _Unwind_GetIP */
    GT_FUNC_UNNAMED = 1024,     /* code without a symbol that is known to begin at `lo` */
    GT_FUNC_VECTORS = 2048,     /* machines: has vectors, by its name; no code calls it */
    GT_FUNC_RESULT = 4096,      /* its result is recorded: tail_calls.h; may be set late */
};

/* A function of the guest, or code that belongs to no function. Lives as long as the tracker. */
struct gt_track_func {
    uint64_t lo, hi; /* [lo, hi) */
    uint32_t flags;  /* enum gt_track_func_flag; HANDLER and RESULT may be set while code runs */
    void *known;     /* the user's own; atomic */
} __attribute__((aligned(16)));

enum gt_code_exit {
    GT_EXIT_PLAIN = 0, /* falls through, jumps or branches */
    GT_EXIT_CALL,      /* to `target` */
    GT_EXIT_CALL_INDIRECT,
    GT_EXIT_RETURN,
    GT_EXIT_JUMP_HANDLER, /* a direct jump to a signal handler's entry: no signal */
    GT_EXIT_JUMP_INDIRECT,
    GT_EXIT_JUMP_BACK, /* an indirect jump that may be a return by its form */
    /* machines only: */
    GT_EXIT_SYSCALL,
    GT_EXIT_EXCEPTION_RETURN,
};

/* What a call that arrives at a block is, by what the block does with the return address before it
 * uses the stack otherwise. */
enum gt_track_arrival {
    GT_ARRIVAL_CALL = 0,
    GT_ARRIVAL_DROPS,      /* no call: the stack pointer moves over it */
    GT_ARRIVAL_DROPS_MORE, /* and over those that such calls nearby have stored before */
    GT_ARRIVAL_REPLACES,   /* no call: another address takes its place, for the next return */
    GT_ARRIVAL_AFTER_TRAP, /* a call, unless it is one over a trap that began on the page before */
    GT_ARRIVAL_INSIDE,  /* a call, or not, in the middle of a known function: the caller decides */
    GT_ARRIVAL_RUNS_ON, /* a call of the function that the block runs on into */
    GT_ARRIVAL_REPEATS, /* of unknown code: a call, unless it is one over a trap, which repeats */
};

/* Handlers begin there. LIKELY: unknown, but registers or its form say so. UNREPORTED: such that no
 * host reports. */
enum gt_track_vector {
    GT_VECTOR_UNKNOWN = 0,
    GT_VECTOR_YES,
    GT_VECTOR_NO,
    GT_VECTOR_LIKELY,
    GT_VECTOR_UNREPORTED
};

/* A block of one function, as it was translated. Lives as long as a last exit may point to it. Two
 * fill a cache line. */
struct gt_code {
    uint64_t pc;
    uint64_t target;                /* GT_EXIT_CALL, GT_EXIT_JUMP_HANDLER */
    const struct gt_track_func *fn; /* the function that the block is part of */
    uint32_t size : 13;             /* bytes */
    uint32_t insns : 10;
    uint32_t exit : 4;    /* enum gt_code_exit */
    uint32_t arrival : 3; /* enum gt_track_arrival */
    uint32_t entry : 1;   /* pc is the entry of fn */
    uint32_t detail : 1;  /* of its exit: gt_code_is_over_trap and others */
    uint8_t slow_flags;   /* enum gt_code_slow_flag, and the level: see level.c; may be set late */
    uint8_t own;          /* the user's own: it is not looked at here; atomic */
    uint8_t vector;       /* enum gt_track_vector; may be set late */
    uint8_t vector_left;  /* how often what began here did not end as a handler does */
} __attribute__((aligned(32)));

enum { GT_CODE_MAX_INSNS = 512 }; /* of one description */

/* Compared with the thread's enum gt_track_slow_flag: where they differ, a transfer is not
 * plain. */
enum gt_code_slow_flag {
    GT_CODE_SLOW = 8, /* never plain: stubs, signal handlers, called code that is not a function */
    GT_CODE_LEVEL = 0xf0,
    GT_CODE_LEVEL_SHIFT = 4,
};

enum gt_track_last_exit_tag {
    GT_LAST_EXIT_CODE = 1,   /* a struct gt_code, not a struct gt_track_func */
    GT_LAST_EXIT_STUB = 2,   /* with CODE: the call went through a stub, so not to its target */
    GT_LAST_EXIT_JUMPED = 2, /* without CODE: by an indirect jump, to anywhere */
    GT_LAST_EXIT_RESUME = 4, /* restored after a signal: the block may continue in its middle */
    GT_LAST_EXIT_RETURN = 8, /* with CODE: the block ended in a return; with JUMPED: it may have */
    GT_LAST_EXIT_TAGS = 15,
};

static inline const struct gt_code *gt_track_last_exit_code(uint64_t last_exit)
{
    return (const struct gt_code *)(uintptr_t)(last_exit & ~(uint64_t)GT_LAST_EXIT_TAGS);
}

static inline const struct gt_track_func *gt_track_last_exit_func(uint64_t last_exit)
{
    return (const struct gt_track_func *)(uintptr_t)(last_exit & ~(uint64_t)GT_LAST_EXIT_TAGS);
}

static inline uint64_t gt_track_last_exit_of_func(const struct gt_track_func *fn)
{
    return (uint64_t)(uintptr_t)fn;
}

static inline uint64_t gt_track_last_exit_of_jump(const struct gt_track_func *fn)
{
    return gt_track_last_exit_of_func(fn) | GT_LAST_EXIT_JUMPED;
}

/* Returns the last exit that the block leaves. */
static inline uint64_t gt_code_last_exit(const struct gt_code *code)
{
    if (code->exit == GT_EXIT_PLAIN)
        return gt_track_last_exit_of_func(code->fn);
    if (code->exit == GT_EXIT_JUMP_INDIRECT)
        return gt_track_last_exit_of_jump(code->fn);
    if (code->exit == GT_EXIT_JUMP_BACK)
        return gt_track_last_exit_of_jump(code->fn) | GT_LAST_EXIT_RETURN;
    return (uint64_t)(uintptr_t)code | GT_LAST_EXIT_CODE |
           (code->exit == GT_EXIT_RETURN ? GT_LAST_EXIT_RETURN : 0);
}

static inline uint64_t gt_code_end(const struct gt_code *code)
{
    return code->pc + code->size;
}

/* True after the block's first byte, and before its end. */
static inline bool gt_code_is_inside(const struct gt_code *code, uint64_t pc)
{
    return pc > code->pc && pc < gt_code_end(code);
}

/* The block ends in a call over a trap for the CPU's speculation, which no return runs. */
static inline bool gt_code_is_over_trap(const struct gt_code *code)
{
    return code->exit == GT_EXIT_CALL && code->detail;
}

/* It ends in a system call that a program makes, where levels can be read. */
static inline bool gt_code_is_users(const struct gt_code *code)
{
    return code->exit == GT_EXIT_SYSCALL && code->detail;
}

/* It ends in an exception return for which gt_arch.pops_sp holds. */
static inline bool gt_code_pops_sp(const struct gt_code *code)
{
    return code->exit == GT_EXIT_EXCEPTION_RETURN && code->detail;
}

#define GT_FUNC_UNWINDING (GT_FUNC_UNWIND_RAISE | GT_FUNC_UNWIND_RESUME | GT_FUNC_PERSONALITY)

/* Sets GT_CODE_SLOW by the flags of the block's function; the level stays. */
void gt_code_set_slow_flags(struct gt_code *code);

#define GT_NO_ADDR UINT64_MAX /* a return address that is not known */

enum gt_track_frame_kind {
    GT_FRAME_CALL = 0,
    GT_FRAME_ROOT,     /* without a caller: a program's, thread's or coroutine's first function */
    GT_FRAME_SIGNAL,   /* entered by a signal; in machines `ret`: after the system call it hit */
    GT_FRAME_HANDLER,  /* machines: of an interrupt, an exception or a system call */
    GT_FRAME_TAIL,     /* the frame below jumped there, and ends with it: see tail_calls.h */
    GT_FRAME_INJECTED, /* a signal's handler called it: see injected.h */
};

/* Facts about the stack, seen while the frame was on top. Most: see machine.h. */
enum gt_track_frame_flag {
    GT_FRAME_SP_LOADED = 1,       /* it was loaded, from where no context is known */
    GT_FRAME_RESUMED_BY_WORD = 2, /* its context was resumed, known by a word in memory alone */
    GT_FRAME_SP_STORED = 4,       /* it was stored: the context will be resumed */
    GT_FRAME_SP_RELOADED = 8,     /* it was loaded, and stayed on its own stack */
    GT_FRAME_JUMPS = 16,     /* any code: an address was stored for its next return, which is a jump
                              * if the address is not the frame's own */
    GT_FRAME_SP_KEPT = 32,   /* another register had it when it was loaded */
    GT_FRAME_DEFERRED = 64,  /* the top frame's: not recorded yet, see gt_stack_defer */
    GT_FRAME_RETURNED = 128, /* a signal handler's: the kernel is called next, to end it */
};

struct gt_track_frame {
    uint64_t ret;                   /* where it returns to; GT_NO_ADDR: not known */
    uint64_t addr;                  /* where it was entered: as recorded */
    const struct gt_track_func *fn; /* of addr */
    uint16_t kind;                  /* enum gt_track_frame_kind */
    uint16_t flags;                 /* enum gt_track_frame_flag */
    uint32_t level;                 /* of the code at addr: see gt_track_level_of */
};

/* A handler in a machine: see machine.h. */
struct gt_track_handler {
    uint32_t depth;         /* of its frame */
    uint64_t last_exit;     /* when it began: what it interrupted */
    uint64_t calls;         /* the vCPU's, when it began */
    uint64_t inside;        /* calls since then in handlers that interrupted it and have ended */
    struct gt_code *vector; /* NULL: the host reported it */
};

/* Functions that a program calls on other memory (switches.c): where the stack pointer was. */
struct gt_track_excursion {
    uint32_t depth; /* of the frame that calls */
    uint64_t sp;
};

enum { GT_TRACK_EXCURSIONS = 4 };

/* A call that a signal's handler has the interrupted code make (injected.h), which has not arrived.
 */
struct gt_track_injection {
    uint64_t pc;  /* where it is to arrive; 0: there is none */
    uint64_t ret; /* where it returns to */
    uint64_t at;  /* where the signal interrupted the code */
};

/* One that has arrived. */
struct gt_track_injected_call {
    uint32_t depth;     /* of its frame */
    uint64_t last_exit; /* of the interrupted transfer, where it has not arrived yet; else 0 */
};

/* One call stack: a guest thread's or a coroutine's. base[0] is a sentinel; depth = top - base. */
struct gt_stack {
    struct gt_track_frame *top, *base, *limit;
    void *out;          /* the sink's; NULL: not open (forked child) */
    uint64_t last_time; /* when it was suspended */
    uint64_t dropped;   /* pushes refused: deeper than GT_TRACK_MAX_DEPTH */
    /* Of a GT_FRAME_DEFERRED top frame: */
    uint64_t deferred_at; /* when it was entered */
    bool deferred_jump;   /* by a jump of `jumper`, whose end is not recorded yet */
    struct gt_track_frame jumper;
    bool ended;     /* in the tracker's list of those */
    bool coroutine; /* begun by a stack switch, not by a thread */
    bool cut;       /* calls below base[1] may be open that were not followed */
    uint32_t level; /* of the next frame: see gt_track_level_of */
    struct gt_track_thread
        *thread; /* that it belongs to: runs it, or comes back to it; NULL: suspended */
    struct gt_stack *next;
    uint64_t sp; /* the stack pointer when it was suspended; GT_NO_ADDR: not known */

    /* programs */
    uint64_t begin_sp; /* a coroutine's, when it began; 0: not known */
    uint64_t word; /* where its stack pointer was loaded from when it last began or continued; 0:
                      not known. It will be loaded from there again, wherever the stack is then */
    struct gt_track_excursion excursions[GT_TRACK_EXCURSIONS]; /* newest last */
    unsigned n_excursions;
    struct gt_track_injected_call
        *injected; /* innermost last; those that have ended are dropped later */
    size_t n_injected, cap_injected;

    /* machines */
    struct gt_track_handler *handlers; /* innermost last */
    size_t n_handlers, cap_handlers;
    struct gt_track_handler maybe; /* the newest signal handler, perhaps another; depth 0: none */
    uint64_t sp_before_load;       /* the one before its last load from where no context is known */
    uint64_t resumes;  /* where the context continues; 0: where its top frame returns to */
    uint32_t index;    /* in the newest checkpoint: see checkpoint.h */
    uint64_t vm;       /* the virtual machine's that it is of; 0: none: see guests.h */
    uint32_t prepared; /* 1 + the depth of the handler that prepared a guest; 0: none does */

    void
        *data; /* the sink's own: gt_track_sink.data_size bytes, zero at first, part of the stack */
};

#define GT_TRACK_MAX_DEPTH (1u << 20)

static inline uint32_t gt_stack_depth(const struct gt_stack *s)
{
    return (uint32_t)(s->top - s->base);
}

/* Privilege levels, where they are distinguished (level.c): a frame's `level` has its level and the
 * number of frames below it that are of other levels, so that its depth counts its own level's
 * only. Else 0. */
enum { GT_TRACK_LEVELS = 16, GT_LEVEL_SHIFT = 28, GT_LEVEL_BELOW = (1 << GT_LEVEL_SHIFT) - 1 };

static inline unsigned gt_track_level_of(uint32_t level)
{
    return level >> GT_LEVEL_SHIFT;
}

/* Returns a frame's depth among its level's; `depth`: frames below it, of any level. */
static inline uint32_t gt_track_level_depth(uint32_t depth, uint32_t level)
{
    return depth - (level & GT_LEVEL_BELOW);
}

enum gt_track_slow_flag {
    GT_SLOW_SWITCHED = 1, /* the stack pointer was loaded since the last transfer */
    GT_SLOW_SILENT = 4,   /* the sink has refused the stack so far: followed, not recorded */
    /* GT_CODE_LEVEL: the level of the code that runs */
    GT_SLOW_LONGJMP = 512,   /* machines: the next transfer may be that of a longjmp */
    GT_SLOW_INJECTED = 1024, /* the stack has calls that handlers made, or one is to arrive */
    GT_SLOW_DEFERRED = 2048, /* the stack may have a frame of GT_FRAME_DEFERRED on top */
    GT_SLOW_USER = 0xff0000, /* the user's own: they stay, and are not looked at here */
};

/* An exception that is being unwound: see unwind.c. Depths are of frames. */
struct gt_track_unwind {
    uint32_t start; /* the unwinder's frame; 0: no exception */
    uint64_t addr;  /* of that frame, to see that it is still there */
    uint32_t at;    /* the frame that was asked for last */
    uint64_t site;  /* where the personality routine returns to: distinguishes the passes */
    bool searching; /* first pass */
    bool asked;     /* in this call of the personality routine */
    uint32_t n_handlers, handler[16]; /* where first passes ended, innermost last */
};

/* A non-local jump under way: control continues at no frame's return address. */
struct gt_track_nonlocal {
    uint32_t n_restored; /* addresses loaded just before the stack pointer */
    uint64_t restored[16];
    uint64_t values[16]; /* programs: the words there */
    uint64_t word; /* programs: of those, where the stack pointer was loaded from; 0: not known */
    uint64_t left_sp; /* the stack pointer before the first load of it; 0: not known */
    uint64_t new_sp;  /* the one after the last load, or a little later; 0: not known */
    bool for_good;    /* out of a GT_FUNC_SET_CONTEXT function */
    struct gt_track_unwind unwind;
};

/* Bytes of a program's memory that searches read: see stack_memory.h. */
struct gt_track_search {
    uint64_t read; /* so far, beyond `near` of each transfer */
    uint64_t near; /* left to the present transfer */
    bool given_up; /* the present transfer needed more */
};

/* Registers of interrupted code. */
struct gt_track_signal_state {
    uint64_t pc, sp, link; /* link: of the return address */
};

struct gt_track_signal_entry {
    struct gt_stack *stack;
    uint32_t depth; /* of the handler's frame */
    bool confirmed; /* false: it may have been called like any function */
    bool switched;  /* the interrupted state: GT_SLOW_SWITCHED, then last exit, non-local jump */
    uint64_t last_exit;
    struct gt_track_injection injection; /* that was to arrive */
    struct gt_track_nonlocal nonlocal;
    uint64_t frame;                   /* the stack pointer where the handler began; 0: not known */
    struct gt_track_signal_state was; /* what memory had there then */
};

/* Where a context was saved, by the address of each word stored: see saved_contexts.c. */
struct gt_track_saved_context {
    uint64_t slot; /* guest address of the word; 0: free */
    struct gt_stack *stack;
    uint32_t depth; /* of the saving function's frame */
    uint64_t addr;  /* of that frame */
    uint64_t ret;   /* and where it returns to: there the context continues */
    uint64_t below; /* entry address of the frame below, to see that it is still there */
};

/* What a function has as its first argument that begins where a system call has ended. */
enum gt_track_passed {
    GT_PASSED_UNKNOWN = 0,
    GT_PASSED_ZERO,   /* a program begins so */
    GT_PASSED_SIGNAL, /* may be a signal's number */
    GT_PASSED_OTHER,
};

/* What the tracker keeps of one vCPU (user mode: one guest thread). */
struct gt_track_thread {
    struct gt_stack *stack;
    uint64_t calls, matched;
    uint32_t
        slow_flags; /* enum gt_track_slow_flag; level and user's alone: the hot path may decide */
    uint32_t busy;  /* the user's own: a callback of the thread is under way; atomic */
    struct gt_track *tracker;
    uint64_t counters[GT_COUNTERS];        /* by enum gt_track_counter */
    struct gt_track_signal_entry *signals; /* innermost last */
    size_t n_signals, cap_signals;
    uint64_t unrecorded; /* of the calls: deeper than is recorded, or on a stack without output */
    struct gt_track_nonlocal nonlocal;
    struct gt_track_injection injection;
    struct gt_track_search search; /* programs */
    /* machines; stack pointers: 0: not known */
    uint64_t calls_before; /* its last reset */
    uint8_t
        passed; /* enum gt_track_passed: in the first argument's register by the last system call */
    uint64_t calling_sp;  /* at the last system call */
    uint64_t returned_sp; /* after the last exception return that ended no handler */
    struct gt_track_saved_context reloaded; /* its own, that the stack pointer was loaded from */
    struct gt_track_guest_vcpu
        *guest; /* the virtual machine's vCPU that it runs; NULL: none: see guests.h */
};

#define GT_TRACK_SAVED_CONTEXTS 16384u /* words, see saved_contexts.c: a power of two */

/* What the tracker asks of a running program; `self` is that of gt_track_init. */
struct gt_track_program_view {
    /* The stack pointer where control has arrived; 0: not known. In gt_track_slow. */
    uint64_t (*stack_pointer)(void *self);
    bool (*read)(void *self, uint64_t addr, void *out, size_t n);
    size_t word;                                /* bytes of an address: 4 or 8 */
    unsigned signal_pc, signal_sp, signal_link; /* see gt_arch */
    bool by_memory; /* calls store the return address in memory, not in a register */
};

struct gt_track {
    const struct gt_track_sink *sink;
    void *sink_self;
    const struct gt_track_program_view *view; /* set after init; NULL: nothing can be asked */
    uint32_t max_depth; /* frames at this depth and deeper are tracked, not recorded */
    bool tail_calls;
    /* Set after init: see machine.h. One block may run there at several virtual addresses, which
     * differ by whole pages; its pc is the one that it was first seen at. */
    bool machine;
    uint64_t lowest;      /* set after init: below it, exception returns are also used as jumps */
    bool one_output;      /* set after init: all stacks of a vCPU share one output */
    bool unfollowed;      /* set while no thread makes transfers: see unfollowed.h */
    uint64_t again;       /* open calls that were recorded once more, beside the threads' calls;
                             atomic */
    pthread_mutex_t lock; /* for the members below */
    struct gt_stack *stacks; /* all that have not ended */
    struct gt_stack *ended;  /* ended ones for the next coroutine, their `out` still open */
    uint32_t n_stacks;       /* stacks created so far */
    uint32_t keep_stacks;    /* set after init: number of stacks from which ended ones are reused */
    struct gt_track_saved_context *saved_contexts; /* GT_TRACK_SAVED_CONTEXTS of them */
    struct gt_track_fork_snapshot *fork_snapshots; /* of fork_snapshot.c; NULL: none yet */
    uint64_t n_fork_snapshots;                     /* snapshots taken so far */
    struct gt_track_guest_vcpu *guests;            /* of guests.c; NULL: none was entered */
};

/* sink must outlive the tracker. False: no memory. */
bool gt_track_init(struct gt_track *k, const struct gt_track_sink *sink, void *self,
                   uint32_t max_depth, bool tail_calls);
/* Frees all; nothing is recorded. */
void gt_track_finish(struct gt_track *k);

/* Opens the thread's stack in the sink. False: no memory, or the sink refused. */
bool gt_track_thread_init(struct gt_track_thread *t, struct gt_track *k, uint64_t time);
/* Closes the thread's frames and its stack. The counters stay readable. */
void gt_track_thread_finish(struct gt_track_thread *t, uint64_t time);
/* Closes the frames of every stack that no thread runs. */
void gt_track_close_suspended(struct gt_track *k, uint64_t time);

/* In a forked child, on its only thread: everything the parent recorded is the parent's; the
 * current stack's frames are entered again into an output of the child's own. */
void gt_track_forked(struct gt_track_thread *t, uint64_t time);

/* Before execve: frames are closed (it may succeed); if it failed, entered again. */
void gt_track_exec(struct gt_track_thread *t, uint64_t time);
void gt_track_exec_failed(struct gt_track_thread *t, uint64_t time);

/* Slow path: a transfer that gt_track_transfer does not decide. Returns the new last exit. */
uint64_t gt_track_slow(struct gt_track_thread *t, struct gt_code *code, uint64_t last_exit,
                       uint64_t time);

/* The handler of a signal returned (rt_sigreturn). Returns the last exit that was interrupted. */
uint64_t gt_track_sigreturn(struct gt_track_thread *t, uint64_t last_exit, uint64_t time);

/* A saving function stored a word at the address; a word was loaded from the address just before
 * the stack pointer was; the stack pointer is loaded, it was left_sp (0: not known). */
void gt_track_saved(struct gt_track_thread *t, uint64_t addr);
void gt_track_restored(struct gt_track_thread *t, uint64_t addr);
/* The same of a program; `value`: the word. */
void gt_track_restored_word(struct gt_track_thread *t, uint64_t addr, uint64_t value);
/* A function of GT_FUNC_GET_IP loaded the word `ip`. */
void gt_track_get_ip(struct gt_track_thread *t, uint64_t ip);
/* Code of another privilege level runs from now on; also before gt_track_thread_init. */
void gt_track_set_level(struct gt_track_thread *t, unsigned level, uint64_t time);
/* The thread continues with the stack `s`, or a new one if that is NULL, whose frames are of other
 * levels. The stack that it leaves still belongs to the thread, with its frames open: no other
 * thread continues with it. */
void gt_track_go_on(struct gt_track_thread *t, struct gt_stack *s, uint64_t time);
/* Closes the current level's frames on top of the stack, after all others. */
void gt_track_end_level(struct gt_track_thread *t, uint64_t time);
/* Closes the frames of a stack that the thread has left by gt_track_go_on. */
void gt_track_end_other(struct gt_track_thread *t, struct gt_stack *s, uint64_t time);
static inline unsigned gt_track_level(const struct gt_track_thread *t)
{
    return (t->slow_flags & GT_CODE_LEVEL) >> GT_CODE_LEVEL_SHIFT;
}
static inline unsigned gt_code_level(const struct gt_code *code)
{
    return code->slow_flags >> GT_CODE_LEVEL_SHIFT;
}
static inline void gt_track_switched(struct gt_track_thread *t, uint64_t left_sp)
{
    if (!(t->slow_flags & GT_SLOW_SWITCHED))
        t->nonlocal.left_sp = left_sp;
    t->nonlocal.new_sp = 0;
    t->slow_flags |= GT_SLOW_SWITCHED;
}

#endif
