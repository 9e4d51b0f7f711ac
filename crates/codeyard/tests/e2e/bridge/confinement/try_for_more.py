import ctypes, os
status = dict(line.split(':\t', 1) for line in open('/proc/self/status') if ':\t' in line)
print(*[status[name].strip('0\n') or '0' for name in ('CapEff', 'CapPrm', 'CapInh', 'CapAmb', 'CapBnd', 'NoNewPrivs', 'Seccomp')])
libc = ctypes.CDLL(None, use_errno=True)
for name, call in [('user namespace', lambda: libc.unshare(0x10000000)), ('mount namespace', lambda: libc.unshare(0x20000)), ('mount', lambda: libc.mount(b'x', b'/tmp', b'tmpfs', 0, None)), ('setuid', lambda: libc.setuid(0)), ('ptrace', lambda: libc.ptrace(16, 1, 0, 0))]:
    print(name, call() == 0)
for file in ('uid_map', 'gid_map', 'setgroups'):
    try:
        open('/proc/self/' + file, 'w').write('0 0 1')
        print('wrote', file)
    except OSError: pass
