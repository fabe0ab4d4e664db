/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracetool: generates code from trace-events files. Exit statuses: 0 done; 1 anything else. */
#include "events/tracetool/backends/backend.h"
#include "events/tracetool/formats/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUT_LIMIT = 256 << 20 }; /* bytes of an events file */

typedef struct gt_tracetool_options options;

static int fail(const char *message)
{
    fprintf(stderr, "tracetool: %s\n", message);
    return EXIT_FAILURE;
}

/* A file or a pipe. NULL: *err says why. */
static char *read_input(const char *path, size_t *size, struct gt_error *err)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    if (!f) {
        gt_error_errno(err, errno, "%s", path);
        return NULL;
    }
    g_autoptr(GByteArray) data = g_byte_array_new();
    guint8 part[64 << 10];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0 && data->len < INPUT_LIMIT)
        g_byte_array_append(data, part, (guint)n);
    if (ferror(f))
        gt_error_errno(err, errno, "%s", path);
    else if (n)
        gt_error_set(err, GT_E_RANGE, "%s: longer than %d bytes", path, INPUT_LIMIT);
    if (f != stdin)
        fclose(f);
    if (err->status)
        return NULL;
    *size = data->len;
    g_byte_array_append(data, (const guint8 *)"", 1); /* not NULL, where the file is empty */
    return (char *)g_byte_array_free(g_steal_pointer(&data), FALSE);
}

/* Where LTTng's tracepoints take fewer arguments than an event may have with its vCPU. */
static void check_ust(struct gt_tracetool_parser *p, const options *o)
{
    bool wanted = o->format == &gt_tracetool_format_ust_events_h;
    for (size_t i = 0; o->backends[i]; i++)
        wanted |= o->backends[i] == &gt_tracetool_backend_ust;
    for (size_t i = 0; wanted && i < p->events.n; i++) {
        const struct gt_tracetool_event *e = &p->events.list[i];
        if (e->n_arguments > GT_EVENT_DECLARED && !e->disable)
            gt_tracetool_diagnose_plain(
                &p->errors, "%s:%u: event '%s' has %u arguments with its vCPU, LTTng takes %d",
                e->path, e->line, e->name, e->n_arguments, GT_EVENT_DECLARED);
    }
}

static void read_inputs(struct gt_tracetool_parser *p, const options *o)
{
    for (size_t i = 0; i < o->n_inputs; i++) {
        struct gt_error err = {0};
        size_t size;
        g_autofree char *text = read_input(o->inputs[i], &size, &err);
        if (text)
            gt_tracetool_parser_read(p, o->inputs[i], text, size);
        else
            gt_tracetool_diagnose_plain(&p->errors, "tracetool: %s", err.text);
    }
    check_ust(p, o);
}

/* Standard output and devices are written to, files are replaced; a link to one stays a link. */
static int write_output(const char *path, const struct gt_text *text, struct gt_error *err)
{
    struct stat st;
    bool to_stdout = !strcmp(path, "-");
    if (!to_stdout && (stat(path, &st) || S_ISREG(st.st_mode))) {
        char *real = realpath(path, NULL);
        int status = gt_file_replace_text(real ? real : path, text, err);
        free(real);
        return status;
    }
    FILE *f = to_stdout ? stdout : fopen(path, "wb");
    if (!f)
        return gt_error_errno(err, errno, "%s", path);
    bool good = !text->failed && fwrite(text->data, 1, text->len, f) == text->len;
    good = fclose(f) == 0 && good;
    return good ? 0 : gt_error_errno(err, errno, "%s", path);
}

static int generate(const options *o, const struct gt_tracetool_parser *p)
{
    struct gt_error err = {0};
    struct gt_tracetool_generator g;
    gt_tracetool_generator_init(&g, o, &p->events);
    o->format->generate(&g);
    int status = write_output(o->output, &g.out, &err);
    gt_tracetool_generator_free(&g);
    return status ? fail(err.text) : EXIT_SUCCESS;
}

static int run(const options *o)
{
    struct gt_tracetool_parser p;
    int status = EXIT_FAILURE;
    gt_tracetool_parser_init(&p, o->grammar);
    read_inputs(&p, o);
    if (p.errors.n) {
        struct gt_text text = {0};
        gt_tracetool_diagnostics_show(&p.errors, &text);
        fwrite(text.data, 1, text.len, stderr);
        gt_text_free(&text);
    } else {
        status = generate(o, &p);
    }
    gt_tracetool_parser_free(&p);
    return status;
}

static void print_backends(void)
{
    const struct gt_tracetool_backend *b;
    for (size_t i = 0; (b = gt_tracetool_backend_at(i)); i++)
        printf("%s%s", i ? ", " : "", b->name);
    printf("\n");
}

static void print_help(void)
{
    struct gt_text text = {0};
    gt_tracetool_help(&text);
    fwrite(text.data, 1, text.len, stdout);
    gt_text_free(&text);
}

int main(int argc, char **argv)
{
    struct gt_error err = {0};
    options o;
    int status = gt_tracetool_options(&o, argc, argv, &err);
    if (status == GT_E_NOT_FOUND) {
        status = EXIT_FAILURE; /* --check-backends reports by its status alone */
    } else if (status) {
        status = fail(err.text);
        fprintf(stderr, "Try 'tracetool --help'.\n");
    } else if (o.help) {
        print_help();
    } else if (o.list_backends) {
        print_backends();
    } else if (!o.check_backends) {
        status = run(&o);
    }
    gt_tracetool_options_free(&o);
    return status;
}
