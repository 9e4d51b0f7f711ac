"""Checks that it has no descriptors but the null device, two pipes and the channel."""

import stat


def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def kind(number):
    return stat.S_IFMT(os.fstat(number).st_mode)


numbers = [number for number in map(int, os.listdir("/proc/self/fd")) if is_open(number)]
look("more_than_four", len(numbers) > 4)
look("input_is_not_null", os.readlink("/proc/self/fd/0") != "/dev/null")
look("output_is_no_pipe", kind(1) != stat.S_IFIFO or kind(2) != stat.S_IFIFO)
look("other_descriptors", any(number > 3 for number in numbers))
