"""Writes an archive of the package `tiny`, whose installation script would leave a file, and a lock file that names it."""

import base64
import hashlib
import io
import json
import pathlib
import sys
import tarfile

directory = pathlib.Path(sys.argv[1])
described = {
    "name": "tiny",
    "version": "1.0.0",
    "type": "module",
    "exports": "./index.js",
    "scripts": {"postinstall": f"touch {directory}/ran"},
}
files = {
    "package/package.json": json.dumps(described),
    "package/index.js": "export const answer = 42;\n",
}
archive = directory / "tiny-1.0.0.tgz"
with tarfile.open(archive, "w:gz") as tar:
    for name, text in files.items():
        info = tarfile.TarInfo(name)
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text.encode()))
digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
wanted = {"tiny": "file:tiny-1.0.0.tgz"}
(directory / "package.json").write_text(json.dumps({"name": "packages", "version": "1.0.0", "dependencies": wanted}))
lock = {
    "name": "packages",
    "version": "1.0.0",
    "lockfileVersion": 3,
    "requires": True,
    "packages": {
        "": {"name": "packages", "version": "1.0.0", "dependencies": wanted},
        "node_modules/tiny": {
            "version": "1.0.0",
            "resolved": "file:tiny-1.0.0.tgz",
            "integrity": f"sha512-{digest}",
            "hasInstallScript": True,
        },
    },
}
(directory / "package-lock.json").write_text(json.dumps(lock))
