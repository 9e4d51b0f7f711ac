// How long a call may take where nothing is said of it.
import { DEFAULT_REQUEST_TIMEOUT_MSEC } from "@modelcontextprotocol/client";

console.log(DEFAULT_REQUEST_TIMEOUT_MSEC);
