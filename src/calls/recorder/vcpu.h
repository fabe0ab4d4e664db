/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU as all rooms see it: the words that translated code works on, and its state.
 *
 * A struct gt_vcpu belongs to its vCPU's thread, while that has entered it (gt_vcpu_enter); other
 * threads may set bits of thread.slow_flags. At the end of the recording no thread enters it any
 * more, and it belongs to the thread that ends the recording.
 */
#ifndef GT_CALLS_RECORDER_VCPU_H
#define GT_CALLS_RECORDER_VCPU_H

#include "base/stream/stream.h"
#include "calls/recorder/task.h"
#include "recording/texts/guest_tasks.h"
#include "track/track.h"

struct gt_recorder;
struct gt_select_levels;
struct gt_recorder_argument_slots;
struct gt_run_system_call;

enum {
    GT_MAX_VCPUS = 65536,
    GT_MAX_VCPUS_LIMITED = 1024, /* where address space is limited (RLIMIT_AS) */
};

/* Words of a vCPU that translated code works on: its entry of the scoreboard, if the host has one.
 */
struct gt_recorder_score {
    uint64_t last_exit; /* how control left the last block: track/track.h */
    uint64_t insns;     /* retired before the current block */
};

/* The recorder's bits of gt_track_thread.slow_flags: with any of them no transfer is plain, but
 * with the clock, which it reads first. */
enum gt_vcpu_flag {
    GT_VCPU_CLOCK = 0x10000,  /* times are the host's clock */
    GT_VCPU_VALUES = 0x20000, /* values wait for the next transfer */
    GT_VCPU_ASKS = 0x40000, /* filters decide on each call; or a level that it runs at is refused */
    GT_VCPU_IDLE = 0x80000, /* it has not begun, or is not recorded: there is no stack */
};
_Static_assert(((GT_VCPU_CLOCK | GT_VCPU_VALUES | GT_VCPU_ASKS | GT_VCPU_IDLE) & ~GT_SLOW_USER) ==
                   0,
               "the tracker leaves them alone");

/* Control arrives at a block: the state that is passed along while that is recorded. */
struct gt_recorder_transfer {
    struct gt_vcpu *vcpu;
    struct gt_code *code;
    uint64_t last_exit; /* how control left the block before */
    uint64_t time;
    struct gt_recorder_argument_slots *values; /* that wait for it; NULL: none */
};

struct gt_vcpu {
    struct gt_recorder_score own;    /* hosts without a scoreboard: the words themselves */
    uint64_t insn_base;              /* instruction clock: time = base + retired */
    struct gt_recorder_score *score; /* for callbacks from code; NULL: the host may have moved it */
    struct gt_track_thread thread;   /* the hot path needs its first members, and those above */
    uint32_t block_insns;            /* without a scoreboard: instructions of the block that runs */
    uint32_t tid;            /* user mode: the thread's; machines: recording/texts/tasks.h */
    struct gt_stream *out;   /* tasks=cpu: the output of the stack that it runs; NULL: not open */
    struct gt_recorder *rec; /* its recorder; NULL: QEMU has not announced it yet */
    bool begun;              /* its calls are recorded */
    bool refused;            /* it could not begin: not recorded */
    char name[16];           /* user mode: the thread's name as it was recorded last */
    char last_name[16];      /* user mode: its name when the program was about to exit */
    struct gt_recorder_argument_slots *arguments; /* NULL: no values were read */
    const struct gt_recorder_transfer *transfer;  /* under way, for which values wait; NULL: none */
    struct gt_select_levels *levels;              /* NULL: privilege levels are not distinguished */
    uint64_t left_sp; /* the stack pointer before a load of it; programs, where it is not read: 0:
                         not known */
    bool loads_sp;    /* machines: an instruction that loads it is about to run */
    const struct gt_stack *seen; /* machines: the stack that ran at the last transfer */
    const struct gt_stack *left; /* machines: the stack that a thread switch leaves; NULL: no switch
                                  * is under way */
    struct gt_recording_guest_task next; /* the thread that this switch goes to */
    uint64_t mapping;  /* bytes that an mmap under way maps; 0: no mmap is under way */
    bool maps_anon;    /* that mmap has no file */
    bool in_exec;      /* its frames were closed for an execve that has not failed yet */
    bool exec_outside; /* which is QEMU's own call, and counted so */
    bool exits;        /* it has called exit, not exit_group: with this status */
    int exit_status;
    bool in_fork;                    /* gt_recorder_users_before_fork was called */
    bool in_syscall;                 /* user mode */
    bool clones;                     /* it is creating a thread that has not begun */
    uint64_t clone_time;             /* since then; the instruction clock */
    struct gt_run_system_call *call; /* that is recorded and has not returned; NULL: none */
    bool halted;     /* while the recorder sleeps: it is in the system call that it was in before */
    bool lends_root; /* around a fork, to the child's threads (base/root.h) */
    int lent_root;   /* that descriptor */
    bool met;        /* it had run when the recorder woke up, and was not begun */
    unsigned resets; /* of the machine: those that it has begun anew after */
} __attribute__((aligned(64)));

/* The vCPU that the stack belongs to; NULL: it is suspended. */
static inline struct gt_vcpu *gt_vcpu_of_stack(const struct gt_stack *s)
{
    return s->thread ? (struct gt_vcpu *)((char *)s->thread - offsetof(struct gt_vcpu, thread))
                     : NULL;
}

/* All vCPUs. With the lock, unless noted. */
struct gt_vcpus {
    unsigned n;         /* 1 + highest index seen; atomic */
    uint64_t last_time; /* the newest time that was noted */
};

/* True where the last exit is that of a block which ended in `exit`. */
static inline bool gt_recorder_last_exit_is_of(uint64_t last_exit, enum gt_code_exit exit)
{
    return last_exit & GT_LAST_EXIT_CODE && gt_track_last_exit_code(last_exit)->exit == exit;
}

#endif
