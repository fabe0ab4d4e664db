/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads traces of the simple backend, QEMU's or ours: the declarations of the events, from a
 * trace-events file, and the records of a trace, as values of the declared arguments.
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
    GT_TRACE_ARGUMENTS_MAX = 10, /* arguments that an event can declare */
    GT_TRACE_VALUES_MAX = 11,    /* values of a record: the arguments and the vCPU */
};

enum gt_trace_kind {
    GT_TRACE_UNSIGNED,
    GT_TRACE_SIGNED, /* values are extended to 64 bits */
    GT_TRACE_BOOL,
    GT_TRACE_POINTER,
    GT_TRACE_STRING,
};

struct gt_trace_argument {
    const char *type, *name; /* as in the declaration */
    enum gt_trace_kind kind;
};

struct gt_trace_declaration {
    const char *name;
    size_t index;  /* index in its declarations, from 0 */
    unsigned line; /* line of the file; 0: Dropped_Event */
    bool disabled; /* has the property "disable" */
    bool vcpu;     /* has the property "vcpu": see gt_trace_record */
    unsigned n_arguments;
    const struct gt_trace_argument *arguments;
};

struct gt_trace_declarations;

/* Reads a trace-events file of any version of QEMU, or of our tracetool. An event with the property
 * "tcg" counts as two, NAME_trans and NAME_exec. GT_TRACE_E_IO, GT_TRACE_E_NOT_FOUND,
 * GT_TRACE_E_NOMEM; GT_TRACE_E_FORMAT: the message has the first error and its line. */
int gt_trace_declarations_read(struct gt_trace_declarations **out, const char *path,
                               struct gt_trace_error *err);
/* The same from a text in memory; `name` is for messages. */
int gt_trace_declarations_parse(struct gt_trace_declarations **out, const char *name,
                                const char *text, size_t size, struct gt_trace_error *err);
/* Frees the declarations, also those that records point to. NULL is fine. */
void gt_trace_declarations_free(struct gt_trace_declarations *d);
size_t gt_trace_declarations_count(const struct gt_trace_declarations *d);
/* Returns declarations in the order of the file; Dropped_Event at the index `count`, NULL after it.
 *
 */
const struct gt_trace_declaration *gt_trace_declarations_at(const struct gt_trace_declarations *d,
                                                            size_t index);
/* NULL: there is no event of that name. */
const struct gt_trace_declaration *gt_trace_declarations_find(const struct gt_trace_declarations *d,
                                                              const char *name);

struct gt_trace_value {
    uint64_t number;  /* strings: the number of bytes */
    const char *text; /* strings: the bytes, not terminated, any but NUL; otherwise NULL */
};

/* A record, valid until the next one is read. */
struct gt_trace_record {
    /* If the writer lost records here, the event is Dropped_Event(uint64_t num_events_dropped),
     * with line 0 and the count of declarations as index. */
    const struct gt_trace_declaration *event;
    uint64_t timestamp; /* ns, of CLOCK_MONOTONIC with QEMU's writer and ours */
    uint64_t offset;    /* offset in the file */
    uint64_t tid;       /* 0: not recorded */
    uint32_t pid;
    /* The declared arguments; for an event with the property "vcpu" whose writer stored the vCPU
     * before them (as QEMU up to 7.2), there is one more: "__cpu", the first. */
    unsigned n_values;
    const struct gt_trace_argument *arguments;
    const struct gt_trace_value *values;
};

struct gt_trace_reader;

struct gt_trace_reader_options {
    /* The stream has neither file header nor mappings, as written by SystemTap scripts: ids are
     * indexes of the declarations. */
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

/* Reads the next record: 1, or 0 at the end. GT_TRACE_E_RANGE: a record cannot be decoded (its id
 * has no name, its event is not declared, or its payload does not match the declaration); it is
 * skipped, and the next call continues after it. Each such cause is reported once for each id;
 * gt_trace_reader_skipped counts all. GT_TRACE_E_TRUNC (the file ends within a record),
 * GT_TRACE_E_FORMAT (the next record cannot be found), GT_TRACE_E_IO and GT_TRACE_E_NOMEM are
 * final: the next call returns 0. */
int gt_trace_reader_next(struct gt_trace_reader *r, const struct gt_trace_record **record,
                         struct gt_trace_error *err);

/* Returns the number of skipped records. */
uint64_t gt_trace_reader_skipped(const struct gt_trace_reader *r);

/* Returns 0 to continue; any other value ends gt_trace_reader_run, which returns it. */
typedef int (*gt_trace_callback)(void *self, const struct gt_trace_record *record);

/* Registers `callback` for the records whose event's name matches the pattern (* and ?). All
 * matching callbacks of a record are called, in the order of registration. Dropped_Event is a name
 * like others. GT_TRACE_E_NOT_FOUND: no declared event matches. GT_TRACE_E_NOMEM. */
int gt_trace_reader_on(struct gt_trace_reader *r, const char *pattern, gt_trace_callback callback,
                       void *self, struct gt_trace_error *err);

/* Calls the callbacks for all records; records that cannot be decoded are skipped. Returns 0, the
 * value of a callback, or the first error, after all readable records. */
int gt_trace_reader_run(struct gt_trace_reader *r, struct gt_trace_error *err);

#ifdef __cplusplus
}
#endif

#endif
