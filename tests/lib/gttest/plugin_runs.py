# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU with a plugin: how it ended, and what the plugin printed. The plugin's lines on standard error
begin with "guesttrace-TOOL: "."""
import os
from types import SimpleNamespace

from gttest import commands, compilers, functions, paths, qemus
from gttest.paths import GUESTTRACE


def said_by(name, errors):
    """The lines of a plugin, without what they begin with."""
    prefix = f'guesttrace-{name}: '
    return [line[len(prefix):] for line in errors.split('\n') if line.startswith(prefix)]


class PluginTest(functions.Scratch):
    """What tests of a plugin are given. A run's end: status, out (bytes), errors (text), said (the plugin's)."""

    plugin = ''   # the tool that is tested
    output = ''   # the plugin's argument for where the recording goes
    keeps = False # it is loaded with keep=events, too, where it is controlled
    guests = ''   # the folder of programs

    def end_of(self, done):
        errors = done.stderr.decode(errors='replace')
        return SimpleNamespace(status=done.returncode, out=done.stdout, errors=errors,
                               said=said_by(self.plugin, errors))

    def run(self, command, **more):
        return self.end_of(commands.run(command, **more))

    def finish(self, child):
        return self.end_of(commands.finish(child))

    def build(self, source, arch, *flags, name=None):
        """A program of the test's folder of programs, static; its path."""
        out = f'{self.folder}/{name or os.path.basename(source)}-{arch}'
        return compilers.compile_to(out, arch, os.path.join(self.guests, source), '-static', '-g0', '-Wall',
                                    f'-I{paths.START}', *flags)

    def word(self, *given):
        """The value of QEMU's -plugin."""
        return ','.join([paths.plugin(self.plugin), *given])

    def user(self, arch, guest, arguments, *options, command=(), **more):
        """Starts qemu-ARCH with the plugin; `arguments` begin with a comma."""
        word = self.word(f'{self.output}={self.out}') + arguments
        if 'control=' in arguments and self.keeps:
            options = (*paths.keep(paths.plugin(self.plugin)), *options)
        return commands.start([qemus.user(arch), *options, '-plugin', word, guest, *command], **more)

    def record(self, *words, **more):
        """`guesttrace record --tool`, with the QEMU in PATH and not one that scripts/qemus has built."""
        env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS, XDG_CACHE_HOME=self.folder)
        return self.run([GUESTTRACE, 'record', '--tool', self.plugin, *words], env=env, cwd=self.folder, **more)
