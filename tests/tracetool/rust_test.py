#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rust: what is generated compiles without a warning, and its functions reach the backends."""
import os
import subprocess
import tempfile

from gttest import cases
from gttest.results import Skip
from tracetool_case import LIB, MERGED, TracetoolTest

MAIN = '''
mod trace {
    include!("trace-demo.rs");
}
fn main() {
    let name = std::ffi::CString::new("abc").unwrap();
    let mut text = *b"text\\0";
    let on = std::env::var("TRACE").is_ok();
    assert_eq!(trace::trace_queue_push_enabled(), on);
    assert!(!trace::trace_insn_off_exec_enabled());
    trace::trace_queue_push(16 as *mut _, -5, &name);
    trace::trace_queue_drain();
    trace::trace_queue_check(1);
    trace::trace_no_format(std::ptr::null_mut(), 9);
    trace::trace_sizes(b'x' as _, true, 1 << 63, -2, i64::MIN, 0xfedc);
    trace::trace_words(1, 2, text.as_mut_ptr() as *mut _, 3, 4);
    trace::trace_cpu_reset(32 as *mut _);
    trace::trace_insn_off_exec(5);
    trace::trace_guest_mem_exec(48 as *mut _, 0x1234, 8);
}
'''
# What a Rust program gets from its environment here, where it has no main() of C.
START = '''
#include <guesttrace/control.h>
#include <stdlib.h>
__attribute__((constructor(300))) static void start(void)
{
    if (getenv("TRACE"))
        gt_trace_parse(getenv("TRACE"), stdout, stderr, NULL);
}
'''
TEXT = '''queue_push q 0x10 n -5 name abc
queue_drain empty
no_format
sizes x 1 9223372036854775808 -2 -9223372036854775808 0xfedc 100%
words 1 2 text "3" 4\t.
cpu_reset cpu=0x20 
guest_mem_exec cpu=0x30 vaddr=0x0000000000001234 info=8
'''


def can_link():
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'a.rs')
        with open(source, 'w', encoding='utf-8') as f:
            f.write('fn main() {}\n')
        return subprocess.run(['rustc', source, '-o', os.path.join(folder, 'a')], check=False,
                              capture_output=True).returncode == 0


class Rust(TracetoolTest):
    def test_runs(self):
        self.take_demo()
        self.generate('e', 'log,dtrace', ['h', 'c', 'rs'])
        self.write('main.rs', MAIN)
        self.write('start.c', START)
        for name in ('trace-demo', 'start'):
            self.compile('gcc', name + '.c', name + '.o', '-fPIE')
        self.must('rustc', '--edition=2021', '-Dwarnings', 'main.rs', '-o', 'main', '-L', LIB,
                  '-Clink-arg=start.o', '-Clink-arg=trace-demo.o', '-Clink-arg=-lguesttrace-events')
        self.assertEqual(self.run_program('main').stderr, '')
        os.environ['TRACE'] = 'enable=*'
        self.assertEqual(self.run_program('main').stderr, TEXT)

    def test_compiles(self):
        self.take_demo()
        for backends in ('nop', 'ust', 'simple,dtrace'):
            self.generate('e', backends, ['rs'])
            self.must('rustc', '--edition=2021', '-Dwarnings', '--crate-type=lib',
                      '--emit=metadata', 'trace-demo.rs')

    def test_all_of_qemu(self):
        if not os.path.exists(MERGED):
            raise Skip(f'no {MERGED}')
        self.generate(MERGED, 'log,simple', ['rs'], group='all')
        self.must('rustc', '--edition=2021', '-Dwarnings', '--crate-type=lib', '--emit=metadata',
                  'trace-all.rs')


def need_linker():
    if not can_link():
        raise Skip('rustc does not work')


cases.main('rustc', 'gcc', need_linker)
