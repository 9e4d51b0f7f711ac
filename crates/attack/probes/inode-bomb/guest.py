"""Makes 4,000 empty files in each of its own file systems, five at a time."""


def bomb(name, place):
    def take(number):
        for part in range(5):
            os.close(os.open(f"{place}/{number}-{part}", os.O_CREAT | os.O_WRONLY))

    def give_back():
        for file in os.listdir(place):
            os.unlink(f"{place}/{file}")

    exceed(name, take, 800, give_back)


def shared_memory():
    """A new directory in /dev/shm, or in the temporary directory if sessions have no shared memory."""
    if not given["inside"]:
        return tempfile.mkdtemp(dir=os.getcwd())
    try:
        return tempfile.mkdtemp(dir="/dev/shm")
    except PermissionError:
        return tempfile.mkdtemp()


bomb("in_temporary", new_directory("bomb"))
bomb("in_shared_memory", shared_memory())
