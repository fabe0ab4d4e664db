/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading what the simple backend wrote, QEMU's or ours: the declarations of the events, from a
 * trace-events file, and the records of a trace, which come as values of the declared arguments.
 *
 *     gt_trace_declarations_read(&events, "trace-events-all", &err);
 *     gt_trace_reader_open(&reader, "trace-1234", events, NULL, &err);
 *     gt_trace_reader_on(reader, "blk_co_p*", take_request, &self, &err);
 *     gt_trace_reader_run(reader, &err);
 *
 * Either byte order is read. A declarations object may serve several readers, in several threads;
 * a reader belongs to one thread at a time.
 */
#ifndef GUESTTRACE_SIMPLETRACE_H
#define GUESTTRACE_SIMPLETRACE_H

#include <guesttrace/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GT_TRACE_ARGUMENTS_MAX = 10, /* that can be declared */
    GT_TRACE_VALUES_MAX = 11,    /* those and the vCPU of events that have one */
};

enum gt_trace_kind {
    GT_TRACE_UNSIGNED,
    GT_TRACE_SIGNED, /* values are extended to 64 bits */
    GT_TRACE_BOOL,
    GT_TRACE_POINTER,
    GT_TRACE_STRING,
};

struct gt_trace_argument {
    const char *type, *name; /* as declared */
    enum gt_trace_kind kind;
};

struct gt_trace_declaration {
    const char *name;
    size_t index;  /* in its declarations, from 0 */
    unsigned line; /* of the file; 0: Dropped_Event */
    bool disabled; /* has the property "disable" */
    bool vcpu;     /* has the property "vcpu": see gt_trace_record */
    unsigned n_arguments;
    const struct gt_trace_argument *arguments;
};

struct gt_trace_declarations;

/* Reads a trace-events file of any version of QEMU, or of our tracetool. An event with the property
 * "tcg" counts as its two, NAME_trans and NAME_exec. GT_TRACE_E_IO, GT_TRACE_E_NOT_FOUND,
 * GT_TRACE_E_NOMEM; GT_TRACE_E_FORMAT: the message has the first error and its line. */
int gt_trace_declarations_read(struct gt_trace_declarations **out, const char *path,
                               struct gt_trace_error *err);
/* The same from a text in memory; `name` is for messages. */
int gt_trace_declarations_parse(struct gt_trace_declarations **out, const char *name,
                                const char *text, size_t size, struct gt_trace_error *err);
/* NULL is fine. The records' declarations go with it. */
void gt_trace_declarations_free(struct gt_trace_declarations *d);
size_t gt_trace_declarations_count(const struct gt_trace_declarations *d);
/* In the order of the file; Dropped_Event at the count, NULL behind it. */
const struct gt_trace_declaration *gt_trace_declarations_at(const struct gt_trace_declarations *d,
                                                            size_t index);
/* NULL where there is none of that name. */
const struct gt_trace_declaration *gt_trace_declarations_find(const struct gt_trace_declarations *d,
                                                              const char *name);

struct gt_trace_value {
    uint64_t number;  /* strings: how many bytes */
    const char *text; /* strings: the bytes, not terminated, any but NUL; otherwise NULL */
};

/* Valid until the next record is asked for. */
struct gt_trace_record {
    /* Where the writer lost records the event is Dropped_Event(uint64_t num_events_dropped), whose
     * line is 0, and whose index is the count of its declarations. */
    const struct gt_trace_declaration *event;
    uint64_t timestamp; /* ns, of CLOCK_MONOTONIC with QEMU's writer and ours */
    uint64_t offset;    /* in the file */
    uint64_t tid;       /* 0: not recorded */
    uint32_t pid;
    /* Those of the declaration; with the property "vcpu", where the writer put the vCPU before them
     * (QEMU up to 7.2 did), one more: "__cpu", the first. */
    unsigned n_values;
    const struct gt_trace_argument *arguments;
    const struct gt_trace_value *values;
};

struct gt_trace_reader;

struct gt_trace_reader_options {
    /* The stream has neither file header nor mappings, as SystemTap scripts write it: ids are the
     * events' places in the declarations. */
    bool no_header;
    /* Called before a read that may wait for the writer of a pipe. */
    void (*before_wait)(void *self);
    void *self;
};

/* Opens a trace; "-" is standard input. `d` must outlive the reader; `options` may be NULL.
 * GT_TRACE_E_IO, GT_TRACE_E_NOT_FOUND, GT_TRACE_E_NOMEM, GT_TRACE_E_TRUNC or GT_TRACE_E_FORMAT (no
 * simpletrace file), GT_TRACE_E_UNSUPPORTED (another version). */
int gt_trace_reader_open(struct gt_trace_reader **out, const char *path,
                         const struct gt_trace_declarations *d,
                         const struct gt_trace_reader_options *options, struct gt_trace_error *err);
void gt_trace_reader_close(struct gt_trace_reader *r);

/* The next record: 1; 0 at the end. A record that cannot be shown is passed over: GT_TRACE_E_RANGE
 * (its id has no name, its event is not declared, or its payload is not what is declared), and the
 * next call goes on behind it. Each such cause is told once an id; gt_trace_reader_skipped counts.
 * GT_TRACE_E_TRUNC (the file ends within a record), GT_TRACE_E_FORMAT (no way to go on),
 * GT_TRACE_E_IO and GT_TRACE_E_NOMEM are final: the next call returns 0. */
int gt_trace_reader_next(struct gt_trace_reader *r, const struct gt_trace_record **record,
                         struct gt_trace_error *err);

/* How many records were passed over. */
uint64_t gt_trace_reader_skipped(const struct gt_trace_reader *r);

/* 0 goes on; anything else ends gt_trace_reader_run, which returns it. */
typedef int (*gt_trace_callback)(void *self, const struct gt_trace_record *record);

/* Has `callback` called with each record whose event's name matches the pattern (* and ?). Several
 * may match; they are called in the order in which they were given. Dropped_Event is a name like
 * others. GT_TRACE_E_NOT_FOUND: no declared event matches. GT_TRACE_E_NOMEM. */
int gt_trace_reader_on(struct gt_trace_reader *r, const char *pattern, gt_trace_callback callback,
                       void *self, struct gt_trace_error *err);

/* Calls the callbacks until the end. Records that cannot be shown are passed over. 0, what a
 * callback returned, or the first error, after all that could be read was. */
int gt_trace_reader_run(struct gt_trace_reader *r, struct gt_trace_error *err);

#ifdef __cplusplus
}
#endif

#endif
