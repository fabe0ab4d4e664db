#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what people read: messages, comments of headers and file heads, docs/, README, CONTRIBUTING.

Phrases that say nothing to an engineer, or sound translated, are findings: one line each,
"FILE:LINE: phrase". Code blocks of pages are not checked.

Clauses in place of nouns ("what is left" for "the rest") are right now and then, and hard to read as a habit: they are
counted, in all comments too, and a number of them may not be exceeded. --clauses lists them.

usage: phrases.py [--clauses] [SOURCE]
"""
import argparse
import collections
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

# In place of nouns. The limit is lowered with what is rewritten, and not raised.
CLAUSES = {
    'what is': r'\bwhat (?:is|are|was|were)\b',
    'those of': r'\bthose of\b',
    'is no X': r'(?<!there )\b(?:is|are|was|were) no (?!more\b|longer\b|less\b|other\b|different\b)\w+',
    'nobody': r'\bnobody\b',
}
CLAUSES = {kind: re.compile(pattern, re.I) for kind, pattern in CLAUSES.items()}
CLAUSE_LIMIT = 34
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


def parts_of(root, kinds):
    """(path, line, text) of all parts; kinds: (pattern, function) pairs."""
    for pattern, parts in kinds:
        for path in sorted(glob.glob(f'{root}/{pattern}', recursive=True)):
            with open(path, encoding='utf-8') as f:
                text = f.read()
            for line, part in parts(text):
                yield os.path.relpath(path, root), line, part


def check_phrases(root):
    """The number of findings."""
    findings, files = 0, set()
    for path, line, part in parts_of(root, (('src/**/*.[ch]', messages), ('src/**/*.h', comments),
                                            ('include/**/*.h', comments), ('src/**/*.c', head),
                                            ('docs/**/*.md', pages), ('*.md', pages))):
        files.add(path)
        for found in PHRASE.finditer(part):
            findings += 1
            print(f'{path}:{line}: "{found.group()}"')
    print(f'{len(files)} files, {findings} findings')
    return findings if files else 1


def check_clauses(root, show):
    """True: no more than the limit. The entries of earlier releases are not rewritten."""
    counts = collections.Counter()
    for path, line, part in parts_of(root, (('src/**/*.[ch]', messages), ('src/**/*.[ch]', comments),
                                            ('include/**/*.h', comments), ('docs/**/*.md', pages),
                                            ('[!C]*.md', pages), ('CONTRIBUTING.md', pages))):
        for kind, pattern in CLAUSES.items():
            for found in pattern.finditer(part):
                counts[kind] += 1
                if show:
                    print(f'{path}:{line}: {part[max(0, found.start() - 40):found.end() + 40]}')
    total = sum(counts.values())
    print(f'{total} clauses in place of nouns, at most {CLAUSE_LIMIT}: '
          + ', '.join(f'"{kind}" {n}' for kind, n in sorted(counts.items())))
    if total > CLAUSE_LIMIT:
        print('name the thing instead ("the rest" for "what is left"); phrases.py --clauses lists them')
    return total <= CLAUSE_LIMIT


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--clauses', action='store_true')
    options.add_argument('source', nargs='?', default='.')
    given = options.parse_args()
    root = os.path.abspath(given.source)
    findings = check_phrases(root)
    return 0 if check_clauses(root, given.clauses) and not findings else 1


sys.exit(main())
