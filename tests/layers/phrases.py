#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what people read: messages, comments of headers and file heads, docs/, README, CONTRIBUTING.

Phrases that say nothing to an engineer, or sound translated, are findings: one line each,
"FILE:LINE: phrase". Code blocks of pages are not checked.

usage: phrases.py [SOURCE]
"""
import glob
import os
import re
import sys

BANNED = [
    r'but for', r'so many', r'(?<!there )is none', r'(?<!there )are none', r'(?:is|are|was|were) told', r'tells? (?:of|apart)',
    r'told apart', r'of use', r'to be had', r'goes on with', r'go on with', r'takes thought', r'for who', r'as ever',
    r'made whole', r'make [^.`]* whole', r'no doubts?', r'beyond doubt', r'by itself alone',
]
PHRASE = re.compile(r'\b(?:' + '|'.join(BANNED) + r')\b', re.I)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def comments_blanked(text):
    return re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)


def messages(text):
    """(line, text) of string literals; those that C joins are one."""
    code = comments_blanked(text)
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', code):
        line = code.count('\n', 0, match.start()) + 1
        before = code[code.rfind('\n', 0, match.start()) + 1:match.start()]
        if not before.lstrip().startswith('#include'):
            yield line, ''.join(STRING.findall(match.group()))


def comments(text):
    """(line, text) of comments, without the stars at the beginnings of lines."""
    for match in re.finditer(r'/\*.*?\*/', text, re.S):
        yield text.count('\n', 0, match.start()) + 1, re.sub(r'\s*\n\s*\*?\s*', ' ', match.group())


def head(text):
    """The comments before the first line of code."""
    return comments(re.match(r'(?:\s|/\*.*?\*/)*', text, re.S).group())


def pages(text):
    """(line, text) of paragraphs, without code blocks."""
    text = re.sub(r'(?ms)^```.*?^```', lambda m: re.sub(r'[^\n]', ' ', m.group()), text)
    for match in re.finditer(r'(?:[^\n]+\n)+', text):
        yield text.count('\n', 0, match.start()) + 1, match.group().replace('\n', ' ')


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else '.')
    files = findings = 0
    for pattern, parts in (('src/**/*.[ch]', messages), ('src/**/*.h', comments),
                           ('include/**/*.h', comments), ('src/**/*.c', head),
                           ('docs/**/*.md', pages), ('*.md', pages)):
        for path in sorted(glob.glob(f'{root}/{pattern}', recursive=True)):
            files += 1
            with open(path, encoding='utf-8') as f:
                text = f.read()
            for line, part in parts(text):
                for found in PHRASE.finditer(part):
                    findings += 1
                    print(f'{os.path.relpath(path, root)}:{line}: "{found.group()}"')
    print(f'{files} files, {findings} findings')
    return 1 if findings or not files else 0


sys.exit(main())
