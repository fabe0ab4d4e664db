/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared objects come and go while threads record, switch and list events. What an object's events
 * recorded keeps its name when the object is gone. The program has the runtime as a shared library;
 * its arguments are two objects.
 */
#include "handmade.h"
#include "trace_file.h"

#include <guesttrace/control.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 100, EACH = 200, THREADS = 3 };

static char *objects[2];
static _Atomic bool done;
static _Atomic uint64_t fired;

static void *record(void *thread)
{
    uint64_t i = 0;
    do
        trace_hm_two((int)(intptr_t)thread, i++);
    while (!done);
    fired += i;
    return NULL;
}

static int look(struct gt_trace_event *event, void *context)
{
    *(size_t *)context += strlen(event->name);
    return 0;
}

static void *control(void *unused)
{
    size_t n = 0;
    while (!done) {
        gt_trace_switch_all("*_event", true, NULL);
        gt_trace_each(NULL, "*_event", look, &n);
        gt_trace_file_flush(NULL);
    }
    return unused;
}

static void load_and_fire(const char *path, uint64_t round)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        fail_msg("%s", dlerror());
    void (*fire)(uint64_t, uint64_t) = (void (*)(uint64_t, uint64_t))dlsym(object, "plugin_fire");
    for (uint64_t i = 0; i < EACH; i++)
        fire(i, round);
    assert_int_equal(dlclose(object), 0);
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
}

static void test_load(void **state)
{
    (void)state;
    pthread_t threads[THREADS + 1];
    gt_trace_set_backends(GT_TRACE_SIMPLE);
    assert_int_equal(gt_trace_file_set("loaded", NULL), GT_TRACE_OK);
    gt_trace_switch_all("hm_two", true, NULL);
    gt_trace_switch_all("*_event", true, NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record, (void *)i);
    pthread_create(&threads[THREADS], NULL, control, NULL);
    for (uint64_t round = 0; round < ROUNDS; round++)
        load_and_fire(objects[round % 2], round);
    assert_null(gt_trace_find("one_event"));
    done = true;
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(gt_trace_file_flush(NULL), GT_TRACE_OK);
    struct trace_file f = trace_file_read("loaded");
    assert_int_equal(trace_file_count(&f, "hm_two"), fired);
    assert_int_equal(f.count, fired + ROUNDS * EACH);
    uint64_t next = 0;
    for (size_t i = 0; i < f.count; i++) {
        struct trace_record *r = &f.records[i];
        if (strcmp(r->name, "hm_two") == 0)
            continue;
        assert_int_equal(take_u64(r), next % EACH);
        assert_int_equal(take_u64(r), next / EACH);
        assert_string_equal(r->name, next / EACH % 2 ? "two_event" : "one_event");
        next++;
    }
    trace_file_free(&f);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/events-load-XXXXXX";
    for (int i = 0; i < 2; i++)
        objects[i] = argc > 2 ? realpath(argv[i + 1], NULL) : NULL;
    if (!objects[0] || !objects[1] || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("loaded");
    rmdir(folder);
    free(objects[0]);
    free(objects[1]);
    return failed;
}
