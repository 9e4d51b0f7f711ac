// Fills its file system with bytes and with files, its table of open files, and one file.

import * as fs from "node:fs";
import * as path from "node:path";

const PIECE = new Uint8Array(1 << 17);
const PLACE = "/tmp/filled";

/** Does the action often, and then makes room again. */
function often(times: number, action: (number: number) => unknown, giveBack: () => void): () => void {
  return () => {
    try {
      for (let number = 0; number < times; number++) action(number);
    } finally {
      giveBack();
    }
  };
}

/** A directory whose files are removed again. */
function directory(place: string) {
  fs.mkdirSync(place);
  return {
    file: (number: number) => path.join(place, `${number}`),
    remove: () => fs.rmSync(place, { recursive: true }),
  };
}

const bytes = directory(`${PLACE}-bytes`);
const files = directory(`${PLACE}-files`);
const shared = directory("/dev/shm/filled");
const links = directory(`${PLACE}-links`);
const open: number[] = [];
const grown = "/tmp/grown";

function openOne(): void {
  open.push(fs.openSync("/dev/null", "r"));
}

function closeAll(): void {
  for (const file of open) fs.closeSync(file);
}

await attempt("written_72_mib", often(576, (number) => fs.writeFileSync(bytes.file(number), PIECE), bytes.remove));
await attempt("made_4000_files", often(4_000, (number) => fs.writeFileSync(files.file(number), ""), files.remove));
await attempt("made_4000_directories", often(4_000, (number) => fs.mkdirSync(shared.file(number)), shared.remove));
await attempt("made_4000_links", often(4_000, (number) => fs.symlinkSync(PLACE, links.file(number)), links.remove));
await attempt("opened_400", often(400, openOne, closeAll));
await attempt("grown_file", often(160, () => fs.appendFileSync(grown, PIECE), () => fs.rmSync(grown)));
await attempt("stretched_file", () => {
  fs.writeFileSync("/tmp/stretched", "");
  fs.truncateSync("/tmp/stretched", 2 ** 40);
});
await attempt("one_file", () => fs.writeFileSync("/tmp/one", PIECE));
