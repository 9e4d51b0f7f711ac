// task: Show me the tiny MCP logo image.
// expect: the image is displayed (an image result reaches the user)
try {
  const logo = await tools.everything.get_tiny_image();
  show(logo);
} catch (e) {
  console.error("Could not load the logo:", e);
}
