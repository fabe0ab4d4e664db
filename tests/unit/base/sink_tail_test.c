/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet sinks: what a file ends with for now, and what waits for long on its way to a socket. */
#include "base/sink/sink.h"
#include "sink_util.h"

#include <signal.h>

enum { REST = 5000 }; /* bytes; more than follows in the end */

static struct {
    uint8_t data[REST];
    size_t n;
    struct gt_packet_sink *sink;
    struct gt_packet_buffer *held;
    pthread_mutex_t lock;
} producer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const uint8_t *put_provisional(void *self, size_t *n)
{
    (void)self;
    pthread_mutex_lock(&producer.lock);
    *n = producer.n;
    pthread_mutex_unlock(&producer.lock);
    return producer.data;
}

static void set_rest(size_t n)
{
    pthread_mutex_lock(&producer.lock);
    producer.n = n;
    pthread_mutex_unlock(&producer.lock);
}

static void check_file(uint64_t numbers, size_t tail)
{
    struct text t = read_file("out");
    assert_int_equal(t.n, 4 + 8 * numbers + tail);
    for (size_t i = 0; i < tail; i++)
        assert_int_equal(t.data[4 + 8 * numbers + i], 'r');
    t.n -= tail;
    check_numbers(&t, 0, numbers, 0);
    free(t.data);
}

/* Each flush shows it as it is; what is handed over takes its place. */
static void test_rest(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("out");
    memset(producer.data, 'r', REST);
    options.provisional = put_provisional;
    set_rest(REST);
    struct gt_packet_sink *o = create_with(&options);
    gt_packet_sink_flush(o);
    check_file(0, REST);
    put_numbers(o, 0, 10);
    gt_packet_sink_flush(o);
    check_file(10, REST);
    set_rest(7);
    gt_packet_sink_flush(o);
    check_file(10, 7);
    set_rest(0);
    gt_packet_sink_flush(o);
    check_file(10, 0);
    set_rest(REST);
    put_numbers(o, 10, 1000);
    gt_packet_sink_flush(o);
    check_file(1010, REST);
    finish(o);
    check_file(1010, 0);
}

/* It is shown without being asked for. */
static void test_rest_is_shown(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("out");
    options.provisional = put_provisional;
    set_rest(10);
    struct gt_packet_sink *o = create_with(&options);
    struct text t = {0};
    while (t.n < 14) {
        free(t.data);
        t = read_file("out");
    }
    free(t.data);
    set_rest(0);
    finish(o);
    check_file(0, 0);
}

/* There is no room for it: nothing is lost of the rest of the file. */
static void test_no_room(void **state)
{
    (void)state;
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    struct gt_packet_sink_options options = default_options("out");
    options.provisional = put_provisional;
    set_rest(REST);
    struct gt_packet_sink *o = create_with(&options);
    put_numbers(o, 0, 10);
    gt_packet_sink_flush(o);
    check_file(10, 0);
    struct gt_packet_sink_stats stats = finish(o);
    assert_false(stats.failed);
    check_file(10, 0);
    setrlimit(RLIMIT_FSIZE, &old);
}

/* It is there from the flush until the execve has failed, also after what another thread hands
 * over. */
static void test_exec(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("out");
    memset(producer.data, 'r', REST);
    options.exec_tail = put_provisional;
    set_rest(REST);
    struct gt_packet_sink *o = create_with(&options);
    put_numbers(o, 0, 10);
    gt_packet_sink_flush(o);
    check_file(10, 0);
    gt_packet_sink_exec_begin(o);
    gt_packet_sink_flush(o);
    check_file(10, REST);
    put_numbers(o, 10, 1000);
    gt_packet_sink_flush(o);
    check_file(1010, REST);
    gt_packet_sink_exec_end(o);
    check_file(1010, 0);
    put_numbers(o, 1010, 10);
    finish(o);
    check_file(1020, 0);
}

static void hand_over(void *self)
{
    (void)self;
    pthread_mutex_lock(&producer.lock);
    if (producer.held)
        producer.held = gt_packet_sink_try_exchange(producer.sink, producer.held);
    pthread_mutex_unlock(&producer.lock);
}

/* What a producer holds goes out at a tick. */
static void test_tick(void **state)
{
    (void)state;
    struct gt_packet_sink_options options = default_options("unix:sock");
    options.tick = hand_over;
    struct gt_packet_sink *o = create_with(&options);
    struct reader *r = start_reader("sock", 0, 0);
    uint64_t zero = 0;
    pthread_mutex_lock(&producer.lock);
    producer.sink = o;
    producer.held = gt_packet_sink_acquire(o);
    memcpy(producer.held->data, &zero, sizeof zero);
    producer.held->used = sizeof zero;
    pthread_mutex_unlock(&producer.lock);
    while (!reader_has(r, 4 + 8 - 1))
        ;
    pthread_mutex_lock(&producer.lock);
    struct gt_packet_buffer *held = producer.held;
    producer.held = NULL;
    pthread_mutex_unlock(&producer.lock);
    assert_int_equal(held->used, 0);
    free(held);
    finish(o);
    check_reader(r, 0, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_rest), IN_SCRATCH(test_rest_is_shown), IN_SCRATCH(test_no_room),
        IN_SCRATCH(test_exec), IN_SCRATCH(test_tick),
    };
    signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
