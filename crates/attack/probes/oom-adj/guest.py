"""Lowers its own `oom_score_adj`, so that the kernel would kill other processes first."""


def lower():
    with open("/proc/self/oom_score_adj", "r+") as score:
        now = int(score.read())
        score.write(str(now - 1))


with open("/proc/self/oom_score_adj") as score:
    look("goes_last", int(score.read()) < 1000)
attempt_in_child("lower", lower)
