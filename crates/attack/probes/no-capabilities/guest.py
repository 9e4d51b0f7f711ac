"""Checks that its capability sets are empty and that it cannot gain privileges."""

with open("/proc/self/status") as lines:
    status = dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
NONE = "0" * 16
look("permitted", status["CapPrm"] != NONE)
look("effective", status["CapEff"] != NONE)
look("bounding", status["CapBnd"] != NONE)
look("inheritable", status["CapInh"] != NONE)
look("ambient", status["CapAmb"] != NONE)
look("new_privileges", status["NoNewPrivs"] != "1")
