/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the records of a boot, tens of millions, in a second: gttest.uftrace_check
 * takes minutes for them.
 *
 *   trace_tool check DIR
 *       A line a task: TID ENTRIES FIRST LAST KERNEL, and the calls that the end of the recording
 *       closed, outermost first. LAST: before those were. KERNEL: the first call in the upper half
 *       of addresses; 0.
 *   trace_tool count DIR [FROM TO]
 *       A line a function and caller: ADDRESS ENTRIES CALLER, of FROM <= time <= TO; the outermost
 *       calls' CALLER is 0.
 *   trace_tool calls DIR ADDRESS
 *       A line a call of this function: TID ENTRY-TIME EXIT-TIME.
 *   trace_tool same DIR OTHER FROM
 *       A line a task: TID RECORDS OTHERS SAME TIME LATER MOST. Of so many records from FROM on the
 *       first SAME are the same, but for their times and one difference of depth; the next one has
 *       TIME (0: there is none). LATER of them have another time, by MOST at most.
 *
 * Numbers are decimal, addresses hexadecimal. Exit status 1, and the reason on standard error: a
 * record that no writer may write, a time that falls, an EXIT that is not its innermost ENTRY's, a
 * call that is open at the end.
 */
#include "recording/directory/uftrace.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 1 << 20, MAX_FUNCTIONS = 1 << 20 };

#define DEPTH ((uint64_t)GT_UFTRACE_DEPTH_MASK << 6) /* in a record's second word */

struct frame {
    uint64_t key; /* depth and address, as in the record's second word */
    uint64_t time;
};

struct task {
    const char *path;
    int tid;
    uint64_t entries, first, last, kernel;
    uint64_t ran; /* before the tail */
    size_t depth;
    size_t tail; /* EXITs of one time that nothing followed yet */
};

struct count {
    uint64_t addr, caller, n;
};

static struct frame stack[MAX_DEPTH];
static uint64_t closed[MAX_DEPTH]; /* addresses of the tail's EXITs */
static struct count counts[MAX_FUNCTIONS];
static uint64_t from, to = UINT64_MAX, wanted;
static char mode;

static void die(const struct task *t, size_t record, const char *what, uint64_t value)
{
    fprintf(stderr, "%s record %zu: %s (%" PRIu64 ")\n", t->path, record, what, value);
    exit(1);
}

static void add(uint64_t addr, uint64_t caller)
{
    size_t i = ((addr + caller * 3) * UINT64_C(0x9e3779b97f4a7c15)) >> 44;
    for (size_t tries = 0; tries < MAX_FUNCTIONS; tries++, i++) {
        struct count *c = &counts[i % MAX_FUNCTIONS];
        if (c->n == 0 || (c->addr == addr && c->caller == caller)) {
            *c = (struct count){addr, caller, c->n + 1};
            return;
        }
    }
    fputs("too many functions\n", stderr);
    exit(1);
}

static void enter(struct task *t, size_t at, uint64_t time, uint64_t key)
{
    if (t->depth == MAX_DEPTH)
        die(t, at, "calls too deep", t->depth);
    if ((key & GT_UFTRACE_DEPTH_MASK) != (t->depth & GT_UFTRACE_DEPTH_MASK))
        die(t, at, "wrong depth of an ENTRY", key & GT_UFTRACE_DEPTH_MASK);
    if (mode == 'n' && time >= from && time <= to)
        add(key >> 10, t->depth ? stack[t->depth - 1].key >> 10 : 0);
    stack[t->depth++] = (struct frame){key, time};
    t->entries++;
    t->tail = 0;
    t->ran = time;
    if (t->kernel == 0 && key >> 10 >> 47 & 1)
        t->kernel = time;
}

static void leave(struct task *t, size_t at, uint64_t time, uint64_t key)
{
    if (t->depth == 0 || stack[t->depth - 1].key != key)
        die(t, at, "an EXIT of no open ENTRY", key >> 10);
    const struct frame *f = &stack[--t->depth];
    if (time != t->last) {
        t->tail = 0;
        t->ran = t->last;
    }
    closed[t->tail++] = key >> 10;
    if (mode == 'c' && key >> 10 == wanted)
        printf("%d %" PRIu64 " %" PRIu64 "\n", t->tid, f->time, time);
}

static void read_records(struct task *t, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size / GT_UFTRACE_RECORD_SIZE; at++) {
        uint64_t word[2];
        memcpy(word, data + at * GT_UFTRACE_RECORD_SIZE, sizeof(word));
        if ((word[1] >> 2 & 15) != 5u << 1)
            die(t, at, "no record, or one with a payload", word[1]);
        if (word[0] == 0 || word[0] < t->last)
            die(t, at, "a time that falls", word[0]);
        switch (word[1] & 3) {
        case GT_UFTRACE_ENTRY:
            enter(t, at, word[0], word[1] >> 6);
            break;
        case GT_UFTRACE_EXIT:
            leave(t, at, word[0], word[1] >> 6);
            break;
        case GT_UFTRACE_LOST:
            die(t, at, "lost records", word[1] >> 16);
            break;
        default:
            break;
        }
        t->last = word[0];
        if (t->first == 0)
            t->first = word[0];
    }
    if (size % GT_UFTRACE_RECORD_SIZE != 0)
        die(t, size / GT_UFTRACE_RECORD_SIZE, "part of a record", size % GT_UFTRACE_RECORD_SIZE);
    if (t->depth != 0)
        die(t, size / GT_UFTRACE_RECORD_SIZE, "calls are open at the end", t->depth);
}

/* The file's bytes, which stay mapped; NULL where it has none. */
static const uint8_t *map_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        perror(path);
        exit(1);
    }
    void *data = NULL;
    *size = (size_t)st.st_size;
    if (*size > 0)
        data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(fd);
    return data;
}

static void get_record(const uint8_t *data, size_t at, uint64_t word[2])
{
    memcpy(word, data + at * GT_UFTRACE_RECORD_SIZE, 2 * sizeof(word[0]));
}

/* How many records are earlier than `from`. */
static size_t skip(const uint8_t *data, size_t size)
{
    size_t n = 0;
    for (uint64_t word[2]; n < size / GT_UFTRACE_RECORD_SIZE; n++) {
        get_record(data, n, word);
        if (word[0] >= from)
            break;
    }
    return n;
}

static void compare(const char *path, const char *other, int tid)
{
    size_t a_size, b_size, same = 0;
    const uint8_t *a = map_file(path, &a_size), *b = map_file(other, &b_size);
    size_t a_at = skip(a, a_size), b_at = skip(b, b_size);
    size_t a_n = a_size / GT_UFTRACE_RECORD_SIZE - a_at,
           b_n = b_size / GT_UFTRACE_RECORD_SIZE - b_at;
    uint64_t later = 0, most = 0, x[2] = {0, 0}, y[2], deeper = 0;
    for (; same < a_n && same < b_n; same++) {
        get_record(a, a_at + same, x);
        get_record(b, b_at + same, y);
        if (same == 0)
            deeper = (x[1] - y[1]) & DEPTH;
        if (x[1] != ((y[1] & ~DEPTH) | ((y[1] + deeper) & DEPTH)))
            break;
        uint64_t by = x[0] > y[0] ? x[0] - y[0] : y[0] - x[0];
        later += by > 0;
        most = by > most ? by : most;
    }
    bool all = same == a_n && same == b_n;
    printf("%d %zu %zu %zu %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tid, a_n, b_n, same,
           all ? 0 : x[0], later, most);
}

static void read_task(const char *path, int tid)
{
    struct task t = {.path = path, .tid = tid};
    size_t size;
    const uint8_t *data = map_file(path, &size);
    read_records(&t, data, size);
    if (size > 0)
        munmap((void *)(uintptr_t)data, size);
    if (mode != 'h')
        return;
    printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, tid, t.entries, t.first, t.ran,
           t.kernel);
    while (t.tail > 0)
        printf(" %" PRIx64, closed[--t.tail]);
    putchar('\n');
}

static int read_directory(const char *name, const char *other)
{
    DIR *dir = opendir(name);
    if (!dir) {
        perror(name);
        return 1;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[4096], other_path[4096], *end;
        long tid = strtol(e->d_name, &end, 10);
        if (end == e->d_name || strcmp(end, ".dat") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", name, e->d_name);
        snprintf(other_path, sizeof(other_path), "%s/%s", other ? other : "", e->d_name);
        if (other)
            compare(path, other_path, (int)tid);
        else
            read_task(path, (int)tid);
    }
    closedir(dir);
    for (size_t i = 0; i < MAX_FUNCTIONS; i++)
        if (counts[i].n > 0)
            printf("%" PRIx64 " %" PRIu64 " %" PRIx64 "\n", counts[i].addr, counts[i].n,
                   counts[i].caller);
    return 0;
}

int main(int argc, char **argv)
{
    const char *other = NULL;
    if (argc == 3 && strcmp(argv[1], "check") == 0) {
        mode = 'h';
    } else if ((argc == 3 || argc == 5) && strcmp(argv[1], "count") == 0) {
        mode = 'n';
    } else if (argc == 4 && strcmp(argv[1], "calls") == 0) {
        mode = 'c';
        wanted = strtoull(argv[3], NULL, 16);
    } else if (argc == 5 && strcmp(argv[1], "same") == 0) {
        mode = 's';
        other = argv[3];
        from = strtoull(argv[4], NULL, 10);
    } else {
        fputs("usage: trace_tool check|count|calls|same DIR [FROM TO|ADDRESS|OTHER FROM]\n",
              stderr);
        return 2;
    }
    if (mode == 'n' && argc == 5) {
        from = strtoull(argv[3], NULL, 10);
        to = strtoull(argv[4], NULL, 10);
    }
    return read_directory(argv[2], other);
}
