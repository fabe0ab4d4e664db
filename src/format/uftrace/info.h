/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the info file that its writer and its reader share. */
#ifndef GT_FORMAT_UFTRACE_INFO_H
#define GT_FORMAT_UFTRACE_INFO_H

#include "format/uftrace/uftrace.h"

#define GT_UFTRACE_INFO_MAGIC "Ftrace!" /* with its 0: 8 bytes */
enum { GT_UFTRACE_INFO_HEADER = 40, GT_UFTRACE_INFO_VERSION_4 = 4 };

/* Bits of info_mask. */
enum gt_uftrace_info_bit {
    GT_UFTRACE_INFO_EXENAME,
    GT_UFTRACE_INFO_BUILD_ID,
    GT_UFTRACE_INFO_EXIT_STATUS,
    GT_UFTRACE_INFO_CMDLINE,
    GT_UFTRACE_INFO_CPUINFO,
    GT_UFTRACE_INFO_MEMINFO,
    GT_UFTRACE_INFO_OSINFO,
    GT_UFTRACE_INFO_TASKINFO,
    GT_UFTRACE_INFO_USAGEINFO,
    GT_UFTRACE_INFO_LOADINFO,
    GT_UFTRACE_INFO_ARGSPEC,
    GT_UFTRACE_INFO_RECORD_DATE,
    GT_UFTRACE_INFO_PATTERN_TYPE,
    GT_UFTRACE_INFO_VERSION,
    GT_UFTRACE_INFO_UTC_OFFSET,
    GT_UFTRACE_INFO_BITS,
};

#endif
