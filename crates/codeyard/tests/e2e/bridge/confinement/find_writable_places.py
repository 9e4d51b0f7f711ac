import os
writable = set()
for top, directories, _ in os.walk('/'):
    if top == '/proc': directories.clear(); continue
    directories[:] = [name for name in directories if not os.path.islink(os.path.join(top, name))]
    path = os.path.join(top, '.tried')
    try:
        open(path, 'w').close()
        os.remove(path)
        writable.add(top)
    except OSError: pass
places = {os.path.realpath(place) for place in ('/workspace', '/tmp', '/dev/shm')}
print(sorted(writable - places))
