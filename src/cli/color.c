/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours: see color.h. */
#include "cli/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *gt_color(bool on, enum gt_color color)
{
    static const char *const codes[] = {
        [GT_COLOR_NONE] = "\033[0m",     [GT_COLOR_BOLD] = "\033[1m",
        [GT_COLOR_RED] = "\033[91m",     [GT_COLOR_GREEN] = "\033[32m",
        [GT_COLOR_YELLOW] = "\033[33m",  [GT_COLOR_BLUE] = "\033[94m",
        [GT_COLOR_MAGENTA] = "\033[35m", [GT_COLOR_CYAN] = "\033[36m",
        [GT_COLOR_GRAY] = "\033[90m"};
    return on ? codes[color] : "";
}

enum gt_color gt_color_of_time(uint64_t ns)
{
    return ns < 1000000                   ? GT_COLOR_NONE
           : ns < 1000000000              ? GT_COLOR_GREEN
           : ns < UINT64_C(1000000000000) ? GT_COLOR_YELLOW
                                          : GT_COLOR_RED;
}

bool gt_color_wanted(const char *choice)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice && strcmp(choice, "always") == 0)
        return true;
    if (choice && strcmp(choice, "never") == 0)
        return false;
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
