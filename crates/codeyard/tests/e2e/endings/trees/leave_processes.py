import os, signal, time
def mark():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2): signal.signal(number, signal.SIG_IGN)
for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            mark()
            if number == 0: os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(3600)
        os._exit(0)
