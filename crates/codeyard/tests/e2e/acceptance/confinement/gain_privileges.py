import os, subprocess
before = os.getresuid()
try:
    os.setuid(0)
    print('worked')
except OSError as e:
    print(e.errno)
print(os.getresuid() == before)
setuid = [f'/usr/bin/{n}' for n in os.listdir('/usr/bin') if os.stat(f'/usr/bin/{n}', follow_symlinks=False).st_mode & 0o4000]
print(bool(os.statvfs('/usr/bin').f_flag & os.ST_NOSUID))
for path in setuid:
    if path.endswith('/su'):
        done = subprocess.run([path, '-c', 'id -u'], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        print('su gave', done.stdout) if done.returncode == 0 else None
