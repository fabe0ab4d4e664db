/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of subcommands and their families: see command.h. */
#include "cli/command.h"

const struct gt_command *const gt_commands[] = {
    &gt_command_record,     &gt_command_report,
    &gt_command_graph,      &gt_command_replay,
    &gt_command_tui,        &gt_command_top,
    &gt_command_view,       &gt_command_export,
    &gt_command_diff,       &gt_command_info,
    &gt_command_symbols,    &gt_command_repair,
    &gt_command_ctl,        &gt_command_coverage,
    &gt_command_dump,       &gt_command_convert,
    &gt_command_events,     &gt_command_simpletrace,
    &gt_command_setup_qemu, &gt_command_completion,
    &gt_command_help,       NULL,
};

static const struct gt_family_verb etrace[] = {{"coverage", &gt_command_coverage},
                                               {"dump", &gt_command_dump},
                                               {"export", &gt_command_convert},
                                               {NULL, NULL}};
static const struct gt_family_verb execlog[] = {
    {"dump", &gt_command_dump}, {"diff", &gt_command_diff}, {NULL, NULL}};
static const struct gt_family_verb events[] = {
    {"list", &gt_command_events}, {"simpletrace", &gt_command_simpletrace}, {NULL, NULL}};

const struct gt_family gt_families[] = {
    {"etrace", "executed code and memory accesses", etrace},
    {"execlog", "logs of instructions", execlog},
    {"events", "trace events", events},
    {NULL, NULL, NULL},
};
