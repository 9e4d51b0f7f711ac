"""Writes wheels of packages that contain only their version. Arguments: a directory, then NAME==VERSION[:NEEDS,NEEDS]."""

import sys
import zipfile
from pathlib import Path

directory, *packages = sys.argv[1:]
for package in packages:
    package, _, needs = package.partition(":")
    name, _, version = package.partition("==")
    described = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    described += "".join(f"Requires-Dist: {need}\n" for need in needs.split(",") if need)
    described += "Provides-Extra: more\n" if "extra ==" in needs else ""
    file = name.replace("-", "_")
    info = f"{file}-{version}.dist-info"
    with zipfile.ZipFile(Path(directory, f"{file}-{version}-py3-none-any.whl"), "w") as wheel:
        wheel.writestr(f"{file}.py", f"VERSION = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", described)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", f"{file}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
