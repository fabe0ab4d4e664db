/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A followed recording and its rows, for what shows them: see follow.h. */
#ifndef GT_CLI_FOLLOW_ROWS_H
#define GT_CLI_FOLLOW_ROWS_H

#include "calls/profile/find.h"
#include "calls/read/follow.h"
#include "cli/follow/follow.h"
#include "names/image/demangle.h"
#include "names/placement/live.h"

#include <glib.h>

struct gt_cli_follow_row {
    const char *name, *module; /* of a task: module NULL */
    uint32_t task;
    bool suspends; /* as struct gt_calls_follow_function has it */
    enum gt_profile_found found;
    struct gt_calls_follow_sums sums;
};

struct gt_cli_follow {
    char *path;
    struct gt_calls_follow *calls;
    struct gt_place_live *live;           /* names of a machine's addresses */
    struct gt_image_demangler *demangler; /* NULL: names stay as they are */
    /* Asks the recorder for the calls recorded until now. GT_E_USAGE: it refused; another error:
     * it does not answer any more. NULL: only files are read. */
    int (*ask)(void *self, struct gt_error *err);
    void *asked;
    enum gt_cli_follow_state state;
    bool by_task; /* rows are tasks */
    bool wall;    /* totals have the time in which tasks were suspended */
    bool idle;    /* also rows that have not run since the last look */
    enum gt_cli_follow_sort sort;
    char *glob;    /* of the rows' names; NULL: all */
    bool any_case; /* of the glob, which is in small letters */
    char *sought;  /* the text of a search; NULL: all */
    struct gt_profile_find *find;
    bool others;         /* names that are exactly the text are not preferred */
    size_t found, exact; /* names that the search has found; of these such ones */
    char *task;          /* only these: a number or a glob; NULL: all */
    char *since;         /* the time of day that sums are since, unless it is the begin */
    uint64_t limit;      /* of rows; 0: all */
    GArray *rows;        /* struct gt_cli_follow_row */
    uint64_t fit;        /* rows that there would be without the limit */
    struct gt_calls_follow_sums sums; /* of all tasks */
    int64_t looked;                   /* when the last look was, in us; 0: there was none */
    double seconds;                   /* between the last two looks; 0: there was one */
};

/* Only this task, or tasks of these names, from here on; NULL or "": all. */
void gt_cli_follow_set_task(struct gt_cli_follow *f, const char *task);
/* Only rows whose names the text finds, as in `guesttrace view`; "": all. Errors of
 * gt_profile_find_parse: the search stays as it was. */
int gt_cli_follow_seek(struct gt_cli_follow *f, const char *text, struct gt_error *err);
/* Makes the rows, without reading. */
void gt_cli_follow_list(struct gt_cli_follow *f);
/* Facts, sums and rows, as members of the object that is open in `j`: docs/readers.md. */
void gt_cli_follow_put(const struct gt_cli_follow *f, const char *state, struct gt_json *j);

#endif
