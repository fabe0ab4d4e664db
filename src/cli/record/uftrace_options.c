/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of recordings of calls: see recording.h. */
#include "cli/record/recording.h"

const struct gt_cli_option gt_record_options_uftrace[] = {
    {"format", .type = GT_OPTION_CHOICE, .value = "FORM",
     .choices = (const char *const[]){"compact", "uftrace", NULL},
     .help = "select the recording's format: compact, one small file for 'guesttrace report' and "
             "others (the default); uftrace, a directory that uftrace reads",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(format)},
    {"last", .type = GT_OPTION_TEXT, .value = "SIZE|TIME",
     .help =
         "keep only what came last, as 64M or 10s (--clock insn: 1 s is 1e9 instructions), in a "
         "ring beside PATH; write it to PATH, PATH.1 ... at SIGUSR2, at a trigger with "
         "snapshot, and at the end",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(last)},
    {"split", .type = GT_OPTION_TEXT, .value = "SIZE|TIME",
     .help = "go on in a new file when one is as big or as old, as 64M, 10s "
             "or 5min; the earlier ones become PATH.1, PATH.2 ..., PATH shows all of them",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(split)},
    {"size-limit", .type = GT_OPTION_TEXT, .value = "SIZE",
     .help = "write at most SIZE bytes, as 1G; then the recording ends and "
             "the guest goes on. With --split: remove the oldest files instead",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(size_limit)},
    {"clock", .type = GT_OPTION_CHOICE, .value = "CLOCK",
     .choices = (const char *const[]){"insn", "host", "auto", NULL},
     .help = "select the time base: retired instructions (the same in every run), the host's "
             "clock, or instructions while there is only one thread or vCPU (default: auto)",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(clock)},
    GT_RECORD_FILTERS,
    {"depth", 'D', GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 1u << 20,
     .help = "record calls up to this depth (default: 1024), which counts from where filters begin",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(depth)},
    {"no-tail-calls", .type = GT_OPTION_FLAG,
     .help = "do not show jumps from one function into another as calls", .heading = GT_UNDER_WHAT,
     GT_RECORD_FIELD(no_tail_calls)},
    {"privilege-levels", .type = GT_OPTION_FLAG,
     .help = "record each privilege level of a machine as a task of its own",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(privilege_levels)},
    {"srcline", .type = GT_OPTION_FLAG,
     .help = "record the functions' source lines (of programs compiled with -g), for filters by "
             "file and line when the recording is read, and for 'uftrace replay --srcline'",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(srcline)},
    {"tasks", .type = GT_OPTION_CHOICE, .value = "KIND",
     .choices = (const char *const[]){"stack", "cpu", NULL},
     .help =
         "make a task of each call stack of a machine's guest, or of each vCPU (default: stack)",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(tasks)},
    {"max-tasks", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 1000000,
     .help = "record at most N tasks of a machine (default: 1024)", .heading = GT_UNDER_WHAT,
     GT_RECORD_FIELD(max_tasks)},
    {"symbols", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "name a machine's functions from this file too, as 'guesttrace symbols' does; or from "
             "all kernel modules (.ko) below this folder",
     .heading = GT_UNDER_NAMES | GT_OPTION_FIRST, GT_RECORD_FIELD(symbols)},
    GT_RECORD_NO_FOLLOW_EXEC,
    {"control", .type = GT_OPTION_TEXT, .old = "--trace-socket", .value = "SOCKET",
     .help = "accept commands of 'guesttrace ctl' at this socket while the guest runs: status, "
             "flush, on, off, filter, trigger, snapshot",
     .heading = GT_UNDER_CONTROL, GT_RECORD_FIELD(control)},
    {"no-console", .type = GT_OPTION_FLAG,
     .help = "do not show the lines of a machine's console on standard output among the functions",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(no_console)},
    {0},
};
