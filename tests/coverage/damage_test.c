/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * convert and coverage of streams that are cut at every byte, and of streams in which a byte is
 * another: all in this process, so that a sanitizer sees it. The code of the streams is this
 * program's own.
 *
 * What is made of a stream that is cut within a packet is what is made of the packets before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/command.h"
#include "etrace/coverage/program.h"
#include "etrace/coverage/stream.h"
#include "etrace/format/etrace.h"

#include <elf.h>
#include <fcntl.h>
#include <glib.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

extern const char __executable_start[];

static char *folder, *stream_path, *out_path, *self_path, *self_at_0;
static int messages, said; /* where messages go, and the standard error */
static uint8_t stream[1024];
static size_t border[32], n_borders, size;

static uint64_t place(void (*code)(void))
{
    return (uint64_t)(uintptr_t)code - (uint64_t)(uintptr_t)__executable_start;
}

/* Code of the streams; never called. */
static void first(void)
{
    __asm__ volatile("" ::: "memory");
}

static void add_packet(struct gt_bytes_writer *w)
{
    size = (size_t)(w->at - stream);
    border[n_borders++] = size;
}

static void add_exec(struct gt_bytes_writer *w, uint16_t unit, uint64_t time)
{
    uint8_t packet[256];
    struct gt_etrace_run run;
    uint64_t at = place(first), end = place((void (*)(void))add_packet);
    gt_etrace_run_init(&run, packet, sizeof packet, unit, 64);
    assert_true(gt_etrace_run_add(&run, at, at + 4, time, time + 5));
    assert_true(gt_etrace_run_add(&run, end, end + 8, time + 5, time + 6));
    assert_true(gt_etrace_run_add(&run, 0x1000, 0x1010, time + 6, time + 9));
    size_t n = gt_etrace_run_take(&run);
    assert_true(n <= w->left);
    memcpy(w->at, packet, n);
    w->at += n;
    w->left -= n;
    add_packet(w);
}

/* counts: those of blocks instead of entries */
static void make_stream(bool counts)
{
    struct gt_bytes_writer w;
    const struct gt_etrace_arch_side side = {EM_X86_64, 64, 0};
    char name[64];
    gt_bytes_writer_init(&w, stream, sizeof stream);
    n_borders = 0;
    gt_etrace_put_info(&w, &(struct gt_etrace_info){0});
    add_packet(&w);
    gt_etrace_put_arch(&w, &(struct gt_etrace_arch){side, side});
    add_packet(&w);
    g_snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x-0x%" G_GINT64_MODIFIER "x",
               place(first), place(first) + 3);
    for (uint64_t i = 0; i < 2; i++) {
        if (!counts)
            add_exec(&w, (uint16_t)(7 * i), 100 * i);
        gt_etrace_put_event(&w, &(struct gt_etrace_event){.time = 5 + i,
                                                          .value = 3 + i,
                                                          .previous = i ? 3 : 0,
                                                          .device = "coverage",
                                                          .name = name});
        add_packet(&w);
    }
    gt_etrace_put_note(&w, 0, &(struct gt_etrace_note){9, "note", 4});
    add_packet(&w);
    gt_etrace_put_mem(&w, 0, &(struct gt_etrace_mem){.time = 1, .size = 8});
    add_packet(&w);
    assert_false(w.short_of);
}

static void write_stream(size_t n)
{
    int fd = open(stream_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, stream, n), n);
    /* ext4 waits for the disk where that comes first. */
    assert_int_equal(ftruncate(fd, (off_t)n), 0);
    close(fd);
}

/* ---- convert ------------------------------------------------------------------------------- */

/* *out is "" where nothing was made: there was no packet. */
static int convert(const char *format, bool named, char **out)
{
    const struct gt_cli_command *c = &gt_cli_command_convert;
    char *argv[] = {(char *)"-f", (char *)format,  (char *)"-o", out_path,
                    stream_path,  (char *)"--elf", self_at_0};
    g_autofree void *options = g_malloc0(c->options_size);
    g_autoptr(GPtrArray) operands = g_ptr_array_new();
    assert_int_equal(
        gt_cli_options_parse(&c->spec, options, named ? 7 : 5, argv, operands, NULL, NULL), 0);
    size_t n = operands->len;
    g_ptr_array_add(operands, NULL);
    dup2(messages, STDERR_FILENO);
    int status = c->run(c, options, n, (char **)operands->pdata);
    dup2(said, STDERR_FILENO);
    gt_cli_options_clear(&c->spec, options);
    if (!g_file_get_contents(out_path, out, NULL, NULL))
        *out = g_strdup("");
    unlink(out_path);
    return status;
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void check_chrome(const char *out)
{
    assert_int_equal(count_of(out, "\"ph\":\"B\""), count_of(out, "\"ph\":\"E\""));
    assert_true(!*out || g_str_has_suffix(out, "\n]}\n"));
}

/* Names of this program take a hundred times as long as the rest: they are looked up in one of
 * 29 streams, in each with GUESTTRACE_LONG. */
static bool is_named(size_t at)
{
    return at % 29 == 0 || g_getenv("GUESTTRACE_LONG");
}

static void cut_converted(const char *format)
{
    bool named = strcmp(format, "folded") == 0;
    g_autofree char *expected = g_strdup("");
    size_t next = 0;
    for (size_t cut = 1; cut <= size; cut++) {
        g_autofree char *out = NULL;
        bool whole = cut == border[next];
        if (named && !whole && !is_named(cut))
            continue;
        write_stream(cut);
        assert_int_equal(convert(format, named, &out), whole ? GT_EXIT_DONE : GT_EXIT_FAILED);
        if (strcmp(format, "chrome") == 0)
            check_chrome(out);
        if (whole) {
            g_free(expected);
            expected = g_steal_pointer(&out);
            next++;
        } else {
            assert_string_equal(out, expected);
        }
    }
    assert_int_equal(next, n_borders);
}

static void test_convert_cut(void **state)
{
    static const char *const formats[] = {"chrome", "folded", "vcd"};
    (void)state;
    make_stream(false);
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        cut_converted(formats[i]);
    g_autofree char *out = NULL;
    write_stream(size);
    assert_int_equal(convert("folded", true, &out), GT_EXIT_DONE);
    assert_non_null(strstr(out, "CPU 0;first"));
    assert_non_null(strstr(out, "CPU 7;first"));
}

/* A byte of the stream that is another. */
static void with_bytes(void (*check)(size_t at), size_t n_flips)
{
    static const uint8_t flips[] = {0xff, 0x01, 0x80};
    for (size_t at = 0; at < size; at++) {
        for (size_t k = 0; k < n_flips; k++) {
            stream[at] ^= flips[k];
            write_stream(size);
            check(at);
            stream[at] ^= flips[k];
        }
    }
}

static void convert_other(size_t at)
{
    static const char *const formats[] = {"chrome", "folded", "vcd"};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *out = NULL;
        int status = convert(formats[i], i == 1 && is_named(at), &out);
        assert_true(status == GT_EXIT_DONE || status == GT_EXIT_FAILED);
        if (i == 0)
            check_chrome(out);
        if (at < 2)
            assert_int_equal(status, GT_EXIT_FAILED); /* the stream's first word */
    }
}

static void test_convert_other_bytes(void **state)
{
    (void)state;
    make_stream(false);
    with_bytes(convert_other, 1);
}

/* ---- coverage ------------------------------------------------------------------------------ */

static struct gt_coverage_program program;
static struct gt_coverage counts;

static int count(struct gt_error *err)
{
    struct gt_coverage_stream found;
    gt_coverage_reset(&counts);
    dup2(messages, STDERR_FILENO);
    struct gt_recording_input in;
    const struct gt_error_notices notices = gt_cli_command_notices(&gt_cli_command_coverage);
    int status = gt_recording_input_open(&in, stream_path, err);
    if (status == 0)
        status = gt_coverage_read(&notices, &in, &counts, &found, err);
    gt_recording_input_close(&in);
    dup2(said, STDERR_FILENO);
    return status;
}

static void cut_counted(void)
{
    uint64_t entries = 0, added = 0;
    size_t next = 0;
    for (size_t cut = 1; cut <= size; cut++) {
        struct gt_error err = {0};
        bool whole = cut == border[next];
        write_stream(cut);
        assert_int_equal(count(&err), whole ? GT_OK : GT_E_TRUNC);
        if (whole) {
            entries = counts.entries;
            added = counts.added;
            next++;
        }
        assert_int_equal(counts.entries, entries);
        assert_int_equal(counts.added, added);
    }
    assert_int_equal(next, n_borders);
}

static uint64_t times_of_first(void)
{
    gt_coverage_finish(&counts);
    return gt_coverage_at(&counts, place(first));
}

static void test_coverage_cut(void **state)
{
    (void)state;
    make_stream(false);
    cut_counted();
    assert_int_equal(counts.entries, 6);
    assert_int_equal(counts.elsewhere, 2);
    assert_int_equal(times_of_first(), 2);
    make_stream(true);
    cut_counted();
    assert_int_equal(times_of_first(), 4);
}

static void count_other(size_t at)
{
    struct gt_error err = {0};
    int status = count(&err);
    assert_true(status <= 0);
    assert_int_equal(status < 0, err.text[0] != '\0');
    if (at < 2)
        assert_int_equal(status, GT_E_FORMAT);
    times_of_first();
}

static void test_coverage_other_bytes(void **state)
{
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        make_stream(blocks);
        with_bytes(count_other, 3);
    }
}

/* ---- all ----------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("guesttrace-damage-XXXXXX", NULL);
    stream_path = g_build_filename(folder, "stream", NULL);
    out_path = g_build_filename(folder, "out", NULL);
    self_path = g_file_read_link("/proc/self/exe", NULL);
    self_at_0 = g_strconcat(self_path, ":0", NULL);
    messages = open("/dev/null", O_WRONLY | O_CLOEXEC);
    said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (!folder || !self_path || messages < 0 || said < 0)
        return -1;
    struct gt_error err = {0};
    return gt_coverage_program_open(self_path, 0, &program, &counts, &err) ||
           gt_coverage_begin(&counts, &err);
}

static int tear_down(void **state)
{
    (void)state;
    gt_coverage_program_close(&program);
    gt_coverage_free(&counts);
    char *paths[] = {stream_path, out_path};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        unlink(paths[i]);
        g_free(paths[i]);
    }
    g_free(self_path);
    rmdir(folder);
    g_free(folder);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert_cut),
        cmocka_unit_test(test_convert_other_bytes),
        cmocka_unit_test(test_coverage_cut),
        cmocka_unit_test(test_coverage_other_bytes),
    };
    mallopt(M_TRIM_THRESHOLD, 64 << 20); /* new pages would take longer than the rest */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
