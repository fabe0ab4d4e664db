/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page that shows a recording: its files, from page/, as they were when this was built. */
#ifndef GT_CALLS_VIEW_PAGE_H
#define GT_CALLS_VIEW_PAGE_H

#include <stddef.h>

struct gt_view_file {
    const char *name; /* "page.css" */
    const char *type; /* of HTTP */
    const unsigned char *data;
    size_t size;
};

/* The page itself; it needs the style and the script. */
extern const struct gt_view_file gt_view_page_html, gt_view_page_css, gt_view_page_js;

#endif
