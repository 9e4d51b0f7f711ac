// The module `node:fs`.

import * as operations from "./fs_operations.js";

export * from "./fs_operations.js";

export default { ...operations };
