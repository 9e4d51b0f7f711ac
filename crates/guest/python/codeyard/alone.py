"""A session in its own interpreter, for hosts that cannot clone a zygote.

It is confined before the interpreter is executed; its one argument holds all paths. Descriptor 3 is
the socket to the host; standard input is the null device.
"""

import builtins
import json
import sys

CHANNEL = 3


def main():
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path.insert(0, settings["guest"])
    sys.path.extend(settings["site"])
    # The additions of `site`, without closing standard input.
    builtins.exit = builtins.quit = sys.exit
    from codeyard import places, runner

    places.move(settings["places"])
    copy_without_marks()
    runner.serve(CHANNEL)


def copy_without_marks():
    """Makes `shutil` copy without permissions and times, which cannot be set here."""
    import shutil

    def leave(source, target, *, follow_symlinks=True):
        """Does nothing."""

    shutil.copymode = shutil.copystat = leave


if __name__ == "__main__":
    main()
