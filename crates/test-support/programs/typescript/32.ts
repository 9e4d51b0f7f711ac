// task: List three resource links of the test server, and show the success message with its image.
// expect: three links with names and URIs, and an image shown along with the success message
const links = await tools.everything.get_resource_links({ count: 3 });
const blocks = Array.isArray(links) ? links : links.content ?? [links];
const found = blocks
  .filter((b: any) => b.type === "resource_link")
  .map(({ name, uri, mimeType }: any) => ({ name, uri, mimeType }));

const msg = await tools.everything.get_annotated_message({ messageType: "success", includeImage: true });
show(msg);

return { count: found.length, found };
