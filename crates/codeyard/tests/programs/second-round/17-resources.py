# Request: What resources does the demonstration server offer? Read the first few of each kind and tell me type, size and the beginning.
import base64

links = await tools.everything.get_resource_links(count=10)
blocks = links if isinstance(links, list) else links.get("content", [links]) if isinstance(links, dict) else [links]
def val(x, *keys):
    for k in keys:
        x = x.get(k) if isinstance(x, dict) else getattr(x, k, None)
        if x is None:
            return None
    return x
print("offered:")
for b in blocks:
    if val(b, "uri"):
        print(" ", val(b, "uri"), "|", val(b, "name"), "|", val(b, "mimeType"))
    elif isinstance(b, str) or val(b, "text"):
        print(" ", (b if isinstance(b, str) else val(b, "text"))[:200])
print("read:")
for kind in ("Text", "Blob"):
    for i in (1, 2, 3):
        r = await tools.everything.get_resource_reference(resourceType=kind, resourceId=i)
        items = r if isinstance(r, list) else [r]
        for item in items:
            res = val(item, "resource") or (item if val(item, "uri") else None)
            if res is None:
                continue
            text, blob = val(res, "text"), val(res, "blob")
            raw = text if text is not None else base64.b64decode(blob) if isinstance(blob, str) else blob
            print(" ", kind, i, val(res, "uri"), val(res, "mimeType"), len(raw), "characters" if text is not None else "bytes", repr(raw[:60]))
