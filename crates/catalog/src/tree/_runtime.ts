/** What a tool answers. */
export type ToolResult<T = any> = T;

declare function __toolcall__(server: string, tool: string, args?: object): Promise<any>;

/** Calls a tool by the names of its server and its own. */
export async function toolcall(server: string, tool: string, args: object = {}): Promise<ToolResult> {
  return await __toolcall__(server, tool, args);
}
