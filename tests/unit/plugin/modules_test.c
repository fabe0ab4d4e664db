/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules of a user-mode guest, which is this process itself: what is read again, and what not. */
#include "guest/process.h"
#include "qemu/support/modules.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, TIMES = 100 };

static struct gt_support_modules modules;
static unsigned maps_read, symbols_read, added;

int __real_gt_process_mapping_at(uint64_t host_addr, struct gt_process_mapping *out);
int __wrap_gt_process_mapping_at(uint64_t host_addr, struct gt_process_mapping *out);
int __wrap_gt_process_mapping_at(uint64_t host_addr, struct gt_process_mapping *out)
{
    maps_read++;
    return __real_gt_process_mapping_at(host_addr, out);
}

int __wrap_gt_elf_symbols_load(const char *path, struct gt_elf_symbols **out, struct gt_error *err);
int __wrap_gt_elf_symbols_load(const char *path, struct gt_elf_symbols **out, struct gt_error *err)
{
    (void)path;
    symbols_read++;
    *out = NULL;
    return gt_error_set(err, GT_E_FORMAT, "no symbols here");
}

static void on_added(void *self, struct gt_support_module *m)
{
    (void)self, (void)m;
    added++;
}

static int setup(void **state)
{
    (void)state;
    maps_read = symbols_read = added = 0;
    gt_support_modules_init(&modules, true, on_added, NULL);
    modules.has_base = true;
    return gt_thread_worker_create(&modules.worker, NULL);
}

static int teardown(void **state)
{
    (void)state;
    gt_thread_worker_destroy(modules.worker);
    return 0;
}

static struct gt_support_module *module_at(const char *at)
{
    return gt_support_modules_at(&modules, (uintptr_t)at, at);
}

static char *map(void *at, int fd)
{
    int flags = (fd < 0 ? MAP_ANONYMOUS : 0) | (at ? MAP_FIXED : 0) | MAP_PRIVATE;
    char *p = mmap(at, PAGE, PROT_READ, flags, fd, 0);
    assert_true(p != MAP_FAILED);
    gt_support_modules_mapped(&modules, (uintptr_t)p, PAGE, fd < 0);
    return p;
}

static void unmap(char *p)
{
    gt_support_modules_unmapped(&modules, (uintptr_t)p, PAGE);
    munmap(p, PAGE);
}

static int make_file(char *path, char fill)
{
    char bytes[PAGE];
    memset(bytes, fill, sizeof bytes);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    return fd;
}

static void test_code_without_a_file_reads_no_map(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        char *p = map(NULL, -1);
        assert_string_equal(module_at(p)->path, "guest");
        unmap(p);
    }
    assert_int_equal(maps_read, 0);
    /* One that nobody told of: once, for all of its blocks. */
    char *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < TIMES; i++)
        assert_string_equal(module_at(p + i)->path, "guest");
    assert_int_equal(maps_read, 1);
    munmap(p, PAGE);
}

static void test_a_file_over_memory_is_found(void **state)
{
    (void)state;
    char path[] = "/tmp/gt-modules-XXXXXX";
    int fd = make_file(path, 1);
    char *p = map(NULL, -1);
    assert_string_equal(module_at(p)->path, "guest");
    map(p, fd);
    assert_string_equal(module_at(p)->path, path);
    unmap(p);
    map(p, -1);
    assert_string_equal(module_at(p)->path, "guest");
    unmap(p);
    close(fd);
    unlink(path);
}

static void test_the_same_file_is_read_once(void **state)
{
    (void)state;
    char path[] = "/tmp/gt-modules-XXXXXX";
    int fd = make_file(path, 1);
    char *place = map(NULL, -1);
    struct gt_support_module *first = NULL;
    for (int i = 0; i < TIMES; i++) {
        map(place, fd);
        struct gt_support_module *m = module_at(place);
        assert_true(!first || m == first);
        first = m;
        unmap(place);
    }
    assert_int_equal(symbols_read, 1);
    assert_int_equal(added, 1);
    assert_int_equal(modules.all->len, 2);
    close(fd);
    unlink(path);
}

/* The time of change alone says so: the inode and the size stay. */
static void test_a_file_that_changed_is_read_again(void **state)
{
    (void)state;
    char path[] = "/tmp/gt-modules-XXXXXX";
    int fd = make_file(path, 1);
    char *place = map(NULL, fd);
    struct gt_support_module *first = module_at(place);
    unmap(place);
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(futimens(fd, times), 0);
    map(place, fd);
    assert_true(module_at(place) != first);
    assert_int_equal(symbols_read, 2);
    unmap(place);
    close(fd);
    unlink(path);
}

/* One module after the other in one place: each is announced anew, for its time. */
static void test_two_files_take_turns(void **state)
{
    (void)state;
    char path_a[] = "/tmp/gt-modules-XXXXXX", path_b[] = "/tmp/gt-modules-XXXXXX";
    int a = make_file(path_a, 1), b = make_file(path_b, 2);
    char *place = map(NULL, -1);
    for (int i = 0; i < TIMES; i++) {
        map(place, i % 2 ? b : a);
        assert_string_equal(module_at(place)->path, i % 2 ? path_b : path_a);
        unmap(place);
    }
    assert_int_equal(symbols_read, 2);
    assert_int_equal(added, TIMES);
    assert_int_equal(modules.all->len, 3);
    close(a);
    close(b);
    unlink(path_a);
    unlink(path_b);
}

/* Each time elsewhere: what the newest costs does not grow with those before it. */
static void test_a_file_in_many_places(void **state)
{
    (void)state;
    char path[] = "/tmp/gt-modules-XXXXXX", other_path[] = "/tmp/gt-modules-XXXXXX";
    int fd = make_file(path, 1), other = make_file(other_path, 2);
    char *room = mmap(NULL, (TIMES + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *alone = map(room + TIMES * PAGE, other);
    struct gt_support_module *first = NULL, *single = module_at(alone);
    for (int i = 0; i < TIMES; i++) {
        char *p = map(room + i * PAGE, fd);
        struct gt_support_module *m = module_at(p);
        assert_string_equal(m->path, path);
        assert_int_equal(modules.displaced->len, i > 0);
        first = first ? first : m;
        unmap(p);
    }
    assert_true(first->apart && !single->apart);
    assert_int_equal(symbols_read, 2);
    assert_int_equal(added, TIMES + 1);
    assert_int_equal(modules.all->len, TIMES + 2);
    unmap(alone);
    munmap(room, TIMES * PAGE);
    close(fd);
    close(other);
    unlink(path);
    unlink(other_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_code_without_a_file_reads_no_map, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_over_memory_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_same_file_is_read_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_changed_is_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_files_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_in_many_places, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
