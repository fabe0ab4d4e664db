/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * simpletrace, the binary file that QEMU's "simple" trace backend writes, version 4: one record
 * after another, packed, in the byte order of the machine that wrote it.
 *
 *   file header  u64 2^64-1; u64 magic; u64 version
 *   mapping      u64 0; u64 id; u32 length; the event's name, without a NUL
 *   event        u64 1; u64 id; u64 timestamp; u32 length; u32 pid; payload
 *   dropped      an event whose id is 2^64-2 and whose payload is a u64: how many were lost here
 *   thread event u64 2; as an event, then u64 thread id; payload
 *
 * An event's length counts what follows its type up to the payload, 24 bytes, and the payload (in
 * a thread event the thread id is counted as payload). Timestamps are nanoseconds. The payload is a
 * u64 for each scalar, signed ones extended, and a u32 length and the bytes for each string.
 *
 * Thread events are ours. They appear only in files of GT_SIMPLETRACE_VERSION_THREADS, which
 * other readers refuse by that number.
 *
 * The inline functions for writing store an item in memory that the caller provides, in native byte
 * order, and return its end. The reader accepts either byte order and checks every number of the
 * file.
 */
#ifndef GT_EVENTS_LIBRARY_READ_SIMPLETRACE_H
#define GT_EVENTS_LIBRARY_READ_SIMPLETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GT_SIMPLETRACE_HEADER_ID       UINT64_MAX
#define GT_SIMPLETRACE_DROPPED_ID      (UINT64_MAX - 1)
#define GT_SIMPLETRACE_MAGIC           UINT64_C(0xf2b177cb0aa429b4)
#define GT_SIMPLETRACE_VERSION         UINT64_C(4)
#define GT_SIMPLETRACE_VERSION_THREADS UINT64_C(0x100000004)

enum gt_events_simpletrace_type {
    GT_SIMPLETRACE_MAPPING = 0,
    GT_SIMPLETRACE_EVENT = 1,
    GT_SIMPLETRACE_THREAD_EVENT = 2,
};

/* Bytes. */
enum {
    GT_SIMPLETRACE_FILE_HEADER_SIZE = 24,
    GT_SIMPLETRACE_MAPPING_HEADER_SIZE = 20, /* the name follows */
    GT_SIMPLETRACE_EVENT_HEADER_SIZE = 32,   /* the payload follows */
    GT_SIMPLETRACE_EVENT_COUNTED = 24, /* bytes of the header that count in an event's length */
    GT_SIMPLETRACE_THREAD_EVENT_HEADER_SIZE = 40,
    GT_SIMPLETRACE_DROPPED_SIZE = 40,
    GT_SIMPLETRACE_STRING_MAX = 512, /* bytes of a string that writers keep */
    /* Limits of a reader. */
    GT_SIMPLETRACE_NAME_LIMIT = 4096,
    GT_SIMPLETRACE_LENGTH_LIMIT = 1 << 20,
};

static inline uint8_t *gt_events_simpletrace_put_u32(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

static inline uint8_t *gt_events_simpletrace_put_u64(uint8_t *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

static inline uint8_t *gt_events_simpletrace_put_file_header(uint8_t *at, uint64_t version)
{
    at = gt_events_simpletrace_put_u64(at, GT_SIMPLETRACE_HEADER_ID);
    at = gt_events_simpletrace_put_u64(at, GT_SIMPLETRACE_MAGIC);
    return gt_events_simpletrace_put_u64(at, version);
}

static inline uint8_t *gt_events_simpletrace_put_mapping(uint8_t *at, uint64_t id, const char *name,
                                                         uint32_t length)
{
    at = gt_events_simpletrace_put_u64(at, GT_SIMPLETRACE_MAPPING);
    at = gt_events_simpletrace_put_u64(at, id);
    at = gt_events_simpletrace_put_u32(at, length);
    memcpy(at, name, length);
    return at + length;
}

/* Writes the header; the caller writes `payload` bytes of payload after it. */
static inline uint8_t *gt_events_simpletrace_put_event(uint8_t *at, uint64_t id, uint64_t timestamp,
                                                       uint32_t payload, uint32_t pid)
{
    at = gt_events_simpletrace_put_u64(at, GT_SIMPLETRACE_EVENT);
    at = gt_events_simpletrace_put_u64(at, id);
    at = gt_events_simpletrace_put_u64(at, timestamp);
    at = gt_events_simpletrace_put_u32(at, GT_SIMPLETRACE_EVENT_COUNTED + payload);
    return gt_events_simpletrace_put_u32(at, pid);
}

/* The same with a thread id, which `payload` does not count. */
static inline uint8_t *gt_events_simpletrace_put_thread_event(uint8_t *at, uint64_t id,
                                                              uint64_t timestamp, uint32_t payload,
                                                              uint32_t pid, uint64_t tid)
{
    at = gt_events_simpletrace_put_u64(at, GT_SIMPLETRACE_THREAD_EVENT);
    at = gt_events_simpletrace_put_u64(at, id);
    at = gt_events_simpletrace_put_u64(at, timestamp);
    at = gt_events_simpletrace_put_u32(at, GT_SIMPLETRACE_EVENT_COUNTED + 8 + payload);
    at = gt_events_simpletrace_put_u32(at, pid);
    return gt_events_simpletrace_put_u64(at, tid);
}

static inline uint8_t *gt_events_simpletrace_put_dropped(uint8_t *at, uint64_t timestamp,
                                                         uint32_t pid, uint64_t count)
{
    at = gt_events_simpletrace_put_event(at, GT_SIMPLETRACE_DROPPED_ID, timestamp, 8, pid);
    return gt_events_simpletrace_put_u64(at, count);
}

/* Returns how many bytes of a string a record keeps; 0 for NULL. */
static inline uint32_t gt_events_simpletrace_string_length(const char *s)
{
    return s ? (uint32_t)strnlen(s, GT_SIMPLETRACE_STRING_MAX) : 0;
}

static inline uint8_t *gt_events_simpletrace_put_string(uint8_t *at, const char *s, uint32_t length)
{
    at = gt_events_simpletrace_put_u32(at, length);
    if (length)
        memcpy(at, s, length);
    return at + length;
}

static inline uint32_t gt_events_simpletrace_get_u32(const uint8_t *at, bool swapped)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return swapped ? __builtin_bswap32(v) : v;
}

static inline uint64_t gt_events_simpletrace_get_u64(const uint8_t *at, bool swapped)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return swapped ? __builtin_bswap64(v) : v;
}

/* Results of reading an item other than its size. */
enum {
    GT_SIMPLETRACE_SHORT = 0,      /* the item is longer than the bytes at hand */
    GT_SIMPLETRACE_BAD_MAGIC = -1, /* not a simpletrace file */
    GT_SIMPLETRACE_BAD_VERSION = -2,
    GT_SIMPLETRACE_BAD_TYPE = -3,
    GT_SIMPLETRACE_BAD_LENGTH = -4,
};

struct gt_events_simpletrace_order {
    uint64_t version;
    bool swapped; /* written in the other byte order than this machine's */
};

struct gt_events_simpletrace_item {
    uint64_t type, id;
    uint64_t timestamp;  /* events */
    uint64_t tid;        /* thread events; 0 in others */
    uint32_t pid;        /* events */
    uint32_t length;     /* the length in the file, for messages */
    uint32_t size;       /* bytes of data */
    const uint8_t *data; /* the mapping's name or the payload, in the caller's buffer */
};

/* Reads the file header at the start of `size` bytes. Returns GT_SIMPLETRACE_FILE_HEADER_SIZE,
 * GT_SIMPLETRACE_SHORT, GT_SIMPLETRACE_BAD_MAGIC, or GT_SIMPLETRACE_BAD_VERSION; in the last case
 * `out` has the version. */
int gt_events_simpletrace_get_file_header(const uint8_t *at, size_t size,
                                          struct gt_events_simpletrace_order *out);

/* Reads the record at `at` and returns its size; or GT_SIMPLETRACE_SHORT, with *need set to its
 * smallest possible size; or GT_SIMPLETRACE_BAD_TYPE or GT_SIMPLETRACE_BAD_LENGTH, with the field
 * in `out`. */
int gt_events_simpletrace_get_record(const uint8_t *at, size_t size,
                                     const struct gt_events_simpletrace_order *order,
                                     struct gt_events_simpletrace_item *out, size_t *need);

#endif
