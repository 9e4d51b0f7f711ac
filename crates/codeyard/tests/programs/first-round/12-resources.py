# Request: Which resources does the everything server offer? Get five resource links and one text and one blob reference, and show what is in them.
links = await tools.everything.get_resource_links(count=5)
print("LINKS")
print(links)
for kind in ("Text", "Blob"):
    ref = await tools.everything.get_resource_reference(resourceType=kind, resourceId=2)
    print(kind.upper())
    print(ref)
