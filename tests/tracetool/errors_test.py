#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracetool says of events files that are wrong, word for word, and of command lines."""
import os

from gttest import cases
from tracetool_case import TracetoolTest

NOT_ALLOWED = ("is not allowed: integers of C and <stdint.h>, bool, char and pointers to them are; "
               "others are passed as 'void *'")
# (line, [(the column, the message)])
LINES = [
    ('2foo(void)', [(1, "event name '2foo' begins with a digit")]),
    ('disable 9p(int a)', [(9, "event name '9p' begins with a digit")]),
    ('a(int) "x"', [(6, "argument of type 'int' has no name")]),
    ('a(const char *) "x"', [(15, "argument of type 'const char *' has no name")]),
    ('a(unsigned long int long) "x"', [(25, "argument of type 'unsigned long int long' has no name")]),
    ('a(void *int)', [(9, "'int' is a type, expected the name of the argument of type 'void *'")]),
    ('a(int 9a)', [(7, "argument name '9a' begins with a digit")]),
    ('a(int b, int b)', [(14, "a second argument is named 'b'")]),
    ('a(int _gt_on)', [(7, 'names that begin with _gt_ are kept for generated code')]),
    ('a(float f) "%f"', [(3, f"type 'float' {NOT_ALLOWED}")]),
    ('a(int x, hwaddr y)', [(10, f"type 'hwaddr' {NOT_ALLOWED}")]),
    ('a(struct x *p)', [(3, f"type 'struct' {NOT_ALLOWED}")]),
    ('a(union x *p)', [(3, f"type 'union' {NOT_ALLOWED}")]),
    ('a(addr)', [(3, "argument 'addr' has no type")]),
    ('a(const addr)', [(9, "argument 'addr' has no type")]),
    ('a(int b[4])', [(8, 'arrays are not allowed, pass a pointer')]),
    ('a(int (*f)(int), int b)', [(7, "expected the name of the argument of type 'int'")]),
    ('a(...)', [(3, "expected an argument's type")]),
    ('a(unsigned signed x)', [(3, "type 'unsigned signed' is not a C type")]),
    ('a(long long long x)', [(3, "type 'long long long' is not a C type")]),
    ('a(bool int x)', [(3, "type 'bool int' is not a C type")]),
    ('a(void x)', [(3, "type 'void' has no value: a pointer is 'void *', and no arguments are "
                       "'(void)'")]),
    ('a(void, int b)', [(3, "type 'void' has no value: a pointer is 'void *', and no arguments are "
                            "'(void)'")]),
    ('a(TCGv x)', [(3, "type 'TCGv' is for events with the property tcg")]),
    ('tcg a(TCGv *x) "a", "b"', [(7, "type 'TCGv' is not a value: TCGv is passed as it is")]),
    ('a()', [(3, "expected arguments, or 'void' for none")]),
    ('a(int b,, int c)', [(9, 'expected an argument')]),
    ('a(int b,)', [(9, 'expected an argument')]),
    ('a(int b c)', [(9, "expected ',' or ')' after argument 'b'")]),
    ('a(int b "x"', [(9, "expected ',' or ')' after argument 'b'")]),
    ('a(int b', [(8, "expected ')' after the arguments")]),
    ('a', [(2, "expected '(' and the arguments of event 'a'")]),
    ('a "x"', [(3, "expected '(' and the arguments of event 'a'")]),
    ('(int a)', [(1, "expected an event's name")]),
    ('"x"', [(1, "expected an event's name")]),
    ('a(int b) junk', [(10, 'expected a format in quotes, or nothing, after the arguments')]),
    ('a(int b) PRIx64 "x"', [(10, 'expected a format in quotes, or nothing, after the arguments')]),
    ('a(int b) "x" junk', [(14, "'junk' is neither a string nor a macro like PRIx64")]),
    ('a(int b) "x" ;', [(14, 'expected nothing after the format')]),
    ('a(int b) "x" # y', [(14, 'expected nothing after the format')]),
    ('a(int b) "x', [(10, 'the format has no closing quote')]),
    ('a(int b) "x\\"', [(10, 'the format has no closing quote')]),
    ('a(int b) "x" "y', [(14, 'the format has no closing quote')]),
    ('a(int b) "x\\n"', [(12, 'a format must not end with a newline')]),
    ('a(int b) "x\\012"', [(12, 'a format must not end with a newline')]),
    ('a(int b) "x\\ny"', [(12, 'newline in a format: an event is one line (files of QEMU before 9.1 '
                              'may have one: --grammar=5.0)')]),
    ('a(int b) "x %m"', [(13, '%m is forbidden, pass the error as an argument')]),
    ('a(int b) "x %-5" "m"', [(13, '%m is forbidden, pass the error as an argument')]),
    ('a(int b) "x %"', [(13, 'the format ends within this conversion')]),
    ('a(int b) "%" PRIq64', [(14, "'PRIq64' is neither a string nor a macro like PRIx64")]),
    ('a(int b) "%" PRIx65', [(14, "'PRIx65' is neither a string nor a macro like PRIx64")]),
    ('a(int b) "b", "c"', [(13, 'a second format is for events with the property tcg')]),
    ('tcg a(int b) "b"', [(5, "tcg event 'a' needs two formats, of translation and of execution")]),
    ('tcg a(int b)', [(5, "tcg event 'a' needs two formats, of translation and of execution")]),
    ('tcg a(int b) "b", c', [(19, 'expected the format of execution in quotes')]),
    ('tcg a(int b) "b", "c", "d"', [(22, 'expected nothing after the format')]),
    ('vcpi a(void)', [(1, "unknown property 'vcpi', expected disable, vcpu or tcg")]),
    ('disable disable a(void)', [(9, "property 'disable' is given twice")]),
    ('x y a(int, float f) z', [
        (1, "unknown property 'x', expected disable, vcpu or tcg"),
        (3, "unknown property 'y', expected disable, vcpu or tcg"),
        (10, "argument of type 'int' has no name"),
        (12, f"type 'float' {NOT_ALLOWED}"),
        (21, 'expected a format in quotes, or nothing, after the arguments')]),
    ('a(' + ', '.join(f'int a{i}' for i in range(11)) + ')',
     [(83, 'an event has at most 10 arguments')]),
]
GOOD = r'''
# comment
   # comment

a(void)
b(int x)	"%d %%m \\ \" %"PRIx8" %-5.3d"
 disable  c (  const   char*s,char * const*p )
vcpu d(void)
tcg vcpu disable e(TCGv a, TCGv_i32 b) "t", "e %" PRIx64" %"PRIu64
f(unsigned x, long unsigned int y, int long z, ptrdiff_t w, bool *v) ""
g(int _, int x1) "é"
like_hpet_of_10_0(uint8_t x) "invalid + %u" PRIx8
'''


class Errors(TracetoolTest):
    def run_on(self, *files, options=()):
        done = self.tracetool('--format=h', '--backends=log', '--group=g', *options, *files, 'out.h')
        self.assertEqual(done.stdout, '')
        self.assertEqual(os.path.exists(self.path('out.h')), done.returncode == 0)
        return done

    def expect_errors(self, text, *files, options=()):
        done = self.run_on(*files, options=options)
        self.assertEqual((done.stderr, done.returncode), (text, 1))

    def expected(self, name, number, line, messages):
        return ''.join(f'{name}:{number}:{column}: {message}\n{line}\n{" " * (column - 1)}^\n'
                       for column, message in messages)

    def test_each_line(self):
        for line, messages in LINES:
            with self.subTest(line):
                self.write('e', line + '\n')
                self.expect_errors(self.expected('e', 1, line, messages), 'e')

    def test_all_at_once(self):
        events, text = '', ''
        for number, (line, messages) in enumerate(LINES, 1):
            if 'tcg ' not in line and '\\ny' not in line:
                line = line.replace('a(', f'a{number}(', 1)
                shift = len(str(number))
                if line.startswith('a'):
                    messages = [(c + shift, m) for c, m in messages if f"'a'" not in m]
                    if messages:
                        text += self.expected('dir/e', events.count('\n') + 1, line, messages)
                        events += line + '\n'
        self.write('dir/e', events)
        self.write('dir/f', 'bad\n')
        self.expect_errors(text + self.expected('dir/f', 1, 'bad', [
            (4, "expected '(' and the arguments of event 'bad'")]), 'dir/e', 'dir/f')

    def test_names(self):
        self.write('e', 'a(void)\n\nb(int)\na(int x)\ntcg b(int x) "", ""\nb_exec(void)\nb_trans(void)\n')
        self.write('f', 'c(void)\nA(void)\na(void)\n')
        self.expect_errors(
            "e:3:6: argument of type 'int' has no name\nb(int)\n     ^\n"
            "e:4:1: event 'a' is declared before, at e:1\na(int x)\n^\n"
            "e:6:1: event 'b_exec' is declared before, at e:5\nb_exec(void)\n^\n"
            "e:7:1: event 'b_trans' is declared before, at e:5\nb_trans(void)\n^\n"
            "f:2:1: event 'A' differs from 'a' at e:1 in case alone, and TRACE_A is one macro\n"
            "A(void)\n^\n"
            "f:3:1: event 'a' is declared before, at e:1\na(void)\n^\n", 'e', 'f')

    def test_columns(self):
        self.write('e', '\ta(int\té, int *,\x1b int) "é"\n')
        self.expect_errors(
            "e:1:8: expected the name of the argument of type 'int'\n"
            '\ta(int\té, int *,? int) "é"\n\t     \t^\n'
            "e:1:16: argument of type 'int *' has no name\n"
            '\ta(int\té, int *,? int) "é"\n\t     \t        ^\n'
            "e:1:17: expected an argument's type\n"
            '\ta(int\té, int *,? int) "é"\n\t     \t         ^\n', 'e')

    def test_grammars(self):
        newline = 'x(int a) "a\\nb"\n'
        self.write('new', newline)
        self.write('old', newline + 'vcpu y(void)\ntcg z(TCGv a) "a\\nb", "c"\n')
        self.assertEqual(self.run_on('old').returncode, 0)
        self.assertEqual(self.run_on('new', options=['--grammar=5.0']).returncode, 0)
        where = 'x(int a) "a\\nb"\n           ^\n'
        text = 'newline in a format: an event is one line'
        os.remove(self.path('out.h'))
        self.expect_errors(f'new:1:12: {text} (files of QEMU before 9.1 may have one: '
                           f'--grammar=5.0)\n{where}', 'new')
        self.expect_errors(
            f"old:1:12: {text}\n{where}"
            "old:3:1: property 'tcg' is not in this grammar\n"
            'tcg z(TCGv a) "a\\nb", "c"\n^\n'
            "old:3:7: type 'TCGv' is for events with the property tcg\n"
            'tcg z(TCGv a) "a\\nb", "c"\n      ^\n'
            f'old:3:17: {text}\n'
            'tcg z(TCGv a) "a\\nb", "c"\n                ^\n'
            "old:3:21: a second format is for events with the property tcg\n"
            'tcg z(TCGv a) "a\\nb", "c"\n                    ^\n', 'old', options=['--grammar=10.2'])
        self.write('vcpu', 'vcpu a(int x) "x"\n')
        self.assertEqual(self.run_on('vcpu', options=['--grammar=10.0']).returncode, 0)
        self.assertIn('trace_a(int x)', self.read('out.h'))
        self.assertEqual(self.run_on('vcpu').returncode, 0)
        self.assertIn('trace_a(void *__cpu, int x)', self.read('out.h'))

    def test_good(self):
        for text in (GOOD, GOOD.replace('\n', '\r\n'), GOOD.rstrip('\n'), '', '\n', '#'):
            self.write('e', text)
            done = self.run_on('e')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            os.remove(self.path('out.h'))

    def test_old_output_stays(self):
        self.write('e', 'bad\n')
        self.write('kept', 'old')
        done = self.tracetool('--format=h', '--backends=log', '--group=g', 'e', 'kept')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.read('kept'), 'old')
        self.assertEqual(sorted(os.listdir(self.dir)), ['e', 'kept'])

    def test_ust_arguments(self):
        self.write('e', 'vcpu a(' + ', '.join(f'int a{i}' for i in range(10)) + ')\n')
        self.assertEqual(self.run_on('e').returncode, 0)
        os.remove(self.path('out.h'))
        self.expect_errors("e:1: event 'a' has 11 arguments with its vCPU, LTTng takes 10\n", 'e',
                           options=['--backends=ust'])


class Files(TracetoolTest):
    def test_files(self):
        good = self.write('good', 'a(void)\n')
        words = ['--format=d', '--backends=dtrace', '--group=g']
        done = self.tracetool(*words, 'none', good, 'out')
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'tracetool: none: No such file or directory\n'))
        done = self.tracetool(*words, good, 'no/out')
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, '^tracetool: no/out: cannot be created: No such file or directory\n$')
        done = self.tracetool(*words, '.', 'out')
        self.assertEqual((done.returncode, done.stderr), (1, 'tracetool: .: Is a directory\n'))
        self.assertEqual(os.listdir(self.dir), ['good'])
        for out in ('/dev/stdout', '-'):
            self.assertIn('probe a();', self.tracetool(*words, good, out).stdout)
        self.assertEqual(self.tracetool(*words, good, '/dev/null').returncode, 0)
        self.write('real', 'old')
        os.symlink('real', self.path('link'))
        self.assertEqual(self.tracetool(*words, good, 'link').returncode, 0)
        self.assertTrue(os.path.islink(self.path('link')))
        self.assertIn('probe a();', self.read('real'))
        done = self.tracetool(*words, good, '/dev/full')
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'tracetool: /dev/full: No space left on device\n'))


cases.main()
