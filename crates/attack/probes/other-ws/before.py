"""B writes a file and says where it lies; only in a control is that a place that others can name."""

with open("of-b", "w") as file:
    file.write("of b")
say("directory", os.getcwd())
say("process", os.getpid())
