/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans: one statement a line, numbers in C's notation.
 *
 *   target NAME                      machine VCPUS MAX (default: user mode)
 *   memory LO SIZE zero|any          guest memory; zero: guest_base is 0
 *   map ADDR SIZE PATH               a file mapped there
 *   words ADDR WIDTH N...            words of data
 *   insn ADDR SIZE [DISASSEMBLY]     the next instruction, counted from 0
 *   reg NAME SIZE                    the next register, counted from 0; its value is 0, and only
 *                                    the first 8 bytes change
 *   vcpu N                           its actions follow:
 *     tb FIRST COUNT FAULT [INSN:r|w:ADDR]... [INSN:s:REGISTER VALUE]...
 *                     [INSN:R|W:ADDR big|little HIGH LOW]...: accesses of 16 bytes, not 8
 *     repeat ACTIONS TIMES           syscall N A1...A8     sysret N RESULT
 *     flush   start VCPU   join VCPU   signal FLAG   await FLAG
 *     discon KIND FROM TO            file ADDR SIZE PATH   exit
 */
#include "host.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct plan gt_recorder_plan;

void gt_die(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("scripted host: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    abort();
}

void *gt_grow(void *array, size_t n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *p = realloc(array, (n ? 2 * n : 1) * size);
    if (!p)
        gt_die("out of memory");
    return p;
}

void *gt_recorder_guest(uint64_t addr)
{
    return gt_recorder_plan.memory + (addr - gt_recorder_plan.lo);
}

void *gt_code_memory(uint64_t addr)
{
    bool moved = addr - gt_recorder_plan.shared.from < gt_recorder_plan.shared.size;
    return gt_recorder_guest(
        moved ? addr - gt_recorder_plan.shared.from + gt_recorder_plan.shared.to : addr);
}

void gt_map_file(uint64_t addr, uint64_t size, const char *path)
{
    if (strcmp(path, "none") == 0) {
        if (mmap(gt_recorder_guest(addr), size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            gt_die("cannot unmap %" PRIx64, addr);
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || mmap(gt_recorder_guest(addr), size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
                      MAP_FAILED)
        gt_die("cannot map %s", path);
    close(fd);
}

static uint64_t number(char **at)
{
    char *end;
    uint64_t v = strtoull(*at, &end, 0);
    if (end == *at)
        gt_die("number expected: %s", *at);
    *at = end + strspn(end, " ");
    return v;
}

static void read_memory(char *rest)
{
    gt_recorder_plan.lo = number(&rest);
    gt_recorder_plan.size = number(&rest);
    gt_recorder_plan.zero_base = strcmp(rest, "zero") == 0;
    void *want = gt_recorder_plan.zero_base ? (void *)(uintptr_t)gt_recorder_plan.lo : NULL;
    gt_recorder_plan.memory =
        mmap(want, gt_recorder_plan.size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (want ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (gt_recorder_plan.memory == MAP_FAILED)
        gt_die("no guest memory");
}

static void read_words(char *rest)
{
    uint64_t addr = number(&rest), width = number(&rest);
    for (; *rest; addr += width) {
        uint64_t word = number(&rest);
        memcpy(gt_recorder_guest(addr), &word, width);
    }
}

static void read_accesses(char *rest, struct action *a)
{
    while (*rest) {
        a->access = gt_grow(a->access, a->n_access, sizeof *a->access);
        struct access *x = &a->access[a->n_access++];
        *x = (struct access){.insn = (uint32_t)number(&rest)};
        x->kind = rest[1];
        rest += 3;
        x->addr = number(&rest);
        x->wide = x->kind == 'R' || x->kind == 'W';
        if (x->wide) {
            x->big_endian = strncmp(rest, "big ", 4) == 0;
            rest += x->big_endian ? strlen("big ") : strlen("little ");
            x->high = number(&rest);
        }
        x->value = x->wide || x->kind == 's' ? number(&rest) : 0;
        if (x->kind == 's' && x->addr >= gt_recorder_plan.n_registers)
            gt_die("no such register");
    }
}

static const struct {
    const char *name;
    enum action_kind kind;
} verbs[] = {
    {"tb", DO_BLOCK},        {"repeat", DO_REPEAT},
    {"syscall", DO_SYSCALL}, {"sysret", DO_SYSCALL_RETURN},
    {"flush", DO_FLUSH},     {"start", DO_START},
    {"join", DO_JOIN},       {"signal", DO_SIGNAL},
    {"await", DO_AWAIT},     {"discon", DO_DISCONTINUITY},
    {"file", DO_MAP},        {"share", DO_SHARE},
    {"exit", DO_EXIT},
};

static bool read_action(const char *verb, char *rest)
{
    struct action a = {.fault = NO_FAULT};
    size_t i = 0;
    while (i < sizeof verbs / sizeof verbs[0] && strcmp(verbs[i].name, verb) != 0)
        i++;
    if (i == sizeof verbs / sizeof verbs[0] || gt_recorder_plan.n_lives == 0)
        return false;
    a.kind = verbs[i].kind;
    if (a.kind == DO_BLOCK || a.kind == DO_REPEAT) {
        a.first = (uint32_t)number(&rest);
        a.count = (uint32_t)number(&rest);
    }
    if (a.kind == DO_BLOCK) {
        a.fault = (int32_t)number(&rest);
        read_accesses(rest, &a);
    } else if (a.kind == DO_MAP) {
        a.arg[0] = number(&rest);
        a.arg[1] = number(&rest);
        a.path = strdup(rest);
    } else {
        for (size_t k = 0; k < 9 && *rest; k++)
            a.arg[k] = number(&rest);
    }
    struct life *life = &gt_recorder_plan.lives[gt_recorder_plan.n_lives - 1];
    life->actions = gt_grow(life->actions, life->n, sizeof a);
    life->actions[life->n++] = a;
    return true;
}

static void read_machine(char *rest)
{
    gt_recorder_plan.system = true;
    gt_recorder_plan.vcpus = (unsigned)number(&rest);
    gt_recorder_plan.max_vcpus = (unsigned)number(&rest);
}

static void read_map(char *rest)
{
    uint64_t addr = number(&rest), size = number(&rest);
    gt_map_file(addr, size, rest);
}

static void read_insn(char *rest)
{
    gt_recorder_plan.insns =
        gt_grow(gt_recorder_plan.insns, gt_recorder_plan.n_insns, sizeof *gt_recorder_plan.insns);
    struct insn *insn = &gt_recorder_plan.insns[gt_recorder_plan.n_insns++];
    insn->addr = number(&rest);
    insn->size = (uint32_t)number(&rest);
    insn->disas = *rest ? strdup(rest) : NULL;
}

static void read_register(char *rest)
{
    gt_recorder_plan.registers = gt_grow(gt_recorder_plan.registers, gt_recorder_plan.n_registers,
                                         sizeof *gt_recorder_plan.registers);
    struct scripted_register *r = &gt_recorder_plan.registers[gt_recorder_plan.n_registers++];
    memset(r, 0, sizeof *r);
    size_t n = strcspn(rest, " ");
    snprintf(r->name, sizeof r->name, "%.*s", (int)n, rest);
    rest += n + (rest[n] == ' ');
    r->size = (unsigned)number(&rest);
    if (r->size > GT_PLAN_REGISTER)
        gt_die("a register of %u bytes", r->size);
}

static void read_vcpu(char *rest)
{
    gt_recorder_plan.lives =
        gt_grow(gt_recorder_plan.lives, gt_recorder_plan.n_lives, sizeof *gt_recorder_plan.lives);
    gt_recorder_plan.lives[gt_recorder_plan.n_lives++] =
        (struct life){.vcpu = (unsigned)number(&rest)};
}

static void read_target(char *rest)
{
    snprintf(gt_recorder_plan.target, sizeof gt_recorder_plan.target, "%s", rest);
}

static void read_line(char *line)
{
    static const struct {
        const char *name;
        void (*read)(char *rest);
    } statements[] = {
        {"target", read_target}, {"machine", read_machine}, {"memory", read_memory},
        {"map", read_map},       {"words", read_words},     {"insn", read_insn},
        {"vcpu", read_vcpu},     {"reg", read_register},
    };
    line[strcspn(line, "\n")] = '\0';
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        if (strcmp(statements[i].name, line) == 0) {
            statements[i].read(rest);
            return;
        }
    if (!read_action(line, rest))
        gt_die("unknown statement %s", line);
}

void gt_plan_read(const char *path)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    if (!f)
        gt_die("cannot read %s", path);
    while (getline(&line, &size, f) > 0)
        read_line(line);
    free(line);
    fclose(f);
}
