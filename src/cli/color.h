/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of texts for people: SGR sequences of terminals. */
#ifndef GT_CLI_COLOR_H
#define GT_CLI_COLOR_H

#include <stdbool.h>
#include <stdint.h>

enum gt_color {
    GT_COLOR_NONE, /* ends a colour */
    GT_COLOR_BOLD,
    GT_COLOR_RED,
    GT_COLOR_GREEN,
    GT_COLOR_YELLOW,
    GT_COLOR_BLUE,
    GT_COLOR_MAGENTA,
    GT_COLOR_CYAN,
    GT_COLOR_GRAY,
};

/* The bytes that begin a colour; "" where `on` is false. */
const char *gt_color(bool on, enum gt_color color);

/* That of a time of n ns, by the unit that it is shown in; GT_COLOR_NONE below a millisecond. */
enum gt_color gt_color_of_time(uint64_t ns);

/* `choice` is the value of --color: "always", "never", else (NULL, "auto") by the terminal:
 * standard output is one that has colours, and NO_COLOR (https://no-color.org) is not set. */
bool gt_color_wanted(const char *choice);

#endif
