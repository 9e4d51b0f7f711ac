"""Writes 72 MiB in files of 128 KiB."""

place = new_directory("filled")


def take(number):
    with open(f"{place}/{number}", "wb") as file:
        file.write(bytes(1 << 17))


def give_back():
    for name in os.listdir(place):
        os.unlink(f"{place}/{name}")


exceed("written_72_mib", take, 576, give_back)
