/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue that is traced: queue [TRACE-OPTION]...
 *
 *     ./queue 'queue_*,backends=log'            text on standard error
 *     ./queue 'enable=queue_p*,file=q.trace'    and a file, for guesttrace events simpletrace
 *     ./queue help                              the events' names
 */
#include "trace-queue.h"

#include <guesttrace/control.h>
#include <stdio.h>

enum { ROOM = 3 };

struct queue {
    int items[ROOM];
    unsigned first, depth;
};

static void push(struct queue *q, int item)
{
    if (q->depth == ROOM) {
        trace_queue_full(q, "an item is lost");
        return;
    }
    q->items[(q->first + q->depth++) % ROOM] = item;
    trace_queue_push(q, item, q->depth);
}

static int pop(struct queue *q)
{
    int item = q->items[q->first];
    q->first = (q->first + 1) % ROOM;
    trace_queue_pop(q, item, --q->depth);
    return item;
}

int main(int argc, char **argv)
{
    struct gt_trace_error error;
    for (int i = 1; i < argc; i++) {
        int status = gt_trace_parse(argv[i], stdout, stderr, &error);
        if (status < 0)
            fprintf(stderr, "queue: %s\n", error.text);
        if (status)
            return status < 0;
    }
    struct queue q = {0};
    trace_queue_check(&q, sizeof q);
    int sum = 0;
    for (int i = 1; i <= 5; i++)
        push(&q, i * i);
    while (q.depth)
        sum += pop(&q);
    printf("sum %d\n", sum);
    return 0;
}
