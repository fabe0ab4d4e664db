/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest events: places in the guest's code at which trace events are recorded, through the backends
 * of the events library. One value, `struct gt_points`, of the loaded plugin.
 *
 *   events.c    arguments, installation
 *   place.c     where an event is: at=PLACE, and where its values are
 *   known.c     which events have a place
 *   code.c      translation: instructions at such places are instrumented
 *   emit.c      an event: values and the task are read, and sent to the backends
 *   console.c   events at texts of a machine's console
 *   states.c    events that are switched on and off
 *   finish.c    system calls, fork, the end
 *
 * The code at a place tests a word of a scoreboard, which has one for each event, and calls only if
 * it is not 0. So an event that is off costs that test, and all other code nothing. The registry
 * of the events library changes the words (states.h).
 *
 * Locks, in the order in which they are taken: `lock`, the registry's, `states.lock`.
 */
#ifndef GT_EVENTS_PLUGIN_RECORDER_H
#define GT_EVENTS_PLUGIN_RECORDER_H

#include "events/library/dynamic/dynamic.h"
#include "events/plugin/states.h"
#include "filter/pattern.h"
#include "guest/abi/abi.h"
#include "guest/arch/arch.h"
#include "qemu/host.h"
#include "qemu/support/gate.h"
#include "qemu/support/messages.h"
#include "qemu/support/modules.h"

#include <glib.h>
#include <pthread.h>

enum gt_point_kind {
    GT_POINT_ENTRY,   /* the first instruction of a function */
    GT_POINT_RETURN,  /* its return instructions */
    GT_POINT_INSIDE,  /* an instruction of it: arguments are registers */
    GT_POINT_ADDRESS, /* an instruction: the same */
    GT_POINT_CONSOLE, /* a text of the console; an argument is its line */
};

/* A part of an argument. */
struct gt_point_piece {
    struct gt_host_register *reg; /* NULL: on the stack */
    const char *name;
    int32_t offset; /* byte of the register; from the stack pointer */
    uint8_t size;
};

struct gt_point_value {
    uint8_t n; /* 0: it is not known where it is */
    struct gt_point_piece piece[2];
};

struct gt_point {
    struct gt_events_dynamic_event *event;
    size_t index; /* of its word in the scoreboard */
    enum gt_point_kind kind;
    struct gt_filter_pattern *pattern; /* of the function; NULL: ADDRESS, CONSOLE */
    const char *name;                  /* of the function */
    uint64_t address;                  /* ADDRESS; INSIDE: from the function's beginning */
    struct gt_point_value value[GT_TRACE_ARGUMENTS_MAX];
    bool in_kernel; /* it is in the upper half of the addresses; atomic */
};

struct gt_points_options {
    const char *file, *code_map, *abi, *log;
    const char *events;  /* a file that says which are on at the start */
    const char *console; /* path of a FIFO: whoever has started QEMU sends events at its texts */
    GPtrArray *settings; /* "name=value" of the events library */
    bool backends;       /* some were given */
    bool tasks, follow_exec;
};

struct gt_points_task {
    const struct gt_recording_code_linux *layout; /* NULL: no tasks are known */
    struct gt_host_register current;
};

/* One a vCPU, GT_POINTS_MAX_VCPUS: an event of it is being sent. */
struct gt_points_busy {
    uint32_t word;
} __attribute__((aligned(64)));

struct gt_points {
    struct gt_points_options options;
    /* constant from installation on */
    struct gt_host_info host;
    bool user;
    const struct gt_arch *arch;
    const struct gt_abi *abi;
    const struct gt_arch_syscalls *syscalls; /* NULL: a machine, or an unknown target */
    struct gt_events_dynamic_events events;
    struct gt_point *point; /* one an event */
    bool *placed;           /* of each: its place is known to exist; children share it. Atomic */
    pid_t pid;              /* the process that was loaded */
    GHashTable *names;      /* a function's name -> GPtrArray of struct gt_point */
    GHashTable *addresses;  /* uint64_t -> the same */
    GHashTable *registers;  /* name -> struct gt_host_register */
    struct gt_points_states states;
    struct gt_points_task task;
    struct gt_support_messages messages;
    struct gt_thread_worker *worker; /* opens the guest's files; user mode: writes text */

    struct gt_gate gate; /* events of vCPUs: it ends with the recording */
    struct gt_points_busy *busy;

    pthread_mutex_t lock; /* of what follows */
    struct gt_support_modules modules;
    GHashTable
        *functions;   /* struct gt_track_func -> GPtrArray of struct gt_point; NULL: it has none */
    bool log_is_open; /* user mode: on the worker, in this process; of the worker */
};

extern struct gt_points gt_points_of_plugin;
static inline struct gt_points *gt_points_loaded(void)
{
    return &gt_points_of_plugin;
}

/* place.c: finds out where events and their values are. GT_E_USAGE, GT_E_UNSUPPORTED: err has the
 * file and the line. */
int gt_points_place(struct gt_points *p, struct gt_error *err);

/* code.c: the host's event. */
void gt_points_on_translate(void *self, struct gt_host_block *block);

/* known.c: the event has a place. */
void gt_points_know(struct gt_points *p, const struct gt_point *point);
/* Those in a new module of a program: the callback of gt_support_modules; in a machine's code
 * map. */
void gt_points_on_module(void *self, struct gt_support_module *m);
void gt_points_know_map(struct gt_points *p);
/* Reports the events without a place. With the lock. */
void gt_points_report(const struct gt_points *p);

/* emit.c: a callback; data: a struct gt_point. */
void gt_points_on_event(unsigned vcpu, void *data);
/* Sends an event to the backends `on` (enum gt_trace_backend). Any thread. */
void gt_points_send(struct gt_points *p, unsigned on, const struct gt_events_dynamic_event *e,
                    const struct gt_trace_value *value,
                    const struct gt_events_dynamic_source *source);

/* console.c: at load, when nothing can fail any more; at the end. */
void gt_points_console_start(struct gt_points *p);
void gt_points_console_end(struct gt_points *p);

/* emit.c: at load, when the code map was read; the task of the kernel's code that runs on the
 * calling vCPU. False: not known. */
void gt_points_task_init(struct gt_points *p);
bool gt_points_task_read(struct gt_points *p, struct gt_events_dynamic_source *out);

/* finish.c: the host's events. */
void gt_points_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_points_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);
void gt_points_on_exit(void *self);
void gt_points_on_abnormal_exit(int sig);
/* User mode. GT_E_IO. */
int gt_points_watch_forks(struct gt_error *err);

#endif
