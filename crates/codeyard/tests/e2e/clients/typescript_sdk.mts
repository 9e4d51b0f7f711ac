// The default time limit of a call.
import { DEFAULT_REQUEST_TIMEOUT_MSEC } from "@modelcontextprotocol/client";

console.log(DEFAULT_REQUEST_TIMEOUT_MSEC);
