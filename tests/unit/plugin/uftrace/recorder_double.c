/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorders for tests: see recorder_double.h. */
#include "recorder_double.h"
#include "calls/recorder/finish.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/run/transfer.h"

#include <assert.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Names of the C library's functions are local here: no call of the test's goes there. */
#define FUNCTION_OF(name, bytes)                                                                   \
    ".local " name "\n.type " name ", STT_FUNC\n" name ":\n" bytes ".size " name ", 256\n"
#define EMPTY ".zero 256\n"
/* clang-format off */
__asm__(".text\n.balign 4096\n.globl code_page\n.hidden code_page\ncode_page:\n"
        FUNCTION_OF("alpha", EMPTY)
        FUNCTION_OF("beta", EMPTY)
        FUNCTION_OF("handler", EMPTY)
        FUNCTION_OF("getcontext", EMPTY)
        FUNCTION_OF("_Unwind_GetIP", EMPTY)
        FUNCTION_OF("_Unwind_Resume", EMPTY)
        EMPTY ".balign 4096\n");
/* clang-format on */

uint8_t code_memory[4096] __attribute__((aligned(4096)));

/* All of them, as what they allocated is theirs until the test ends. */
enum { RECORDERS = 64 };
static struct gt_recorder recorders[RECORDERS], ended[RECORDERS];
static size_t n_recorders, n_ended;
static struct gt_recorder *running;
static char folder[] = "/tmp/uftrace-XXXXXX";

/* "output=FOLDER/data", and the test's. They live as long as the recorder, which points to some. */
static char **words_of(const char *const *words)
{
    GPtrArray *all = g_ptr_array_new();
    g_ptr_array_add(all, g_strdup_printf("output=%s/data", folder));
    for (; words && *words; words++)
        g_ptr_array_add(all, g_strdup(*words));
    g_ptr_array_add(all, NULL);
    static GPtrArray *kept; /* a leak checker finds them there */
    if (!kept)
        kept = g_ptr_array_new();
    g_ptr_array_add(kept, all);
    return (char **)all->pdata;
}

static void begin(const char *target, unsigned vcpus, int abi)
{
    assert(!running);
    assert(mprotect((void *)(uintptr_t)code_page, sizeof code_page, PROT_READ | PROT_WRITE) == 0);
    memset((void *)(uintptr_t)code_page, 0, sizeof code_page);
    memset(code_memory, 0, sizeof code_memory);
    host_double_start(target, vcpus, abi);
}

static void make_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    assert(mkdtemp(folder));
}

static void check(int status, const struct gt_error *err)
{
    if (status < 0) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

static struct gt_recorder *start(const char *const *words)
{
    struct gt_error err = {0};
    char **all = words_of(words);
    assert(n_recorders < RECORDERS);
    running = &recorders[n_recorders++];
    check(gt_recorder_init(running, &host_double.info, (int)g_strv_length(all), all, &err), &err);
    host_double.events = &running->events;
    host_double.self = running;
    return running;
}

struct gt_recorder *recorder_start(const char *target, unsigned vcpus, int abi,
                                   const char *const *words)
{
    begin(target, vcpus, abi);
    make_folder();
    return start(words);
}

struct gt_recorder *recorder_install(const char *target, unsigned vcpus, int abi,
                                     const char *const *words)
{
    struct gt_error err = {0};
    begin(target, vcpus, abi);
    make_folder();
    char **all = words_of(words);
    running = gt_recorder_installed();
    assert(n_ended < RECORDERS);
    ended[n_ended++] = *running;
    memset(running, 0, sizeof *running);
    check(host_double_install(&err, (const char *const *)all), &err);
    return running;
}

static void *begin_vcpu(void *vcpu)
{
    host_double.events->vcpu_init(host_double.self, (unsigned)(uintptr_t)vcpu);
    return NULL;
}

void recorder_begin_vcpu(unsigned vcpu)
{
    pthread_t thread;
    assert(pthread_create(&thread, NULL, begin_vcpu, (void *)(uintptr_t)vcpu) == 0);
    pthread_join(thread, NULL);
}

static void remove_folder(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *at = g_build_filename(path, name, NULL);
        if (g_file_test(at, G_FILE_TEST_IS_DIR))
            remove_folder(at);
        else
            g_unlink(at);
    }
    if (dir)
        g_dir_close(dir);
    g_rmdir(path);
}

static void end(const struct gt_recorder *r)
{
    host_double.events->exit(host_double.self);
    if (r->vcpus.n) /* the thread runs it no more */
        host_double.events->vcpu_exit(host_double.self, 0);
    host_double_stop();
    running = NULL;
}

struct gt_recorder *recorder_start_again(const char *target, unsigned vcpus, int abi,
                                         const char *const *words)
{
    end(running);
    begin(target, vcpus, abi);
    return start(words);
}

void recorder_stop(struct gt_recorder *r)
{
    assert(r == running);
    end(r);
    remove_folder(folder);
}

int recorder_teardown(void **state)
{
    (void)state;
    if (running)
        recorder_stop(running);
    return 0;
}

char *recorder_file(const struct gt_recorder *r, const char *name)
{
    g_autofree char *path = g_build_filename(r->output.dir.path, name, NULL);
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

/* ---- blocks -------------------------------------------------------------------------------- */

void block_add(struct gt_host_block *b, const void *host, const uint8_t *bytes, size_t n)
{
    size_t before = 0;
    for (size_t i = 0; i < b->n_insns; i++)
        before += b->insns[i].size;
    struct gt_host_insn *insn = host_double_insn(b, n, NULL);
    memcpy(insn->bytes, bytes, n);
    if (host)
        insn->host_addr = memcpy((char *)(uintptr_t)host + before, bytes, n);
}

void block_of_words(struct gt_host_block *b, uint64_t pc, const void *host, const uint32_t *words,
                    size_t n)
{
    host_double_block(b, pc);
    for (size_t i = 0; i < n; i++) {
        const uint8_t bytes[4] = {(uint8_t)words[i], (uint8_t)(words[i] >> 8),
                                  (uint8_t)(words[i] >> 16), (uint8_t)(words[i] >> 24)};
        block_add(b, host, bytes, sizeof bytes);
    }
}

/* ---- hooks --------------------------------------------------------------------------------- */

static const char *name_of(gt_host_exec_fn fn)
{
    static const struct {
        gt_host_exec_fn fn;
        const char *name;
    } known[] = {
        {gt_run_on_transfer, "transfer"},
        {gt_run_on_transfer_inside, "transfer_inside"},
        {gt_run_on_counted_transfer, "counted_transfer"},
        {gt_run_on_block, "block"},
        {gt_run_on_unknown_block, "unknown_block"},
        {gt_run_on_counted_unknown_block, "counted_unknown_block"},
        {gt_run_on_slow_block, "special_block"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (known[i].fn == fn)
            return known[i].name;
    return "-";
}

static const char *last_exit_name(uint64_t last_exit)
{
    static const char *const exits[] = {
        [GT_EXIT_PLAIN] = "plain",
        [GT_EXIT_CALL] = "call",
        [GT_EXIT_CALL_INDIRECT] = "indirect call",
        [GT_EXIT_RETURN] = "return",
        [GT_EXIT_JUMP_HANDLER] = "jump to handler",
        [GT_EXIT_JUMP_INDIRECT] = "indirect jump",
        [GT_EXIT_JUMP_BACK] = "jump back",
        [GT_EXIT_SYSCALL] = "system call",
        [GT_EXIT_EXCEPTION_RETURN] = "exception return",
    };
    if (last_exit & GT_LAST_EXIT_CODE)
        return exits[gt_track_last_exit_code(last_exit)->exit];
    return last_exit & GT_LAST_EXIT_JUMPED ? "jump" : "own";
}

static const char *entry_name(const struct gt_recorder *r, struct gt_host_scoreboard_entry entry)
{
    assert(entry.scoreboard == r->hot.scoreboard);
    return entry.offset == offsetof(struct gt_recorder_score, last_exit) ? "last_exit" : "insns";
}

static void put_hook(GString *out, const struct gt_recorder *r, const struct host_double_hook *h)
{
    static const char *const memory[] = {NULL, "loads", "stores", "accesses"};
    switch (h->kind) {
    case HOST_DOUBLE_EXEC:
    case HOST_DOUBLE_EXEC_REGS:
        g_string_append_printf(out, "%s %s", h->kind == HOST_DOUBLE_EXEC ? "exec" : "regs",
                               name_of(h->exec));
        if (h->exec == gt_run_on_transfer)
            g_string_append_printf(out, "(%u)",
                                   (unsigned)((uintptr_t)h->data >> GT_TRANSFER_SHIFT));
        break;
    case HOST_DOUBLE_EXEC_NE:
        assert(strcmp(entry_name(r, h->entry), "last_exit") == 0);
        g_string_append_printf(out, "%s unless %s", name_of(h->exec), last_exit_name(h->value));
        break;
    case HOST_DOUBLE_ADD:
        assert(strcmp(entry_name(r, h->entry), "insns") == 0);
        g_string_append_printf(out, "add %u", (unsigned)h->value);
        break;
    case HOST_DOUBLE_ADD_SHARED:
        assert(h->shared == &r->hot.insns);
        g_string_append_printf(out, "add shared %u", (unsigned)h->value);
        break;
    case HOST_DOUBLE_STORE:
        g_string_append_printf(out, "%s %s", entry_name(r, h->entry), last_exit_name(h->value));
        break;
    case HOST_DOUBLE_MEMORY:
        g_string_append_printf(out, "%s -", memory[h->which]);
    }
}

const char *hooks_of(const struct gt_recorder *r, const struct gt_host_block *b)
{
    static GString *out;
    if (!out)
        out = g_string_new(NULL);
    g_string_truncate(out, 0);
    for (size_t i = 0; i < b->n_hooks; i++) {
        const struct host_double_hook *h = &b->hooks[i];
        g_string_append(out, i ? "; " : "");
        if (h->insn < 0)
            g_string_append(out, "block ");
        else
            g_string_append_printf(out, "%d ", h->insn);
        put_hook(out, r, h);
    }
    return out->str;
}

const char *translate(struct gt_recorder *r, struct gt_host_block *b)
{
    assert(host_double.self == r);
    host_double_translate(b);
    return hooks_of(r, b);
}
