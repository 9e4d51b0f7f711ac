import base64

get = lambda x, k: x.get(k) if isinstance(x, dict) else getattr(x, k, None)
links = await tools.everything.get_resource_links(count=10)
print("offered:")
for b in links.content:
    if get(b, "uri"):
        print(" ", get(b, "uri"), "|", get(b, "name"), "|", get(b, "mimeType"))
print("read:")
for kind in ("Text", "Blob"):
    for i in (1, 2, 3):
        r = await tools.everything.get_resource_reference(resourceType=kind, resourceId=i)
        for item in r.content:
            res = get(item, "resource")
            if res is None:
                continue
            text, blob = get(res, "text"), get(res, "blob")
            raw = text if text is not None else base64.b64decode(blob) if isinstance(blob, str) else blob
            print(" ", kind, i, get(res, "uri"), get(res, "mimeType"), len(raw), "characters" if text is not None else "bytes", repr(raw[:60]))
