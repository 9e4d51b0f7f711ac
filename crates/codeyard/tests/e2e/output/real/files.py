# Lines of a listing, cut into fields.
import re

where = (await tools.filesystem.list_allowed_directories()).content.splitlines()[-1]
for n in range(15):
    await tools.filesystem.write_file(path=f"{where}/report-{n:02}.txt", content="line\n" * n)
text = (await tools.filesystem.list_directory_with_sizes(path=where)).content
found = re.findall(r"\[(FILE|DIR)\] (\S+) +([\d.]+ \w+)?", text)
return [{"kind": kind.lower(), "name": name, "size": size or None} for kind, name, size in found]
