/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of what arguments point to, by request and by the table of names. */
#include "calls/arguments/fields.h"
#include "guest/types/declarations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char text[] =
    "struct qstr { unsigned long hash; unsigned char *name; };\n"
    "struct dentry { int count; struct qstr d_name; char d_iname[32]; };\n"
    "struct path { void *mnt; struct dentry *dentry; };\n"
    "struct file { unsigned mode : 3; struct path f_path; long pos; char *text; char tag[6]; };\n"
    "struct task_struct { long state; char comm[16]; };\n"
    "struct small { int a; short b; };\n"
    "long f(struct file *file, double d, struct small s, struct task_struct *task, int n);\n";

static void expect_items(const struct gt_value_spec *spec, const char *const *expected)
{
    char source[GT_VALUE_SOURCE_TEXT], line[600];
    size_t n = spec->n_arguments + spec->n_returns;

    for (size_t i = 0; i < n; i++) {
        const struct gt_value_item *item = &spec->item[i];
        assert_int_equal(gt_value_source_write(source, item), 0);
        snprintf(line, sizeof line, "%s %c %u %s", item->name ? item->name : "-", item->format,
                 item->size, source);
        assert_non_null(expected[i]);
        assert_string_equal(line, expected[i]);
    }
    assert_null(expected[n]);
}

struct made {
    struct gt_type_prototypes *types;
    struct gt_arguments *a;
    const struct gt_type_prototype *p;
    struct gt_value_spec spec;
};

static void make(struct made *m, const char *target)
{
    *m = (struct made){gt_type_prototypes_new(NULL), gt_arguments_new(), NULL, {0}};
    assert_int_equal(gt_type_declarations_read(m->types, gt_type_data_model_of(target), "t", text,
                                               sizeof text - 1, NULL),
                     0);
    assert_int_equal(gt_type_prototypes_finish(m->types), 0);
    m->p = gt_type_prototypes_named(m->types, "f");
    gt_arguments_by_prototype(m->a, gt_abi_by_name(target), m->types, m->p, &m->spec);
}

static void clear(struct made *m)
{
    gt_arguments_free(m->a);
    gt_type_prototypes_free(m->types);
}

static void test_members(void **state)
{
    static const char *const expected[] = {
        "file p 8 %rdi",        "file.pos d 8 %rdi*24", "file.text s 0 %rdi*32",
        "file.tag C 6 %rdi*40", "d f 8 %xmm0",          "s t 8 %rsi",
        "s.a d 4 %rsi",         "s.b d 2 %rsi+4",       "task p 8 %rdx",
        "n d 4 %rcx",           "- d 8 %rax",           NULL};
    struct made m;

    (void)state;
    make(&m, "x86_64");
    gt_arguments_add_members(m.a, m.types, m.p, 1, &m.spec);
    gt_arguments_add_members(m.a, m.types, m.p, 2, &m.spec);
    gt_arguments_add_members(m.a, m.types, m.p, 4, &m.spec);  /* no struct */
    gt_arguments_add_members(m.a, m.types, m.p, 20, &m.spec); /* no argument */
    expect_items(&m.spec, expected);
    clear(&m);
}

static void test_names(void **state)
{
    static const char *const expected[] = {"file p 8 %x0",
                                           "file.name s 0 %x0*16*16",
                                           "d f 8 %v0",
                                           "s t 8 %x1",
                                           "task p 8 %x2",
                                           "task.comm C 16 %x2*8",
                                           "n d 4 %x3",
                                           "- d 8 %x0",
                                           NULL};
    struct made m;

    (void)state;
    make(&m, "aarch64");
    gt_arguments_add_names(m.a, m.types, m.p, true, &m.spec);
    expect_items(&m.spec, expected);
    clear(&m);
}

static void write_file(char *path, const char *content)
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
}

static void test_own_names(void **state)
{
    static const char *const expected[] = {"file p 8 %a0",
                                           "file.where d 8 %a0*24",
                                           "file.count d 4 %a0*16*0",
                                           "d f 8 %fa0",
                                           "s t 8 %a1",
                                           "task p 8 %a2",
                                           "task.comm C 16 %a2*8",
                                           "n d 4 %a3",
                                           "- d 8 %a0",
                                           NULL};
    static const struct {
        const char *line, *expected;
    } bad[] = {{"file name\n", ":1: 'file name': expected STRUCT NAME PATH"},
               {"\n# x\nfile a-b pos", ":3: 'file a-b pos': expected a struct's name"},
               {"file name a;b", "expected a member's path"}};
    char path[] = "/tmp/guesttrace-names-XXXXXX";
    struct gt_error err = {0};
    struct made m;

    (void)state;
    make(&m, "riscv64");
    write_file(path,
               "# mine\nfile where pos  # long\nfile\tcount f_path.dentry->count\nfile no none\n");
    assert_int_equal(gt_arguments_read_names(m.a, path, &err), 0);
    unlink(path);
    gt_arguments_add_names(m.a, m.types, m.p, true, &m.spec);
    expect_items(&m.spec, expected);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        strcpy(path, "/tmp/guesttrace-names-XXXXXX");
        write_file(path, bad[i].line);
        assert_int_equal(gt_arguments_read_names(m.a, path, &err), GT_E_FORMAT);
        unlink(path);
        if (!strstr(err.text, bad[i].expected))
            fail_msg("%s", err.text);
    }
    assert_int_equal(gt_arguments_read_names(m.a, path, &err), GT_E_NOT_FOUND);
    clear(&m);
}

/* What does not fit is left out; the spec stays valid. */
static void test_full(void **state)
{
    struct made m;

    (void)state;
    make(&m, "aarch64");
    for (int i = 0; i < 10; i++)
        gt_arguments_add_members(m.a, m.types, m.p, 1, &m.spec);
    assert_int_equal(m.spec.n_arguments, GT_VALUES_MOST);
    assert_true(m.spec.item[m.spec.n_arguments].is_return);
    clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_own_names),
        cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
