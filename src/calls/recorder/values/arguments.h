/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments and return values of calls: which functions have them, the reads at their first and
 * return instructions, and which call it belongs to.
 *
 * A function's values are decided when its code is first translated, before its first record, and
 * stay. At its entry a callback with registers reads its arguments and makes the transfer slow: the
 * sink takes them for the frame that this transfer enters at the function's address. At its return
 * instruction another one reads the result, which is taken if the next transfer is that return, to
 * the return address of a frame of this function. Any other transfer (a signal, an interrupt, a
 * longjmp, an exception) drops the values: a value is of the call it stands at, or absent. A
 * function that ended by a tail call has its frame open until the other one returns
 * (track/tail_calls.h): the results of all of them are read where that return arrives.
 */
#ifndef GT_CALLS_RECORDER_VALUES_ARGUMENTS_H
#define GT_CALLS_RECORDER_VALUES_ARGUMENTS_H

#include "guest/abi/abi.h"
#include "qemu/host.h"
#include "qemu/support/pages.h"
#include "recording/values/payload.h"
#include "track/track.h"

#include <glib.h>

struct gt_recorder;
struct gt_support_module;
struct gt_recorder_transfer;
struct gt_vcpu;
struct gt_support_arg;

/* A register by its name. With SVE, QEMU has aarch64's z0 in place of v0; v0 is its first bytes. */
struct gt_recorder_argument_register {
    struct gt_host_register own, wide;
    const char *wide_name; /* NULL: there is none */
};

/* A function that has values. Lives as long as the recorder. */
struct gt_recorder_argument_function {
    const struct gt_track_func *fn;
    const struct gt_support_module *module;
    const char *name;
    struct gt_value_spec spec;
    struct gt_recorder_argument_register *(
        *reg)[GT_VALUE_PIECES]; /* of each item's pieces; NULL: on the stack */
};

/* The data of a callback: a block that enters the function, or the one that ends in its return. */
struct gt_recorder_argument_point {
    struct gt_code *code;
    const struct gt_recorder_argument_function *of;
    uint64_t insns; /* for the clock; 0: the block counts them itself */
};

/* Values that were read and wait for their record. */
struct gt_recorder_argument_slot {
    const struct gt_code *code; /* NULL: none wait. Of the entry, or the return */
    const struct gt_recorder_argument_function *of;
    size_t n;
    uint64_t words[GT_VALUES_BYTES / 8]; /* as they are stored */
};

/* Of a vCPU. */
struct gt_recorder_argument_slots {
    struct gt_recorder_argument_slot entry, result;
    struct gt_recorder_argument_slot *tail; /* of frames that a tail call's return ends, from the
                                             * top down: GT_TAIL_MOST + 1; NULL: none were read */
    uint32_t tail_top;                      /* the depth of the first of them; 0: none wait */
    bool matches; /* the transfer that is under way is the return that `result` is of */
};

enum { GT_ARGUMENT_OPTIONS = 3 };

struct gt_recorder_argument_reading {
    /* at load */
    const char *file; /* of values; NULL: none */
    GPtrArray *rules; /* struct rule */
    bool on;          /* some function may have values */
    bool in_code;     /* one of the guest's code, not only system calls */
    struct gt_values values;
    const struct gt_abi *abi;
    /* with r->lock */
    GHashTable *functions; /* struct gt_track_func -> struct gt_recorder_argument_function; NULL: it
                              has none */
    GHashTable *registers; /* name -> struct gt_recorder_argument_register */
    GPtrArray *used;       /* those that have values */
    struct gt_support_arena arena; /* names */
    guint next_write;              /* the files are written at this length of `used` */
};

/* At load: rows of the plugin's arguments; how many there are. */
size_t gt_recorder_arguments_options(struct gt_recorder_argument_reading *a,
                                     struct gt_support_arg *table);
/* At load, after the filters were made, whose triggers may ask for values. GT_E_USAGE,
 * GT_E_UNSUPPORTED, errors of gt_values_read. */
int gt_recorder_arguments_init(struct gt_recorder *r, struct gt_error *err);

/* The function's values; NULL: it has none. With r->lock, at translation. */
const struct gt_recorder_argument_function *
gt_recorder_arguments_of(struct gt_recorder *r, const struct gt_support_module *module,
                         const struct gt_track_func *fn);
/* A callback's data. With r->lock. */
struct gt_recorder_argument_point *
gt_recorder_argument_point_new(struct gt_code *code, const struct gt_recorder_argument_function *of,
                               uint64_t insns);

/* In a callback that may read registers: the function's arguments, for this thread's next
 * transfer; gt_recorder_arguments_drop is called after it. */
void gt_recorder_arguments_read(struct gt_vcpu *v, const struct gt_recorder_argument_point *p);
void gt_recorder_arguments_drop(struct gt_vcpu *v);
/* The same of a return instruction: the function's result. */
void gt_recorder_arguments_read_result(struct gt_vcpu *v,
                                       const struct gt_recorder_argument_point *p);

/* Before a part that has no code begins or ends (system_calls.h): values that the host has given,
 * of which the function's registers are "arg1" to "arg8" and "result"; gt_recorder_arguments_after
 * is called after it. */
void gt_recorder_arguments_give(struct gt_recorder_transfer *t,
                                const struct gt_recorder_argument_function *of,
                                const uint64_t *given, bool result);

/* Before a slow transfer, whose `values` become those that wait for it, and after it. */
void gt_recorder_arguments_before(struct gt_recorder_transfer *t);
void gt_recorder_arguments_after(struct gt_recorder_transfer *t);

/* For the sink: the values of the frame that is entered, or left, in the transfer under way; NULL:
 * none. */
const struct gt_recorder_argument_slot *gt_recorder_arguments_entering(const struct gt_stack *s,
                                                                       uint64_t addr);
const struct gt_recorder_argument_slot *gt_recorder_arguments_leaving(const struct gt_stack *s,
                                                                      uint64_t addr);
/* The same after a plain return, which has closed the frame. */
const struct gt_recorder_argument_slot *
gt_recorder_arguments_returned(const struct gt_recorder_transfer *t, uint64_t addr);

/* Memory of a guest process (user mode): reads n bytes at the guest's address, which need not be
 * mapped: false then. */
bool gt_recorder_guest_read(const struct gt_recorder *r, uint64_t addr, void *out, size_t n);

/* Reads the function's arguments, or its result, as they are stored; `given`: what registers have,
 * by the host's word, as for gt_recorder_arguments_give; NULL: the host's registers. */
void gt_recorder_arguments_read_values(struct gt_recorder *r, const struct gt_code *code,
                                       const struct gt_recorder_argument_function *of, bool result,
                                       const uint64_t *given,
                                       struct gt_recorder_argument_slot *slot);

/* A value of a call of the function, as a reader will have it; `words` are its arguments' or
 * result's, as they are stored. False: it has none of that name. */
bool gt_recorder_arguments_value(const struct gt_recorder *r,
                                 const struct gt_recorder_argument_function *of,
                                 const uint64_t *words, size_t n,
                                 const struct gt_base_call_value_name *name,
                                 struct gt_base_call_value *out);

/* Writes the debug files of modules with values, and GT_VALUES_FILE. On the worker. */
int gt_recorder_arguments_write(struct gt_recorder *r, struct gt_error *err);

#endif
