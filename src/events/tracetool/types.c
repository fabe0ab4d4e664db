/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of arguments: see types.h. */
#include "events/tracetool/types.h"

#include <string.h>

static const struct {
    const char *c, *rust;
} types[] = {
    [GT_TYPE_INT] = {"int", "c_int"},
    [GT_TYPE_UINT] = {"unsigned int", "c_uint"},
    [GT_TYPE_SHORT] = {"short", "c_short"},
    [GT_TYPE_USHORT] = {"unsigned short", "c_ushort"},
    [GT_TYPE_LONG] = {"long", "c_long"},
    [GT_TYPE_ULONG] = {"unsigned long", "c_ulong"},
    [GT_TYPE_LONG_LONG] = {"long long", "c_longlong"},
    [GT_TYPE_ULONG_LONG] = {"unsigned long long", "c_ulonglong"},
    [GT_TYPE_CHAR] = {"char", "c_char"},
    [GT_TYPE_SCHAR] = {"signed char", "c_schar"},
    [GT_TYPE_UCHAR] = {"unsigned char", "c_uchar"},
    [GT_TYPE_BOOL] = {"bool", "bool"},
    [GT_TYPE_VOID] = {"void", "c_void"},
    [GT_TYPE_INT8] = {"int8_t", "i8"},
    [GT_TYPE_UINT8] = {"uint8_t", "u8"},
    [GT_TYPE_INT16] = {"int16_t", "i16"},
    [GT_TYPE_UINT16] = {"uint16_t", "u16"},
    [GT_TYPE_INT32] = {"int32_t", "i32"},
    [GT_TYPE_UINT32] = {"uint32_t", "u32"},
    [GT_TYPE_INT64] = {"int64_t", "i64"},
    [GT_TYPE_UINT64] = {"uint64_t", "u64"},
    [GT_TYPE_SIZE] = {"size_t", "usize"},
    [GT_TYPE_SSIZE] = {"ssize_t", "isize"},
    [GT_TYPE_UINTPTR] = {"uintptr_t", "usize"},
    [GT_TYPE_PTRDIFF] = {"ptrdiff_t", "isize"},
};

const char *gt_type_in_c(enum gt_type_base base)
{
    return types[base].c;
}

const char *gt_type_in_rust(enum gt_type_base base)
{
    return types[base].rust;
}

const char *gt_argument_blank(const struct gt_argument *a)
{
    return a->type[strlen(a->type) - 1] == '*' ? "" : " ";
}
