"""Reads the same files by the same paths."""

CANARY = given["host"]["file"]
VICTIM = f"/proc/{given['host']['victim']}"
UP = "../" * 40


def read(path):
    with open(path, "rb") as file:
        file.read(100)


def through_link():
    os.symlink(CANARY, "link")
    read("link")


for name in ("canary", "canary_by_url", "canary_later", "canary_opened", "canary_copied", "import_canary", "import_by_url"):
    attempt(name, lambda: read(CANARY))
for name in ("by_climbing", "import_by_climbing"):
    attempt(name, lambda: read(UP + CANARY[1:]))
attempt("shadow", lambda: read("/etc/shadow"))
attempt("list_directory_of_canary", lambda: os.listdir(given["host"]["directory"]))
attempt("through_root", lambda: read(f"/proc/self/root/{UP}{CANARY[1:]}"))
attempt("through_working_directory", lambda: read(f"/proc/self/cwd/{UP}{CANARY[1:]}"))
attempt("through_link", through_link)
attempt("root_home", lambda: os.listdir("/root"))
attempt("homes", lambda: os.stat("/home/../root"))
attempt("sys", lambda: os.listdir("/sys/kernel"))
attempt("run", lambda: os.listdir("/run"))
attempt("var", lambda: os.listdir("/var/lib"))
attempt("kernel_files", lambda: read("/proc/meminfo"))
attempt("devices", lambda: os.stat("/dev/tty"))
attempt("victim", lambda: read(f"{VICTIM}/cmdline"))
attempt("root_of_victim", lambda: os.listdir(f"{VICTIM}/root/"))
attempt("import_environment", lambda: read("/proc/self/environ"))
look("other_processes", any(name.isdigit() and int(name) != os.getpid() for name in os.listdir("/proc")))
