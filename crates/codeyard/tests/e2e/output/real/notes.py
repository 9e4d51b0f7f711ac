# A table with a long column: the lines of what a tool wrote as text.
allowed = (await tools.filesystem.list_allowed_directories()).content.splitlines()[-1]
path = f"{allowed}/notes.txt"
await tools.filesystem.write_file(
    path=path, content="".join(f"entry {n}: moved {n * 3} boxes, see \"plan | {n}\"\n" for n in range(18))
)
text = (await tools.filesystem.read_text_file(path=path)).content
return [{"line": number, "length": len(line), "text": line} for number, line in enumerate(text.splitlines(), 1)]
