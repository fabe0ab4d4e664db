/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values files: written and read again, cut at every byte, refused with the line and the reason. */
#include "recording/values/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char sample[] = "guesttrace values 1\n"
                             "enum mode O_RDONLY=0 O_WRONLY=1 NONE=-1 LOW=-9223372036854775808\n"
                             "enum flag_bits flags A=1 B=2 HIGH=-9223372036854775808\n"
                             "module 0123abcd /usr/lib/my program.so\n"
                             "function 1000 operator new(unsigned long)\n"
                             "arg 1 u 8 size - %rdi\n"
                             "ret - p 8 - - %rax\n"
                             "function 1040 mixed\n"
                             "arg 1 s 0 name - %x0\n"
                             "fparg 1 f 4 - - %v0:4\n"
                             "arg 2 t 12 at point %x0:8|%x1:4\n"
                             "field - C 16 at.name - %x0*0*64*-40\n"
                             "arg 3 e 4 mode mode stack+8 unsure\n"
                             "arg 5 t 8 gap gap %x2 mask=ff000000ffff0300\n"
                             "arg 4 d 1 - - %eax+1:1\n"
                             "ret - x 8 - - -\n"
                             "module - kernel\n"
                             "function ffff800080000000 vfs_read\n"
                             "arg 1 d 4 - - stack+-16\n";

static void read_sample(struct gt_values *v)
{
    struct gt_error err = {0};
    int status = gt_values_read(sample, sizeof sample - 1, v, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, 0);
}

static void test_round_trip(void **state)
{
    struct gt_values v;
    struct gt_text t = {0};
    (void)state;
    read_sample(&v);
    assert_int_equal(gt_values_write(&t, &v, true, NULL), 0);
    assert_string_equal(t.data, sample);
    gt_text_free(&t);
    assert_int_equal(gt_values_write(&t, &v, false, NULL), 0);
    assert_null(strchr(t.data, '%'));
    struct gt_values again;
    assert_int_equal(gt_values_read(t.data, t.len, &again, NULL), 0);
    assert_int_equal(again.module[0].function[1].spec.item[2].n_pieces, 0);
    assert_int_equal(again.module[0].function[1].spec.n_arguments, 7);
    assert_null(again.module[0].function[1].spec.item[5].mask);
    gt_values_free(&again);
    gt_text_free(&t);
    gt_values_free(&v);
}

static void test_meaning(void **state)
{
    struct gt_values v;
    (void)state;
    read_sample(&v);
    assert_int_equal(v.n_modules, 2);
    const struct gt_value_module *m = gt_values_module(&v, "/usr/lib/my program.so", NULL);
    assert_ptr_equal(m, &v.module[0]);
    assert_ptr_equal(gt_values_module(&v, "elsewhere", "0123abcd"), m);
    assert_null(gt_values_module(&v, "/usr/lib/my program.so", "ffff"));
    assert_ptr_equal(gt_values_module(&v, "kernel", "ffff"), &v.module[1]);
    assert_null(gt_value_module_find(m, 0x1041));
    const struct gt_value_spec *spec = &gt_value_module_find(m, 0x1040)->spec;
    assert_int_equal(spec->n_arguments, 7);
    assert_int_equal(spec->n_returns, 1);
    assert_true(spec->item[1].is_float && spec->item[1].number == 1);
    const struct gt_value_item *in_two = &spec->item[2], *field = &spec->item[3];
    assert_int_equal(in_two->n_pieces, 2);
    assert_string_equal(in_two->piece[0].reg, "x0");
    assert_string_equal(in_two->piece[1].reg, "x1");
    assert_int_equal(in_two->piece[1].size, 4);
    assert_string_equal(field->name, "at.name");
    assert_int_equal(field->piece[0].n_steps, 3);
    assert_int_equal(field->piece[0].step[2], -40);
    assert_true(spec->item[4].unsure && !spec->item[4].piece[0].reg);
    static const uint8_t mask[8] = {0xff, 0, 0, 0, 0xff, 0xff, 3, 0};
    assert_memory_equal(spec->item[5].mask, mask, sizeof mask);
    assert_int_equal(spec->item[6].piece[0].offset, 1);
    assert_true(spec->item[7].is_return && !spec->item[7].n_pieces);
    const struct gt_value_enum *e = gt_values_enum(&v, "flag_bits");
    assert_true(e->flags && e->n == 3 && e->value[2].value == INT64_MIN);
    assert_null(gt_values_enum(&v, "none"));
    assert_null(gt_values_enum(&v, NULL));
    gt_values_free(&v);
    gt_values_free(&v);
}

/* Each whole line is a file; a part of one is not. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof sample - 1; n++) {
        struct gt_values v;
        int status = gt_values_read(sample, n, &v, NULL);
        assert_int_equal(status, n && sample[n - 1] == '\n' ? 0 : GT_E_TRUNC);
        if (!status)
            gt_values_free(&v);
    }
}

#define HEAD "guesttrace values 1\n"
#define F    HEAD "module - m\nfunction 10 f\n"

static void refuses(const char *text, const char *says)
{
    struct gt_values v;
    struct gt_error err = {0};
    int status = gt_values_read(text, strlen(text), &v, &err);
    if (status != GT_E_FORMAT || !strstr(err.text, says))
        fail_msg("%s: %d, '%s' has no '%s'", text, status, err.text, says);
}

static void test_masks_refused(void **state)
{
    (void)state;
    refuses(F "arg 1 t 2 - - - mask=ff\n", "two hex digits");
    refuses(F "arg 1 t 2 - - - mask=ffffff\n", "two hex digits");
    refuses(F "arg 1 t 2 - - - mask=ffgf\n", "two hex digits");
    refuses(F "arg 1 d 2 - - - mask=ffff\n", "of a struct");
    refuses(F "arg 1 t 1 - - - mask=ff mask=ff\n", "the end of the line");
    refuses(F "arg 1 t 1 - - - mask=ff unsure\n", "the end of the line");
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"guesttrace values x\n", "line 1: 'guesttrace values x': expected guesttrace values 1"},
        {HEAD "\n", "line 2: '': expected enum"},
        {HEAD "function 10 f\n", "a module before it"},
        {HEAD "module - m\nat 1x\n", "at ADDRESS"},
        {HEAD "module - m\narg 1 d 4 - - -\n", "a function before it"},
        {HEAD "module 12xy m\n", "build-id"},
        {HEAD "module -\n", "PATH"},
        {F "function 10 g\n", "a higher address"},
        {F "function 1ffffffffffffffff g\n", "ADDRESS"},
        {F "arg 0 d 4 - - -\n", "a number from 1"},
        {F "arg 65536 d 4 - - -\n", "a number from 1"},
        {F "arg 1 d 3 - - -\n", "a size that it may have"},
        {F "arg 1 t 65 - - -\n", "a size that it may have"},
        {F "arg 1 C 257 - - -\n", "a size that it may have"},
        {F "arg 1 s 8 - - -\n", "a size that it may have"},
        {F "arg 1 z 8 - - -\n", "a size that it may have"},
        {F "arg 1 d 4 - -\n", "SOURCE"},
        {F "arg 1 d 4  - - -\n", "SOURCE"},
        {F "arg 1 d 4 - - - maybe\n", "unsure"},
        {F "arg 1 d 4 - - - unsure x\n", "unsure"},
        {F "ret 1 d 4 - - -\n", "- as the number"},
        {F "ret - d 4 - - -\narg 1 d 4 - - -\n", "arguments before"},
        {F "arg 1 d 4 - - rdi\n", "%REGISTER or stack+OFFSET"},
        {F "arg 1 d 4 - - %\n", "a register's name"},
        {F "arg 1 d 4 - - %a+256\n", "at most 255"},
        {F "arg 1 d 4 - - %a+-1\n", "at most 255"},
        {F "arg 1 d 4 - - %a*\n", "an offset"},
        {F "arg 1 d 4 - - %a*4294967296\n", "an offset"},
        {F "arg 1 d 4 - - %a*1*1*1*1*1\n", "at most 4 addresses"},
        {F "arg 1 d 4 - - %a:0\n", "a size of 1 to 64"},
        {F "arg 1 d 4 - - %a:65\n", "a size of 1 to 64"},
        {F "arg 1 d 4 - - %a:2|%b\n", "a size of each piece"},
        {F "arg 1 d 4 - - %a:2|%b:4\n", "all bytes of the value"},
        {F "arg 1 d 4 - - %a:1|%b:1|%c:1|%d:1|%e:1\n", "at most 4 pieces"},
        {F "arg 1 d 4 - - %a!\n", "the end of the source"},
        {F "arg 1 d 4 - - stack\n", "stack+OFFSET"},
        {HEAD "enum\n", "a name"},
        {HEAD "enum e A\n", "NAME=NUMBER"},
        {HEAD "enum e =1\n", "NAME=NUMBER"},
        {HEAD "enum e A=18446744073709551616\n", "NAME=NUMBER"},
        {HEAD "enum e A=-9223372036854775809\n", "NAME=NUMBER"},
        {HEAD "enum e A=1 \n", "one blank"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(bad[i].text, bad[i].says);
    struct gt_values v;
    struct gt_error err;
    static const char later[] = "guesttrace values 2\nnews\n", zero[] = HEAD "module - a\0b\n";
    assert_int_equal(gt_values_read(later, sizeof later - 1, &v, &err), GT_E_UNSUPPORTED);
    assert_int_equal(gt_values_read(zero, sizeof zero - 1, &v, &err), GT_E_FORMAT);
}

/* More than a call may have, in either direction. */
static void test_most(void **state)
{
    char text[2000] = F;
    struct gt_values v;
    struct gt_error err;
    (void)state;
    for (int i = 0; i < GT_VALUES_MOST; i++)
        strcat(text, "arg 1 d 4 - - -\n");
    assert_int_equal(gt_values_read(text, strlen(text), &v, &err), 0);
    struct gt_text t = {0};
    v.module[0].function[0].spec.n_arguments++;
    assert_int_equal(gt_values_write(&t, &v, true, &err), GT_E_USAGE);
    gt_text_free(&t);
    gt_values_free(&v);
    strcat(text, "arg 1 d 4 - - -\n");
    assert_int_equal(gt_values_read(text, strlen(text), &v, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "line 18"));
}

static void test_write_refuses(void **state)
{
    struct gt_value_item item = {.format = 'd', .size = 3};
    struct gt_value_function f[2] = {{.addr = 2, .name = "a", .spec = {&item, 1, 0}},
                                     {.addr = 2, .name = "b"}};
    struct gt_value_module m = {.path = "p", .build_id = "", .function = f, .n = 2};
    struct gt_values v = {.module = &m, .n_modules = 1};
    struct gt_text t = {0};
    struct gt_error err;
    (void)state;
    assert_int_equal(gt_values_write(&t, &v, true, &err), GT_E_USAGE);
    assert_non_null(strstr(err.text, "'d' with 3 bytes"));
    item.size = 4;
    assert_int_equal(gt_values_write(&t, &v, true, &err), GT_E_USAGE);
    assert_non_null(strstr(err.text, "not sorted"));
    gt_text_free(&t);
}

/* Names that the file's fields cannot have. */
static void test_names(void **state)
{
    struct gt_value_item item = {
        .format = 'e', .size = 4, .number = 1, .name = "a b", .type = "enum x"};
    struct gt_value_function f = {.addr = 2, .name = "f\ng", .spec = {&item, 1, 0}};
    struct gt_value_module m = {.path = "p", .build_id = "", .function = &f, .n = 1};
    struct gt_value_enumerator one = {"A=B", 1};
    struct gt_value_enum e = {.name = "enum x", .value = &one, .n = 1};
    struct gt_values v = {.module = &m, .n_modules = 1, .enums = &e, .n_enums = 1};
    struct gt_text t = {0};
    (void)state;
    assert_int_equal(gt_values_write(&t, &v, true, NULL), 0);
    assert_string_equal(t.data, "guesttrace values 1\nenum enum_x A_B=1\nmodule - p\n"
                                "function 2 f?g\narg 1 e 4 a_b enum_x -\n");
    gt_text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_cut),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_masks_refused), cmocka_unit_test(test_most),
        cmocka_unit_test(test_write_refuses), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
