/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker: calls run on its thread, one at a time, and what they open is not the process's. */
#include "../sanitizer.h"
#include "base/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_thread_worker *create(void)
{
    struct gt_thread_worker *w = NULL;
    assert_int_equal(gt_thread_worker_create(&w, NULL), 0);
    return w;
}

static int lowest(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

struct opened {
    int first, fd;
    pthread_t thread;
    bool term_blocked;
    ssize_t written;
};

static void open_one(void *arg)
{
    struct opened *o = arg;
    sigset_t now;
    o->first = lowest();
    o->fd = open("/dev/zero", O_RDONLY);
    o->thread = pthread_self();
    o->written = write(2, "x", 1); /* what a library prints goes nowhere */
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    o->term_blocked = sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGXFSZ) == 1;
}

static void read_one(void *arg)
{
    struct opened *o = arg;
    char c = 1;
    o->written = read(o->fd, &c, 1) + c;
}

static void test_private(void **state)
{
    (void)state;
    int first = lowest();
    struct gt_thread_worker *w = create();
    struct opened o;
    assert_true(gt_thread_worker_private_files(w));
    assert_int_equal(lowest(), first);
    assert_int_equal(gt_thread_worker_call(w, open_one, &o), 0);
    assert_int_equal(o.first, 3);
    assert_int_equal(o.fd, 3);
    assert_int_equal(o.written, -1);
    assert_true(o.term_blocked);
    assert_false(pthread_equal(o.thread, pthread_self()));
    assert_int_equal(lowest(), first);
    for (int fd = first; fd < first + 10; fd++)
        close(fd);
    assert_int_equal(gt_thread_worker_call(w, read_one, &o), 0);
    assert_int_equal(o.written, 1);
    gt_thread_worker_destroy(w);
    gt_thread_worker_destroy(NULL);
}

struct count {
    struct gt_thread_worker *w;
    long calls; /* plain: the worker serialises */
    unsigned inside, most;
};

static void add(void *arg)
{
    struct count *c = arg;
    c->inside++;
    c->most = c->inside > c->most ? c->inside : c->most;
    c->calls++;
    c->inside--;
}

static void add_within(void *arg)
{
    struct count *c = arg;
    gt_thread_worker_call(c->w, add, c);
}

static void *call_often(void *arg)
{
    struct count *c = arg;
    for (unsigned i = 0; i < 500; i++)
        gt_thread_worker_call(c->w, i % 2 ? add : add_within, c);
    return NULL;
}

static void test_serialised(void **state)
{
    (void)state;
    struct count c = {.w = create()};
    pthread_t t[6];
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&t[i], NULL, call_often, &c), 0);
    for (unsigned i = 0; i < 6; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(c.calls, 3000);
    assert_int_equal(c.most, 1);
    gt_thread_worker_destroy(c.w);
}

struct number {
    long *sum; /* its digits are the numbers so far */
    long digit;
};

static void append(void *data)
{
    const struct number *n = data;
    *n->sum = *n->sum * 10 + n->digit;
}

/* Posts run in their order, before calls that come later; a copy of the data is theirs. */
static void test_posts(void **state)
{
    (void)state;
    struct gt_thread_worker *w = create();
    struct count c = {.w = w};
    for (int round = 0; round < 100; round++) {
        long sum = 0;
        for (long i = 1; i <= 5; i++) {
            struct number n = {&sum, i};
            assert_int_equal(gt_thread_worker_post(w, append, &n, sizeof n), 0);
            n.digit = 9;
        }
        assert_int_equal(gt_thread_worker_call(w, add, &c), 0);
        assert_int_equal(sum, 12345);
    }
    long sum = 0;
    for (long i = 1; i <= 5; i++)
        gt_thread_worker_post(w, append, &(struct number){&sum, i}, sizeof(struct number));
    gt_thread_worker_stop(w);
    assert_int_equal(sum, 12345);
    assert_int_equal(
        gt_thread_worker_post(w, append, &(struct number){&sum, 6}, sizeof(struct number)),
        GT_E_IO);
    assert_int_equal(gt_thread_worker_call(w, add, &c), GT_E_IO);
    assert_int_equal(sum, 12345);
    gt_thread_worker_destroy(w);
}

static void test_fork(void **state)
{
    (void)state;
    struct count c = {.w = create()};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, call_often, &c), 0);
    for (unsigned i = 0; i < 30; i++) {
        gt_thread_worker_fork_prepare(c.w);
        pid_t child = fork();
        if (child == 0) {
            struct opened o = {0};
            if (!THREADS_AFTER_FORK)
                _exit(0);
            gt_thread_worker_fork_child(c.w);
            long before = c.calls;
            if (i % 3 && (gt_thread_worker_call(c.w, add, &c) != 0 || c.calls != before + 1))
                _exit(1);
            if (i % 3 == 2 && (gt_thread_worker_call(c.w, open_one, &o) != 0 || o.fd != 3))
                _exit(2);
            gt_thread_worker_destroy(c.w);
            _exit(0);
        }
        gt_thread_worker_fork_parent(c.w);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    pthread_join(t, NULL);
    assert_int_equal(c.calls, 500);
    gt_thread_worker_destroy(c.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_serialised),
        cmocka_unit_test(test_posts),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
