/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet sinks: files, full disks, and readers of sockets that come late, are slow, or go away. */
#include "base/sink/internal.h"
#include "base/sink/sink.h"
#include "sink_util.h"

static void test_file(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("out", 0);
    put_numbers(o, 0, 10000);
    struct gt_packet_sink_stats stats = finish(o);
    struct text t = read_file("out");
    check_numbers(&t, 0, 10000, 0);
    assert_int_equal(stats.sent, t.n);
    assert_int_equal(stats.dropped, 0);
    assert_false(stats.failed);
    free(t.data);
}

static void test_file_is_emptied(void **state)
{
    (void)state;
    write_file("out", 100000);
    finish(create_sink("out", 0));
    struct text t = read_file("out");
    check_numbers(&t, 0, 0, 0);
    free(t.data);
}

static void test_refused_targets(void **state)
{
    (void)state;
    char name[300];
    assert_int_equal(refused("no/such/folder/out"), GT_E_NOT_FOUND);
    assert_int_equal(refused("."), GT_E_IO);
    assert_int_equal(refused("unix:"), GT_E_USAGE);
    assert_int_equal(refused("unix:no/such/folder/out"), GT_E_NOT_FOUND);
    memset(name, 'x', sizeof name);
    memcpy(name, "unix:", 5);
    name[5 + 108] = '\0';
    assert_int_equal(refused(name), GT_E_RANGE);
    assert_non_null(strstr(last_error.text, "at most 107 bytes"));
    write_file("file", 5);
    assert_int_equal(refused("unix:file"), GT_E_EXISTS);
    struct text t = read_file("file");
    assert_int_equal(t.n, 5);
    free(t.data);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(refused("pipe"), GT_E_IO);
}

static void test_longest_path(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'x', sizeof name);
    memcpy(name, "unix:", 5);
    name[5 + 107] = '\0';
    struct gt_packet_sink *o = create_sink(name, 0);
    struct reader *r = start_reader(name + 5, 0, 0);
    put_numbers(o, 0, 10);
    finish(o);
    check_reader(r, 0, 10, 0);
}

/* A limit for the file's size is a full disk as far as write() goes; it is cut back to whole
 * buffers, and the producers never notice. */
static void test_full_disk(void **state)
{
    (void)state;
    struct rlimit old, small = {.rlim_cur = 10007, .rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    struct gt_packet_sink *o = create_sink("out", 0);
    put_numbers(o, 0, 100000);
    struct gt_error message;
    struct gt_packet_sink_stats stats;
    gt_packet_sink_finish(o, &stats);
    assert_true(gt_packet_sink_message(o, &message));
    assert_non_null(strstr(message.text, "out: File too large after"));
    assert_false(gt_packet_sink_message(o, &message));
    gt_packet_sink_destroy(o);
    setrlimit(RLIMIT_FSIZE, &old);
    struct text t = read_file("out");
    size_t whole = (10007 - 4) / BUFFER * BUFFER;
    assert_int_equal(t.n, 4 + whole);
    check_numbers(&t, 0, whole / 8, 0);
    assert_int_equal(stats.sent, t.n);
    assert_int_equal(stats.sent + stats.dropped, 4 + 100000 * 8);
    assert_true(stats.failed);
    free(t.data);
}

static void test_full_device(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("/dev/full", 0);
    put_numbers(o, 0, 100000);
    struct gt_packet_sink_stats stats = finish(o);
    assert_true(stats.failed);
    assert_int_equal(stats.dropped, 100000 * 8);
}

static void test_reader_is_there(void **state)
{
    (void)state;
    struct reader *r = start_server("sock", 0, 0);
    struct gt_packet_sink *o = create_sink("unix:sock", 0);
    put_numbers(o, 0, 100000);
    finish(o);
    check_reader(r, 0, 100000, 0);
}

/* It comes only when more is written than the memory holds: the producer has waited for it. */
static void test_reader_is_late(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("unix:sock", 0);
    struct gt_error message;
    assert_true(gt_packet_sink_message(o, &message));
    assert_non_null(strstr(message.text, "sock: waits for a reader, 60 s at most"));
    struct producer *p = start_producer(o, 100000);
    wait_for_waits(o);
    struct reader *r = start_reader("sock", 0, 0);
    end_producer(p);
    struct gt_packet_sink_stats stats = finish(o);
    check_reader(r, 0, 100000, 0);
    assert_true(stats.waits > 0);
    assert_int_equal(access("sock", F_OK), -1);
}

/* The guest is done long before. */
static void test_reader_comes_after_the_end(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("unix:sock", 0);
    put_numbers(o, 0, 100);
    struct reader *r = start_reader("sock", 0, 0);
    finish(o);
    check_reader(r, 0, 100, 0);
}

static void test_reader_never_comes(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.wait_seconds = 1;
    struct gt_packet_sink *o = create_with(&options);
    put_numbers(o, 0, 100000); /* more than the memory holds */
    struct gt_packet_sink_stats stats;
    struct gt_error message;
    gt_packet_sink_finish(o, &stats);
    assert_true(gt_packet_sink_message(o, &message));
    assert_non_null(strstr(message.text, "no reader came within 1 s; nothing is recorded"));
    gt_packet_sink_destroy(o);
    assert_int_equal(stats.sent, 0);
    assert_int_equal(stats.dropped, 100000 * 8);
    assert_int_equal(access("sock", F_OK), -1);
}

/* It is connected and reads nothing, while a producer waits and after the end has begun. */
static void test_reader_is_stuck(void **state)
{
    (void)state;
    struct reader *r = start_server("sock", READER_HELD, 0);
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.wait_seconds = 1;
    struct gt_packet_sink *o = create_with(&options);
    struct producer *p = start_producer(o, 200000);
    struct gt_packet_sink_stats stats;
    struct gt_error message;
    wait_for_waits(o);
    gt_packet_sink_expect_end(o);
    end_producer(p);
    gt_packet_sink_finish(o, &stats);
    assert_true(gt_packet_sink_message(o, &message));
    assert_non_null(strstr(message.text, "took nothing for 1 s after "));
    gt_packet_sink_destroy(o);
    release_reader(r);
    pthread_join(r->thread, NULL);
    assert_true(stats.failed && stats.sent == r->got.n);
    assert_true(stats.dropped >= 200000 * 8 - stats.sent);
    free(r->got.data);
    free(r);
}

/* So is what reads a pipe. */
static void test_pipe_is_stuck(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    struct gt_packet_sink_options options = default_options("pipe");
    options.wait_seconds = 1;
    struct gt_packet_sink *o = create_with(&options);
    struct producer *p = start_producer(o, 200000);
    wait_for_waits(o);
    gt_packet_sink_expect_end(o);
    end_producer(p);
    assert_true(finish(o).failed);
    close(reader);
}

/* Another program is about to replace the process. Afterwards a reader may take its time again. */
static void test_reader_is_stuck_at_exec(void **state)
{
    (void)state;
    struct reader *r = start_server("sock", READER_HELD, 0);
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.wait_seconds = 1;
    options.limit = 16 << 20; /* more than a socket takes */
    struct gt_packet_sink *o = create_with(&options);
    gt_packet_sink_exec_begin(o);
    gt_packet_sink_flush(o); /* nothing waits */
    gt_packet_sink_exec_end(o);
    put_numbers(o, 0, 500000);
    struct gt_error message;
    assert_false(gt_packet_sink_message(o, &message));
    gt_packet_sink_exec_begin(o);
    gt_packet_sink_flush(o);
    gt_packet_sink_exec_end(o);
    assert_true(gt_packet_sink_message(o, &message));
    assert_non_null(strstr(message.text, "took nothing for 1 s after "));
    assert_true(finish(o).failed);
    release_reader(r);
    pthread_join(r->thread, NULL);
    free(r->got.data);
    free(r);
}

static void test_reader_is_slow(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("unix:sock", 0);
    struct reader *r = start_reader("sock", 0, 100); /* bytes at a time */
    put_numbers(o, 0, 100000);
    struct gt_packet_sink_stats stats = finish(o);
    check_reader(r, 0, 100000, 0);
    assert_true(stats.waits > 0);
}

/* It reads nothing until the producer is done: only what fits is sent, the rest is counted, and
 * marked where the stream goes on. */
static void test_drop(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.drop = true;
    struct gt_packet_sink *o = create_with(&options);
    struct reader *r = start_reader("sock", READER_HELD, 0);
    put_numbers(o, 0, 1000000);
    release_reader(r);
    struct gt_packet_sink_stats stats = finish(o);
    assert_true(stats.dropped > 0);
    assert_int_equal(stats.waits, 0);
    assert_false(stats.failed);
    check_reader(r, 0, 1000000, stats.dropped / 8);
}

static void test_reader_is_killed(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("unix:sock", 0);
    struct reader *r = start_reader("sock", 5000, 0); /* goes after so many bytes */
    put_numbers(o, 0, 1000000);
    struct gt_packet_sink_stats stats;
    struct gt_error message;
    gt_packet_sink_finish(o, &stats);
    assert_true(gt_packet_sink_message(o, &message));
    assert_non_null(strstr(message.text, "sock: the reader is gone ("));
    assert_non_null(strstr(message.text, "the rest is dropped"));
    gt_packet_sink_destroy(o);
    assert_true(stats.failed);
    assert_true(stats.dropped > 0 && stats.sent >= 5000);
    end_reader(r);
}

/* After the first one is gone the stream begins again for the second. */
static void test_reader_comes_again(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.reconnect = true;
    struct gt_packet_sink *o = create_with(&options);
    struct gt_error message;
    struct reader *first = start_reader("sock", 5000, 0);
    uint64_t n = 0;
    gt_packet_sink_message(o, &message);
    while (!gt_packet_sink_message(o, &message))
        put_numbers(o, n++, 1);
    assert_non_null(strstr(message.text, "what comes is dropped until there is a reader again"));
    end_reader(first);
    struct reader *second = start_reader("sock", 0, 0);
    while (!reader_has(second, 4 + 2 * 8))
        put_numbers(o, n++, 1);
    put_numbers(o, n, 1000);
    struct gt_packet_sink_stats stats = finish(o);
    check_resumed(second, n + 1000, stats.dropped);
}

/* The same where the reader listens. */
static void test_server_comes_again(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.reconnect = true;
    struct reader *first = start_server("sock", 5000, 0);
    struct gt_packet_sink *o = create_with(&options);
    struct gt_error message;
    uint64_t n = 0;
    while (!gt_packet_sink_message(o, &message))
        put_numbers(o, n++, 1);
    end_reader(first);
    unlink("sock");
    struct reader *second = start_server("sock", 0, 0);
    while (!reader_has(second, 4 + 2 * 8))
        put_numbers(o, n++, 1);
    put_numbers(o, n, 1000);
    struct gt_packet_sink_stats stats = finish(o);
    check_resumed(second, n + 1000, stats.dropped);
}

/* Who has connected to a reader connects again; the path is the reader's to listen at. */
static void test_client_stays_client(void **state)
{
    (void)state;
    char path[] = "sock";
    struct gt_packet_channel c = {.path = path, .socket = true, .fd = -1, .listener = {.fd = -1}};
    int server = listen_at("sock");
    assert_int_equal(gt_packet_channel_open(&c, NULL), 0);
    assert_true(c.fd >= 0 && c.listener.fd < 0);
    gt_packet_channel_disconnect(&c);
    close(server);
    assert_false(gt_packet_channel_accept(&c, 0)); /* the dead one's socket */
    unlink("sock");
    assert_false(gt_packet_channel_accept(&c, 0));
    assert_int_equal(c.listener.fd, -1);
    assert_int_not_equal(access("sock", F_OK), 0);
    server = listen_at("sock");
    assert_true(gt_packet_channel_accept(&c, 0));
    gt_packet_channel_close(&c);
    close(server);
}

/* The second is sent away and gets nothing; the first gets all. */
static void two_readers(bool reconnect)
{
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.reconnect = reconnect;
    struct gt_packet_sink *o = create_with(&options);
    struct reader *first = start_reader("sock", 0, 0);
    while (!reader_has(first, 0))
        ;
    size_t got = read_as_second("sock");
    assert_int_equal(got, 0);
    put_numbers(o, 0, 100000);
    finish(o);
    check_reader(first, 0, 100000, 0);
}

static void test_two_readers(void **state)
{
    (void)state;
    two_readers(false);
    two_readers(true);
}

/* What a run that was killed has left. */
static void test_stale_socket(void **state)
{
    (void)state;
    close(listen_at("sock"));
    struct gt_packet_sink *o = create_sink("unix:sock", 0);
    struct reader *r = start_reader("sock", 0, 0);
    put_numbers(o, 0, 100);
    finish(o);
    check_reader(r, 0, 100, 0);
}

static void test_fork(void **state)
{
    (void)state;
    struct gt_packet_sink *o = create_sink("out", 0);
    put_numbers(o, 0, 1000);
    gt_packet_sink_fork_prepare(o);
    pid_t child = fork();
    if (child == 0) {
        gt_packet_sink_fork_child(o);
        struct gt_error message;
        put_numbers(o, 5000, 100000);
        gt_packet_sink_finish(o, NULL);
        _exit(gt_packet_sink_message(o, &message));
    }
    gt_packet_sink_fork_parent(o);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    put_numbers(o, 1000, 1000);
    finish(o);
    struct text t = read_file("out");
    check_numbers(&t, 0, 2000, 0);
    free(t.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_file),
        IN_SCRATCH(test_file_is_emptied),
        IN_SCRATCH(test_refused_targets),
        IN_SCRATCH(test_longest_path),
        IN_SCRATCH(test_full_disk),
        IN_SCRATCH(test_full_device),
        IN_SCRATCH(test_reader_is_there),
        IN_SCRATCH(test_reader_is_late),
        IN_SCRATCH(test_reader_comes_after_the_end),
        IN_SCRATCH(test_reader_never_comes),
        IN_SCRATCH(test_reader_is_stuck),
        IN_SCRATCH(test_reader_is_stuck_at_exec),
        IN_SCRATCH(test_pipe_is_stuck),
        IN_SCRATCH(test_reader_is_slow),
        IN_SCRATCH(test_drop),
        IN_SCRATCH(test_reader_is_killed),
        IN_SCRATCH(test_reader_comes_again),
        IN_SCRATCH(test_server_comes_again),
        IN_SCRATCH(test_client_stays_client),
        IN_SCRATCH(test_two_readers),
        IN_SCRATCH(test_stale_socket),
        IN_SCRATCH(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
