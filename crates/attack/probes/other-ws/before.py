"""B writes a file and prints its path; others can use that path only in a control."""

with open("of-b", "w") as file:
    file.write("of b")
say("directory", os.getcwd())
say("process", os.getpid())
