import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b''
while b'ends it' not in seen:
    seen += os.read(terminal, 4096)
os.write(terminal, b'\x04')
_, status = os.waitpid(child, 0)
print(seen.decode(), os.waitstatus_to_exitcode(status))
