#!/usr/bin/env python3
"""The scripts on machines that lack something. The PATH holds a few harmless programs, and apt-get, sudo and compilers made for a test.

usage: tests/scripts/scripts_test.py [unittest's arguments]
"""

import os
import pathlib
import pty
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARMLESS = ("awk bash basename cat chmod cp cut dirname env false find grep head id ls mkdir mktemp mv nproc printf readlink rm sed sleep "
            "sort tail touch tr true uname wc").split()

LOG = """#!/usr/bin/env bash
echo "${0##*/} $*" >>"$COMMANDS"
"""


class machine:
    """A copy of the scripts, which other users may read, and the programs that are installed beside it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.chmod(0o777)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for name in HARMLESS:
            self.link(name)
        self.tree = self.folder / "tree"
        shutil.copytree(ROOT / "scripts", self.tree / "scripts")
        for path in [self.tree, *self.tree.rglob("*")]:
            path.chmod(0o777)
        self.commands = self.folder / "commands"
        self.commands.touch()
        self.commands.chmod(0o666)
        self.add("apt-get", LOG)
        self.add("apt-cache", LOG)

    def link(self, name):
        (self.programs / name).symlink_to(shutil.which(name))

    def add(self, name, text):
        program = self.programs / name
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)

    def environment(self, **more):
        return {"PATH": str(self.programs), "HOME": str(self.folder), "COMMANDS": str(self.commands), "TERM": "xterm", **more}

    def run(self, *command, user=None, **more):
        """Its status and what it printed, on both streams; neither is a terminal."""
        done = subprocess.run(command, cwd=self.tree, env=self.environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False, preexec_fn=become(user))
        return done.returncode, done.stdout

    def run_on_terminal(self, *command, user=None, **more):
        """What it printed on a terminal of its own."""
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.chdir(self.tree)
                become(user)()
                os.execvpe(command[0], command, self.environment(**more))
            finally:
                os._exit(127)
        output = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            output += piece
        os.close(terminal)
        os.waitpid(child, 0)
        return output.decode()

    def asked(self, program):
        """The command lines with which a program made of LOG was called."""
        return [line for line in self.commands.read_text().splitlines() if line.startswith(program)]

    def installed(self):
        """The packages that apt-get was asked to install."""
        lines = [line for line in self.asked("apt-get") if re.search(r" install ", line) and " -s " not in line]
        return {word for line in lines for word in line.split(" install ")[1].split() if not word.startswith("-")}


def become(user):
    def change():
        if user is not None and os.geteuid() == 0:
            os.setgid(user)
            os.setuid(user)

    return change


NOBODY = 65534


class the_scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = machine(folder.name)
        if os.geteuid():
            self.machine.add("sudo", '#!/usr/bin/env bash\nif [[ $1 == -n ]]; then shift; fi\nexec "$@"\n')

    def test_quickstart_installs_what_it_uses_and_no_more(self):
        self.machine.run("bash", "scripts/quickstart")
        self.assertEqual(self.machine.installed(),
                         {"g++", "cmake", "ninja-build", "libcli11-dev", "nlohmann-json3-dev", "libfmt-dev", "python3", "libhdf5-dev"})

    def test_quickstart_reads_hdf5_where_python3_is_there(self):
        self.machine.link("python3")
        self.machine.run("bash", "scripts/quickstart")
        self.assertIn("libhdf5-dev", self.machine.installed())

    def test_a_password_may_be_typed_on_a_terminal(self):
        self.machine.add("sudo", LOG + 'if [[ $1 == -n ]]; then echo "sudo: a password is required" >&2; exit 1; fi\nexec "$@"\n')
        output = self.machine.run_on_terminal("bash", "scripts/bootstrap", user=NOBODY)
        self.assertIn("g++", self.machine.installed(), output)
        self.assertIn("password", output)

    def test_nobody_waits_for_a_password_without_a_terminal(self):
        self.machine.add("sudo", LOG + 'if [[ $1 == -n ]]; then echo "sudo: a password is required" >&2; exit 1; fi\nsleep 60\n')
        status, output = self.machine.run("bash", "scripts/bootstrap", user=NOBODY)
        self.assertEqual(status, 1)
        self.assertEqual(self.machine.installed(), set())
        self.assertRegex(output, r"an administrator can install what is missing with this line[^\n]*\nsudo apt-get update && .* g\+\+ ")

    def test_a_clang_without_openmp_gets_its_runtime_and_no_other_compiler(self):
        self.machine.add("clang++-19", """#!/usr/bin/env bash
if [[ $* == *--version* ]]; then echo "Debian clang version 19.1.7"; exit 0; fi
if [[ $* == *-dumpversion* ]]; then echo 19.1.7; exit 0; fi
[[ $* != *-fopenmp* ]]
""")
        _, output = self.machine.run("bash", "scripts/bootstrap", "--dry-run", CXX="clang++-19")
        self.assertIn(" libomp-19-dev ", output)
        self.assertNotIn(" g++ ", output)

    def test_a_clang_that_is_not_there_is_installed_with_its_runtime(self):
        _, output = self.machine.run("bash", "scripts/bootstrap", "--dry-run", CXX="clang++-19")
        self.assertIn(" clang-19 libomp-19-dev ", output)

    def test_a_compiler_that_stays_too_old_is_refused_with_the_minima(self):
        self.machine.add("c++", "#!/usr/bin/env bash\nexit 1\n")
        status, output = self.machine.run("bash", "scripts/bootstrap")
        self.assertEqual(status, 1)
        self.assertRegex(output, r"CMake 3\.22.* g\+\+ 11 or clang 14")
        self.assertIn("CXX=", output)

    def test_a_cmake_that_is_too_old_for_the_presets_is_refused_with_a_sentence(self):
        self.machine.add("cmake", '#!/usr/bin/env bash\necho "cmake version 3.18.4"\n')
        status, output = self.machine.run("bash", "-c", ". scripts/common.sh; configure ci build")
        self.assertEqual(status, 1)
        self.assertIn("CMake 3.22 or newer is needed (found: cmake version 3.18.4)", output)

    def test_cmake_3_22_will_do(self):
        self.machine.add("cmake", LOG + 'echo "cmake version 3.22.1"\n')
        status, output = self.machine.run("bash", "-c", ". scripts/common.sh; configure ci build")
        self.assertEqual(status, 0, output)
        self.assertIn("--preset ci", self.machine.asked("cmake")[-1])
        _, output = self.machine.run("bash", "scripts/bootstrap", "--dry-run")
        self.assertNotRegex(output, r"would install .*\bcmake\b")

    def test_a_long_step_shows_that_it_goes_on(self):
        self.machine.add("apt-get", LOG + 'if [[ $* == *" install "* ]]; then echo "Unpacking something"; sleep 2.5; fi\n')
        _, output = self.machine.run("bash", "scripts/bootstrap", ONEFOLD_PROGRESS_SECONDS="1")
        self.assertRegex(output, r"bootstrap: \d s: Unpacking something")

    def test_a_long_step_shows_that_it_goes_on_on_a_terminal(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.machine.add("apt-get", LOG + 'if [[ $* == *" install "* ]]; then echo "Unpacking something"; sleep 2.5; fi\n')
        output = self.machine.run_on_terminal("bash", "scripts/bootstrap")
        self.assertRegex(output, r"\r\x1b\[K  \d s  Unpacking something")

    def test_a_step_that_fails_keeps_its_status_and_its_output(self):
        script = ". scripts/common.sh; with_progress log bash -c 'echo why; exit 7' || echo status $?; cat log"
        self.assertEqual(self.machine.run("bash", "-c", script), (0, "status 7\nwhy\n"))


if __name__ == "__main__":
    unittest.main()
