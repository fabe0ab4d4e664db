/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rust: a function for each event, which calls the C file's function (format c, same backends). It
 * is for include!() in a module, and needs no crate. `const char *` is a &CStr, other pointers are
 * raw. Names of arguments begin with a `_`, so that they are not Rust keywords.
 */
#include "events/tracetool/backends/backend.h"
#include "events/tracetool/event.h"
#include "events/tracetool/formats/format.h"

#include <string.h>

static bool is_cstr(const struct gt_tracetool_argument *a)
{
    return a->is_string && a->is_const;
}

/* "_a: c_int, _b: *mut c_void": as C takes them, or as callers give them. */
static void put_parameters(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e,
                           bool as_c, const char *before)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_tracetool_argument *a = &e->arguments[i];
        gt_tracetool_emit_strings(g, before, "_", a->name, ": ", NULL);
        before = ", ";
        if (!as_c && is_cstr(a)) {
            gt_tracetool_emit_text(g, "&std::ffi::CStr");
            continue;
        }
        for (unsigned star = 1; star < a->stars; star++)
            gt_tracetool_emit_text(g, "*mut ");
        gt_tracetool_emit_strings(
            g, a->stars ? a->is_const ? "*const " : "*mut " : "",
            a->base <= GT_TYPE_VOID && a->base != GT_TYPE_BOOL ? "std::os::raw::" : "",
            gt_tracetool_type_in_rust(a->base), NULL);
    }
}

static void put_arguments(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e,
                          const char *before)
{
    for (unsigned i = 0; i < e->n_arguments; i++, before = ", ")
        gt_tracetool_emit_strings(g, before, "_", e->arguments[i].name,
                                  is_cstr(&e->arguments[i]) ? ".as_ptr()" : "", NULL);
}

static void put_c(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    const struct gt_tracetool_backend *const *list = g->options->backends;
    if (gt_tracetool_backends_have_state(list)) {
        gt_tracetool_emit(g, "    static _TRACE_@NAME@_DSTATE: std::sync::atomic::AtomicU16;\n"
                             "    fn _gt_trace_@name@(_gt_on: std::os::raw::c_uint");
        put_parameters(g, e, true, ", ");
        gt_tracetool_emit(g, ");\n");
    }
    for (; *list; list++)
        if ((*list)->rust_function) {
            gt_tracetool_emit_strings(g, "    fn ", (*list)->rust_function, e->name, "(", NULL);
            put_parameters(g, e, true, "");
            gt_tracetool_emit(g, ");\n");
            gt_tracetool_emit_strings(g, "    fn ", (*list)->rust_is_on, e->name,
                                      "() -> std::os::raw::c_int;\n", NULL);
        }
}

static void put_body(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    const struct gt_tracetool_backend *const *list = g->options->backends;
    if (gt_tracetool_backends_have_state(list)) {
        gt_tracetool_emit(g, "    let _gt_on = unsafe { &_TRACE_@NAME@_DSTATE }\n"
                             "        .load(std::sync::atomic::Ordering::Relaxed);\n"
                             "    if _gt_on != 0 {\n"
                             "        unsafe { _gt_trace_@name@(_gt_on.into()");
        put_arguments(g, e, ", ");
        gt_tracetool_emit(g, ") }\n"
                             "    }\n");
    }
    for (; *list; list++)
        if ((*list)->rust_function) {
            gt_tracetool_emit_strings(g, "    unsafe { ", (*list)->rust_function, e->name, "(",
                                      NULL);
            put_arguments(g, e, "");
            gt_tracetool_emit(g, ") }\n");
        }
}

/* Another event's function may have that name. */
static bool is_name_free(const struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    static const char end[] = "_enabled";
    size_t n = strlen(e->name);
    for (size_t i = 0; i < g->n; i++)
        if (!strncmp(g->events[i].name, e->name, n) && !strcmp(g->events[i].name + n, end))
            return false;
    return true;
}

static void put_enabled(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e,
                        bool sent)
{
    const struct gt_tracetool_backend *const *list = g->options->backends;
    const char *before = "    let on = ";
    gt_tracetool_emit(g, "#[inline(always)]\n"
                         "#[allow(dead_code, non_snake_case, clippy::let_and_return)]\n"
                         "pub fn trace_@name@_enabled() -> bool {\n");
    if (!sent) {
        gt_tracetool_emit(g, "    false\n}\n");
        return;
    }
    if (gt_tracetool_backends_have_state(list)) {
        gt_tracetool_emit_text(g, before);
        gt_tracetool_emit(g, "unsafe { &_TRACE_@NAME@_DSTATE }\n"
                             "        .load(std::sync::atomic::Ordering::Relaxed) != 0");
        before = "\n        || ";
    }
    for (; *list; list++)
        if ((*list)->rust_is_on) {
            gt_tracetool_emit_strings(g, before, "unsafe { ", (*list)->rust_is_on, e->name,
                                      "() } != 0", NULL);
            before = "\n        || ";
        }
    gt_tracetool_emit(g, ";\n    on\n}\n");
}

static void put_event(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    bool sent = gt_tracetool_event_is_sent(g, e);
    gt_tracetool_emit(g, "\n");
    if (sent) {
        gt_tracetool_emit(g, "#[allow(dead_code)]\n"
                             "extern \"C\" {\n");
        put_c(g, e);
        gt_tracetool_emit(g, "}\n");
    }
    gt_tracetool_emit(g, "#[inline(always)]\n"
                         "#[allow(dead_code, non_snake_case, clippy::too_many_arguments)]\n"
                         "pub fn trace_@name@(");
    put_parameters(g, e, false, "");
    gt_tracetool_emit(g, ") {\n");
    if (sent)
        put_body(g, e);
    gt_tracetool_emit(g, "}\n");
    if (is_name_free(g, e))
        put_enabled(g, e, sent);
}

static void generate(struct gt_tracetool_generator *g)
{
    gt_tracetool_emit_text(g, "// @generated by tracetool: changes will be lost.\n");
    for (size_t i = 0; i < g->n; i++) {
        gt_tracetool_generator_event(g, &g->events[i]);
        put_event(g, &g->events[i]);
    }
}

const struct gt_tracetool_format gt_tracetool_format_rs = {
    .name = "rs",
    .summary = "Rust functions, which call the C source's",
    .generate = generate,
};
