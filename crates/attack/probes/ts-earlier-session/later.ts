// The next session of the same tenant finds neither files nor globals of the attacker.

import * as fs from "node:fs";

look("nothing_in_tmp", !fs.existsSync("/tmp/left-behind"));
look("no_globals", !("shared" in globalThis));
