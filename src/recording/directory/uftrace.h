/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a uftrace data directory, readers and writers: records (TID.dat), info, task.txt,
 * sid-SID.map, NAME.sym, NAME.dbg. These are codecs of bytes and text in memory; dir.h does the
 * file I/O. Writers produce only what uftrace 0.13 to 0.19 can read: they convert names and paths
 * as described at each function, and refuse what cannot be converted.
 *
 * Parsers take one text or one line, check everything, and report the line (or offset), the value
 * and the expected form in *err, which may be NULL. Strings in a result belong to the object that
 * its _free function releases.
 */
#ifndef GT_RECORDING_DIRECTORY_UFTRACE_H
#define GT_RECORDING_DIRECTORY_UFTRACE_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- records ------------------------------------------------------------------------------- */

#define GT_UFTRACE_RECORD_SIZE 16
#define GT_UFTRACE_MORE        4u /* in the second word: values follow the record */
#define GT_UFTRACE_DEPTH_MASK  0x3ffu
#define GT_UFTRACE_ADDR_MASK   UINT64_C(0xffffffffffff)

enum gt_uftrace_type {
    GT_UFTRACE_ENTRY = 0,
    GT_UFTRACE_EXIT = 1,
    GT_UFTRACE_LOST = 2,
    GT_UFTRACE_EVENT = 3,
};

/* Event ids: the address of an EVENT record. */
enum gt_uftrace_event {
    GT_UFTRACE_EV_PMU_CYCLE_BEGIN = 100005, /* payload: u64 cycles, u64 instructions */
    GT_UFTRACE_EV_PMU_CYCLE_END = 100006,
    GT_UFTRACE_EV_WATCH_CPU = 100011, /* payload: i32, padded to 8 */
    GT_UFTRACE_EV_SCHED_IN = 200001,
    GT_UFTRACE_EV_SCHED_OUT = 200002,
    GT_UFTRACE_EV_USER = 1000000, /* the first user event; named in events.txt; no payload */
};
/* The user event that marks lost records. Its name in events.txt is guesttrace:lost. */
#define GT_UFTRACE_EV_LOST      1000000
#define GT_UFTRACE_EV_LOST_NAME "guesttrace:lost"
/* Plus a vCPU's index: the task runs on that one from there on. Only machines of several have it;
 * it follows each SCHED_IN. */
#define GT_UFTRACE_EV_VCPU      1001000
#define GT_UFTRACE_EV_VCPU_NAME "guesttrace:cpu%u"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "records are stored as the host's words; the format is little-endian");

/* The second word of a record, for gt_stream_put(stream, time_ns, word). Depth and address are
 * truncated to their fields, so a depth of 1024 is read as 0 and does not change the address. */
static inline uint64_t gt_uftrace_word(enum gt_uftrace_type type, uint32_t depth, uint64_t addr)
{
    return (uint64_t)type | 5u << 3 | (uint64_t)(depth & GT_UFTRACE_DEPTH_MASK) << 6 | addr << 16;
}
static inline uint64_t gt_uftrace_entry(uint32_t depth, uint64_t addr)
{
    return gt_uftrace_word(GT_UFTRACE_ENTRY, depth, addr);
}
static inline uint64_t gt_uftrace_exit(uint32_t depth, uint64_t addr)
{
    return gt_uftrace_word(GT_UFTRACE_EXIT, depth, addr);
}
static inline uint64_t gt_uftrace_event(uint32_t depth, uint64_t id)
{
    return gt_uftrace_word(GT_UFTRACE_EVENT, depth, id);
}
/* Readers fail on LOST records (Chrome JSON, graph): close all frames and write GT_UFTRACE_EV_LOST
 * instead. */
static inline uint64_t gt_uftrace_lost(uint64_t count)
{
    return gt_uftrace_word(GT_UFTRACE_LOST, 0, count);
}

struct gt_uftrace_record {
    uint64_t time; /* ns, at least 1 */
    uint64_t addr; /* 48 bits: function, event id, or number of lost records */
    uint16_t depth;
    uint8_t type; /* enum gt_uftrace_type */
    bool more;    /* a payload follows */
};

/* The record of two words. */
static inline struct gt_uftrace_record gt_uftrace_record_of(uint64_t time, uint64_t word)
{
    return (struct gt_uftrace_record){.time = time,
                                      .addr = word >> 16,
                                      .depth = word >> 6 & 1023,
                                      .type = word & 3,
                                      .more = word >> 2 & 1};
}

/* Reads one record: 1, or 0 at the end. GT_E_TRUNC: less than a record is left, and is not
 * consumed; GT_E_FORMAT: magic is not 5, time is 0, or `more` is set while with_more is false. The
 * caller reads the payload. */
int gt_uftrace_record_read(struct gt_bytes_reader *r, bool with_more,
                           struct gt_uftrace_record *out);
void gt_uftrace_record_write(struct gt_bytes_writer *w, const struct gt_uftrace_record *rec);

/* ---- info ---------------------------------------------------------------------------------- */

enum gt_uftrace_feat {
    GT_UFTRACE_FEAT_PLTHOOK = 1 << 0,
    GT_UFTRACE_FEAT_TASK_SESSION = 1 << 1,
    GT_UFTRACE_FEAT_KERNEL = 1 << 2,
    GT_UFTRACE_FEAT_ARGUMENT = 1 << 3,
    GT_UFTRACE_FEAT_RETVAL = 1 << 4,
    GT_UFTRACE_FEAT_SYM_REL_ADDR = 1 << 5,
    GT_UFTRACE_FEAT_MAX_STACK = 1 << 6,
    GT_UFTRACE_FEAT_EVENT = 1 << 7,
    GT_UFTRACE_FEAT_PERF_EVENT = 1 << 8,
    GT_UFTRACE_FEAT_AUTO_ARGS = 1 << 9,
    GT_UFTRACE_FEAT_DEBUG_INFO = 1 << 10,
    GT_UFTRACE_FEAT_ESTIMATE_RETURN = 1 << 11,
    GT_UFTRACE_FEAT_SYM_SIZE = 1 << 12,
    GT_UFTRACE_FEAT_MIN = 0x62, /* bits that every reader needs; the writer always sets them */
};

/* A section is written if its value is set. { 0 } with an exename is a valid info. */
struct gt_uftrace_info {
    uint64_t feat_mask;   /* FEAT_MIN is always added */
    uint16_t max_stack;   /* deepest call stack in the data; 0: written as 1024 */
    const char *exename;  /* required; converted by gt_uftrace_path */
    const char *build_id; /* 40 hex digits; any other value and NULL are left out */
    bool has_exit_status;
    int exit_status;     /* as wait() gives it */
    const char *cmdline; /* unescaped; NULL: exename. It is JSON-escaped and cut to fit a line */
    unsigned cpus_online, cpus_possible; /* cpus_possible 0: no cpuinfo */
    const char
        *cpu_desc; /* must begin with ARM64, ARMv7 or RISCV64 for register names; may be NULL */
    const char *meminfo;   /* "FREE / TOTAL GB (free / total)" */
    const char *os_kernel; /* NULL: no osinfo */
    const char *os_hostname, *os_distro;
    const uint32_t *tids; /* the tasks in the data; n_tids 0: no taskinfo */
    size_t n_tids;
    const char *loadinfo; /* "1 / 5 / 15" */
    const char *argspec; /* with FEAT_AUTO_ARGS: "auto-args:1"; lines separated by \n; NULL: none */
    const char *record_date;  /* should be NULL: a date makes flame graphs sample by time instead of
                                 counting */
    double elapsed_time;      /* seconds, with record_date */
    const char *pattern_type; /* "regex"; NULL: left out */
    const char *version;      /* uftrace_version; NULL: "guesttrace VERSION" */
    bool has_utc_offset;
    int64_t utc_offset; /* seconds; added to Chrome timestamps by 0.19: 0 with wall-clock times */
    void *storage;      /* memory of gt_uftrace_info_read; NULL otherwise */
};

/* Appends the whole file. GT_E_USAGE: no exename; GT_E_RANGE: a tid of 0; GT_E_NOMEM. Control
 * characters in values become '?'. */
int gt_uftrace_info_write(struct gt_text *t, const struct gt_uftrace_info *info,
                          struct gt_error *err);
/* Reads a whole file. GT_E_TRUNC, GT_E_FORMAT, GT_E_UNSUPPORTED (big-endian, other version),
 * GT_E_NOMEM. usageinfo is skipped. *out needs gt_uftrace_info_free only after success. */
int gt_uftrace_info_read(const void *data, size_t size, struct gt_uftrace_info *out,
                         struct gt_error *err);
void gt_uftrace_info_free(struct gt_uftrace_info *info);

/* ---- task.txt ------------------------------------------------------------------------------ */

#define GT_UFTRACE_PATH_MAX 1024 /* bytes of a path in any text file, with its NUL */
#define GT_UFTRACE_SID_LEN  16   /* hex digits of a session id */

enum gt_uftrace_task_kind {
    GT_UFTRACE_SESS, /* a process runs a program: before any record of it */
    GT_UFTRACE_TASK, /* a thread, or the first thread of a process */
    GT_UFTRACE_FORK, /* inherits the parent's session */
    GT_UFTRACE_DLOP, /* a library loaded later; searched after the map */
};

struct gt_uftrace_task {
    enum gt_uftrace_task_kind kind;
    uint64_t time;                    /* ns; at most the time of the task's first record */
    uint32_t tid;                     /* TASK, DLOP: the thread; FORK: the child; 1..INT32_MAX */
    uint32_t pid;                     /* SESS, TASK: the process; FORK: the parent */
    char sid[GT_UFTRACE_SID_LEN + 1]; /* SESS, DLOP */
    uint64_t base;                    /* DLOP: load address */
    char path[GT_UFTRACE_PATH_MAX];   /* SESS: the program; DLOP: the library */
};

/* Appends one line. gt_uftrace_path converts the paths. GT_E_RANGE: an invalid tid, pid or sid;
 * GT_E_NOMEM. */
int gt_uftrace_task_write(struct gt_text *t, const struct gt_uftrace_task *line,
                          struct gt_error *err);
/* Parses one line of `size` bytes, without its newline. GT_E_FORMAT, GT_E_RANGE; err names the
 * field; the caller knows the line number. */
int gt_uftrace_task_read(const char *line, size_t size, struct gt_uftrace_task *out,
                         struct gt_error *err);

/* Converts a path to a form that the text files can hold: space, '"', '\\', control characters, a
 * '[' at the start and bytes that are not UTF-8 become '_'; a path longer than `out`, or a last
 * component of more than 240 bytes, loses bytes at its front; slashes at the end are dropped; an
 * empty name becomes "unknown". size is at least 16. The same path always gives the same result. */
void gt_uftrace_path(const char *path, char *out, size_t size);
/* Formats a number as 16 hex digits and a NUL. */
void gt_uftrace_sid(uint64_t id, char out[GT_UFTRACE_SID_LEN + 1]);

/* ---- sid-SID.map --------------------------------------------------------------------------- */

struct gt_uftrace_mapping {
    uint64_t start, end;  /* guest addresses; cut to 48 bits when written */
    const char *path;     /* converted by gt_uftrace_path */
    const char *build_id; /* hex, at most 40 digits; NULL or "": none */
};

/* Appends the whole map: one line a module in the caller's order (hottest first: readers search
 * linearly, the first match wins), all "r-xp", and the [stack] line that readers need. GT_E_RANGE:
 * a range is empty or reversed, two overlap after the truncation to 48 bits, or two consecutive
 * lines have the same path (readers would merge them into one module); GT_E_NOMEM. */
int gt_uftrace_map_write(struct gt_text *t, const struct gt_uftrace_mapping *map, size_t n,
                         struct gt_error *err);

struct gt_uftrace_map {
    struct gt_uftrace_mapping *line; /* without [stack] */
    size_t n;
    bool has_stack;
    void *storage;
};
/* Parses a whole map. GT_E_FORMAT, GT_E_NOMEM. */
int gt_uftrace_map_read(const char *text, size_t size, struct gt_uftrace_map *out,
                        struct gt_error *err);
void gt_uftrace_map_free(struct gt_uftrace_map *map);

/* ---- NAME.sym ------------------------------------------------------------------------------ */

struct gt_uftrace_symbol {
    uint64_t addr; /* relative to the module's first byte in the map */
    uint64_t size; /* 0: up to the next symbol */
    const char *name;
    char type; /* T text, t local, w weak, P PLT stub (hidden by --no-libcall), D data */
};

struct gt_uftrace_module {
    const char *path;     /* as in the map: compared after gt_uftrace_path */
    const char *build_id; /* as in the map; NULL or "": none */
};

/* Appends the whole file. Symbols must be sorted by address; a second symbol at an address is
 * dropped; a size that reaches into the next symbol is cut; if a symbol ends before the next one
 * begins, an end marker is added, so that the bytes in between have no name. With n 0, one symbol
 * with the module's base name spans the module: otherwise readers would look for the ELF file. To
 * distinguish a stripped module's functions, pass a symbol "NAME+0x1234" for each address that was
 * called. Names that make readers change their stacks (longjmp, fork, execve ...) get "()"
 * appended; control characters, quotes and backslashes become '?'; a name longer than 2000 bytes
 * (uftrace 0.13 crashes) is cut and ends in a hash of the full name. A last symbol of size 0 is one
 * byte. GT_E_USAGE: not sorted; GT_E_NOMEM. */
int gt_uftrace_sym_write(struct gt_text *t, const struct gt_uftrace_module *module,
                         const struct gt_uftrace_symbol *sym, size_t n, struct gt_error *err);

struct gt_uftrace_symtab {
    char *path;                    /* "" where the file has none */
    char *build_id;                /* "" if the file has none */
    struct gt_uftrace_symbol *sym; /* sorted; sizes up to the next line; without end markers */
    size_t n;
    void *storage;
};
/* Parses a whole file. The "()" of names that make readers change their stacks are taken off again.
 * GT_E_FORMAT (also: not sorted), GT_E_NOMEM. */
int gt_uftrace_sym_read(const char *text, size_t size, struct gt_uftrace_symtab *out,
                        struct gt_error *err);
void gt_uftrace_symtab_free(struct gt_uftrace_symtab *tab);
/* The symbol that contains the relative address, or NULL. */
const struct gt_uftrace_symbol *gt_uftrace_symtab_find(const struct gt_uftrace_symtab *tab,
                                                       uint64_t rel);
/* True for names that make readers change their stacks (see gt_uftrace_sym_write). */
bool gt_uftrace_name_is_special(const char *name);

/* ---- NAME.dbg ------------------------------------------------------------------------------ */

enum gt_uftrace_dbg_kind {
    GT_UFTRACE_DBG_FUNC, /* addr, text: name; begins a function */
    GT_UFTRACE_DBG_LINE, /* line, text: source file */
    GT_UFTRACE_DBG_ARGS, /* text: "@arg1/s,arg2" */
    GT_UFTRACE_DBG_RET,  /* text: "@retval/s" */
    GT_UFTRACE_DBG_ENUM, /* text: "enum NAME {A=0,B=1}"; before the functions */
};
struct gt_uftrace_dbg {
    enum gt_uftrace_dbg_kind kind;
    uint64_t addr; /* FUNC: relative; must be the address of a symbol in NAME.sym, or readers refuse
                      it */
    uint32_t line; /* LINE */
    const char *text;
    const char *lines; /* LINE: "10-20,30", all the function's lines; NULL: not known */
};
/* Appends the whole file. GT_E_USAGE: a LINE, ARGS or RET before the first FUNC; GT_E_NOMEM. */
int gt_uftrace_dbg_write(struct gt_text *t, const struct gt_uftrace_module *module,
                         const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err);
struct gt_uftrace_dbginfo {
    char *path, *build_id; /* "" where the file has none */
    struct gt_uftrace_dbg *item;
    size_t n;
    void *storage;
};
int gt_uftrace_dbg_read(const char *text, size_t size, struct gt_uftrace_dbginfo *out,
                        struct gt_error *err);
void gt_uftrace_dbginfo_free(struct gt_uftrace_dbginfo *dbg);

#endif
