/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An analysis program of a guest's events, by guesttrace/simpletrace.h: for each call that an event
 * at a function's entry and one at its return tell, a line "ARGUMENT RESULT NANOSECONDS".
 *
 *     calls_of EVENTS TRACE ENTRY RETURN
 */
#include <guesttrace/simpletrace.h>

#include <inttypes.h>
#include <stdio.h>

struct call {
    uint64_t argument, begin;
};

static int begin(void *self, const struct gt_trace_record *r)
{
    *(struct call *)self = (struct call){r->values[0].number, r->timestamp};
    return 0;
}

static int end(void *self, const struct gt_trace_record *r)
{
    const struct call *c = self;
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->argument, r->values[0].number,
           r->timestamp - c->begin);
    return 0;
}

int main(int argc, char **argv)
{
    struct gt_trace_declarations *events = NULL;
    struct gt_trace_reader *reader = NULL;
    struct gt_trace_error err = {0};
    struct call call = {0};
    if (argc != 5)
        return 2;
    int status = gt_trace_declarations_read(&events, argv[1], &err);
    if (status == 0)
        status = gt_trace_reader_open(&reader, argv[2], events, NULL, &err);
    if (status == 0)
        status = gt_trace_reader_on(reader, argv[3], begin, &call, &err);
    if (status == 0)
        status = gt_trace_reader_on(reader, argv[4], end, &call, &err);
    if (status == 0)
        status = gt_trace_reader_run(reader, &err);
    if (status < 0)
        fprintf(stderr, "calls_of: %s\n", err.text);
    gt_trace_reader_close(reader);
    gt_trace_declarations_free(events);
    return status < 0;
}
