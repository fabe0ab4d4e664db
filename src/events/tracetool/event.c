/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of events and its memory, types, and words with a meaning: see event.h. */
#include "events/tracetool/event.h"

#include <stdlib.h>
#include <string.h>

const char *gt_tracetool_event_list_string(struct gt_tracetool_event_list *events, const char *text,
                                           size_t length)
{
    if (!events->strings)
        events->strings = g_string_chunk_new(64 << 10);
    return g_string_chunk_insert_len(events->strings, text, (gssize)length);
}

struct gt_tracetool_event *gt_tracetool_event_list_add(struct gt_tracetool_event_list *events)
{
    if (events->n == events->room) {
        events->room = events->room ? events->room * 2 : 64;
        events->list = g_realloc_n(events->list, events->room, sizeof *events->list);
    }
    struct gt_tracetool_event *e = &events->list[events->n++];
    *e = (struct gt_tracetool_event){0};
    return e;
}

void gt_tracetool_event_list_free(struct gt_tracetool_event_list *events)
{
    for (size_t i = 0; i < events->n; i++)
        g_free((void *)events->list[i].arguments);
    g_free(events->list);
    if (events->strings)
        g_string_chunk_free(events->strings);
    *events = (struct gt_tracetool_event_list){0};
}

static const struct {
    const char *word;
    enum gt_tracetool_word_kind kind;
    enum gt_tracetool_type_base fixed;
} type_words[] = {
    {"const", GT_WORD_CONST, GT_TYPE_INT},         {"unsigned", GT_WORD_UNSIGNED, GT_TYPE_INT},
    {"signed", GT_WORD_SIGNED, GT_TYPE_INT},       {"int", GT_WORD_INT, GT_TYPE_INT},
    {"long", GT_WORD_LONG, GT_TYPE_INT},           {"short", GT_WORD_SHORT, GT_TYPE_INT},
    {"char", GT_WORD_CHAR, GT_TYPE_INT},           {"bool", GT_WORD_FIXED, GT_TYPE_BOOL},
    {"void", GT_WORD_FIXED, GT_TYPE_VOID},         {"int8_t", GT_WORD_FIXED, GT_TYPE_INT8},
    {"uint8_t", GT_WORD_FIXED, GT_TYPE_UINT8},     {"int16_t", GT_WORD_FIXED, GT_TYPE_INT16},
    {"uint16_t", GT_WORD_FIXED, GT_TYPE_UINT16},   {"int32_t", GT_WORD_FIXED, GT_TYPE_INT32},
    {"uint32_t", GT_WORD_FIXED, GT_TYPE_UINT32},   {"int64_t", GT_WORD_FIXED, GT_TYPE_INT64},
    {"uint64_t", GT_WORD_FIXED, GT_TYPE_UINT64},   {"size_t", GT_WORD_FIXED, GT_TYPE_SIZE},
    {"ssize_t", GT_WORD_FIXED, GT_TYPE_SSIZE},     {"uintptr_t", GT_WORD_FIXED, GT_TYPE_UINTPTR},
    {"ptrdiff_t", GT_WORD_FIXED, GT_TYPE_PTRDIFF},
};

enum gt_tracetool_word_kind gt_tracetool_word_kind(const struct gt_tracetool_token *t,
                                                   enum gt_tracetool_type_base *fixed)
{
    if (t->kind != GT_TOKEN_WORD)
        return GT_WORD_OTHER;
    for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
        if (gt_tracetool_token_is_word(t, type_words[i].word)) {
            *fixed = type_words[i].fixed;
            return type_words[i].kind;
        }
    if (t->length < 4 || memcmp(t->at, "TCGv", 4))
        return GT_WORD_OTHER;
    *fixed = gt_tracetool_token_is_word(t, "TCGv_i32")   ? GT_TYPE_UINT32
             : gt_tracetool_token_is_word(t, "TCGv_ptr") ? GT_TYPE_VOID
                                                         : GT_TYPE_UINT64;
    return GT_WORD_TCG;
}

/* Each sorted, and without the words of types, which are never names. */
static const char *const c_words[] = {
    "NULL",          "_Alignas",     "_Alignof",   "_Atomic",   "_Bool",
    "_Complex",      "_Generic",     "_Imaginary", "_Noreturn", "_Static_assert",
    "_Thread_local", "alignas",      "alignof",    "and",       "and_eq",
    "asm",           "auto",         "bitand",     "bitor",     "break",
    "case",          "catch",        "char16_t",   "char32_t",  "char8_t",
    "class",         "co_await",     "co_return",  "co_yield",  "compl",
    "concept",       "const_cast",   "consteval",  "constexpr", "constinit",
    "continue",      "decltype",     "default",    "delete",    "do",
    "double",        "dynamic_cast", "else",       "enum",      "explicit",
    "export",        "extern",       "false",      "float",     "for",
    "friend",        "goto",         "if",         "inline",    "linux",
    "mutable",       "namespace",    "new",        "noexcept",  "not",
    "not_eq",        "nullptr",      "operator",   "or",        "or_eq",
    "private",       "protected",    "public",     "register",  "reinterpret_cast",
    "requires",      "restrict",     "return",     "sizeof",    "static",
    "static_assert", "static_cast",  "struct",     "switch",    "template",
    "this",          "thread_local", "throw",      "true",      "try",
    "typedef",       "typeid",       "typename",   "typeof",    "union",
    "unix",          "using",        "virtual",    "volatile",  "wchar_t",
    "while",         "xor",          "xor_eq",
};

static const char *const d_words[] = {
    "auto",    "break",    "case",     "continue", "counter",  "default",  "do",     "double",
    "else",    "enum",     "extern",   "float",    "for",      "goto",     "if",     "import",
    "inline",  "offsetof", "probe",    "provider", "register", "restrict", "return", "self",
    "sizeof",  "static",   "string",   "stringof", "struct",   "switch",   "this",   "translator",
    "typedef", "union",    "volatile", "while",    "xlate",
};

static const char *const stap_words[] = {
    "break",    "catch",  "continue", "delete", "else",  "for",   "foreach",
    "function", "global", "if",       "in",     "limit", "next",  "private",
    "probe",    "return", "self",     "string", "try",   "while",
};

static int compare(const void *name, const void *word)
{
    return strcmp(name, *(const char *const *)word);
}

bool gt_tracetool_word_is_reserved(enum gt_tracetool_language language, const char *name)
{
    static const struct {
        const char *const *words;
        size_t n;
    } lists[] = {
        [GT_LANGUAGE_C] = {c_words, sizeof c_words / sizeof *c_words},
        [GT_LANGUAGE_D] = {d_words, sizeof d_words / sizeof *d_words},
        [GT_LANGUAGE_STAP] = {stap_words, sizeof stap_words / sizeof *stap_words},
    };
    return bsearch(name, lists[language].words, lists[language].n, sizeof(char *), compare);
}

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

const char *gt_tracetool_type_in_c(enum gt_tracetool_type_base base)
{
    return types[base].c;
}

const char *gt_tracetool_type_in_rust(enum gt_tracetool_type_base base)
{
    return types[base].rust;
}

const char *gt_tracetool_argument_blank(const struct gt_tracetool_argument *a)
{
    return a->type[strlen(a->type) - 1] == '*' ? "" : " ";
}
