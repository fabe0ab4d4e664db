/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end while a callback does not end: it is waited for only so long, and finds all as it was. */
#include "qemu/support/gate.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct vcpu {
    uint32_t word;
    unsigned long callbacks; /* what they write, without more than the gate */
    char others[48];
};

static struct gt_gate gate;
static struct vcpu vcpus[2];
static pthread_barrier_t met;
static bool entered_again;

static struct gt_gate_words words(void)
{
    return (struct gt_gate_words){&vcpus[0].word, sizeof vcpus[0], 2};
}

/* A callback that is under way until the end is over, and the next one of the same vCPU. */
static void *callback(void *arg)
{
    struct vcpu *v = arg;
    if (!gt_gate_enter(&gate, &v->word))
        abort();
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    gt_gate_leave(&v->word);
    entered_again = gt_gate_enter(&gate, &v->word);
    return NULL;
}

static void test_callback_that_does_not_end(void **state)
{
    (void)state;
    pthread_t thread;
    gt_gate_init(&gate);
    pthread_barrier_init(&met, NULL, 2);
    pthread_create(&thread, NULL, callback, &vcpus[1]);
    pthread_barrier_wait(&met);
    const struct gt_gate_words all = words();
    assert_int_equal(gt_gate_end(&gate, &all), GT_GATE_NOT_QUIET);
    assert_true(gt_gate_ends(&gate));
    assert_true(gt_gate_is_under_way(&vcpus[1].word));
    gt_gate_close(&gate);
    assert_int_equal(gt_gate_end(&gate, &all), GT_GATE_ENDED);
    assert_false(gt_gate_hold(&gate, &all));
    pthread_barrier_wait(&met);
    pthread_join(thread, NULL);
    assert_false(entered_again);
    assert_false(gt_gate_is_under_way(&vcpus[1].word));
}

static void *comes(void *arg)
{
    struct vcpu *v = arg;
    pthread_barrier_wait(&met);
    while (gt_gate_enter(&gate, &v->word)) {
        v->callbacks++;
        gt_gate_leave(&v->word);
    }
    return NULL;
}

/* Callbacks that come all the time: none is under way at the end, and none begins after it. */
static void test_callbacks_that_come(void **state)
{
    (void)state;
    pthread_t thread[2];
    gate = (struct gt_gate){0};
    gt_gate_init(&gate);
    pthread_barrier_init(&met, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, comes, &vcpus[i]);
    pthread_barrier_wait(&met);
    const struct gt_gate_words all = words();
    for (int i = 0; i < 100; i++) {
        assert_true(gt_gate_hold(&gate, &all));
        unsigned long n = vcpus[0].callbacks + vcpus[1].callbacks;
        sched_yield();
        assert_int_equal(n, vcpus[0].callbacks + vcpus[1].callbacks);
        gt_gate_open(&gate);
    }
    assert_int_equal(gt_gate_end(&gate, &all), GT_GATE_QUIET);
    unsigned long n = vcpus[0].callbacks + vcpus[1].callbacks;
    gt_gate_close(&gate);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(n, vcpus[0].callbacks + vcpus[1].callbacks);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callback_that_does_not_end),
        cmocka_unit_test(test_callbacks_that_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
