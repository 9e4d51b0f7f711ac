"""A session in an interpreter of its own: where it cannot be cloned from a zygote, it starts afresh.

It is confined before the interpreter is executed, and told in its one argument where everything lies.
Descriptor 3 is the socket to the host; standard input is the null device.
"""

import builtins
import json
import sys

CHANNEL = 3


def main():
    """Becomes a session."""
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path.insert(0, settings["guest"])
    sys.path.extend(settings["site"])
    # What `site` would add, without its closing of standard input.
    builtins.exit = builtins.quit = sys.exit
    from codeyard import places, runner

    places.move(settings["places"])
    copy_without_marks()
    runner.serve(CHANNEL)


def copy_without_marks():
    """Permissions and times of files cannot be set here, so that copies must do without."""
    import shutil

    def leave(source, target, *, follow_symlinks=True):
        """Leaves them as they are."""

    shutil.copymode = shutil.copystat = leave


if __name__ == "__main__":
    main()
