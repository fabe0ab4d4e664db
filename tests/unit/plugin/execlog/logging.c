/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log on the host double: see logging.h. */
#include "logging.h"

#include "../../format/execlog_util.h"
#include "../scratch.h"

static enum log_form log_form;
static GString *text, *messages;

int logging_setup(void **state)
{
    text = g_string_new(NULL);
    messages = g_string_new(NULL);
    return make_scratch(state);
}

int logging_teardown(void **state)
{
    g_string_free(text, TRUE);
    g_string_free(messages, TRUE);
    return drop_scratch(state);
}

void logging_load(enum log_form form, const char *target, unsigned vcpus, int abi,
                  const char *const *words)
{
    static char **all, **with_form; /* live as long as the plugin */
    const char *const binary[] = {"format=binary", NULL}, *const none[] = {NULL};
    struct gt_error err = {0};
    g_strfreev(all);
    g_strfreev(with_form);
    log_form = form;
    with_form = words_with_file(form == LOG_BINARY ? binary : none,
                                form == LOG_QEMU ? NULL : "output", "log");
    size_t n = 0, m = 0;
    while (words[n])
        n++;
    while (with_form[m])
        m++;
    all = g_new0(char *, n + m + 1);
    for (size_t i = 0; i < n; i++)
        all[i] = g_strdup(words[i]);
    for (size_t i = 0; i < m; i++)
        all[n + i] = g_strdup(with_form[i]);
    host_double_start(target, vcpus, abi);
    assert_int_equal(host_double_install(&err, (const char *const *)all), 0);
}

void logging_begin(enum log_form form, const char *target, unsigned vcpus, int abi,
                   const char *const *words)
{
    logging_load(form, target, vcpus, abi, words);
    for (unsigned i = 0; i < MAX(vcpus, 1); i++)
        host_double.events->vcpu_init(host_double.self, i);
}

static void read_binary(const char *bytes, size_t n)
{
    struct bytes_source source = {.data = (const uint8_t *)bytes, .size = n, .piece = n};
    struct gt_text out = {0};
    struct gt_error err = {0};
    assert_int_equal(read_all(&source, false, &out, &err), 0);
    g_string_append_len(text, out.data, (gssize)out.len);
    gt_text_free(&out);
}

const char *logging_end(void)
{
    host_double.events->exit(host_double.self);
    gt_exlog_fini(host_double.self);
    g_string_assign(messages, host_double.messages->str);
    g_string_assign(text, log_form == LOG_QEMU ? host_double.log->str : "");
    host_double_stop();
    if (log_form == LOG_QEMU)
        return text->str;
    size_t n;
    char *bytes = take_file("log", &n);
    if (log_form == LOG_BINARY)
        read_binary(bytes, n);
    else
        g_string_append_len(text, bytes, (gssize)n);
    g_free(bytes);
    return text->str;
}

const char *logging_messages(void)
{
    return messages->str;
}
