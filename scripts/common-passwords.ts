import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";

/**
 * Edits the list of common passwords, which is stored compressed:
 *
 *     node scripts/common-passwords.ts unpack > list.txt
 *     node scripts/common-passwords.ts pack < list.txt
 *
 * The list has one password a line. `pack` brings it into the form in which passwords are compared with it (NFC, lower
 * case), drops those shorter than eight characters, which `password.min_length` rejects anyway, and sorts it, which
 * compresses best. The same list always results in the same file. `server/methods/password/common-passwords.ts` names the
 * source of the list.
 */

const MIN_CHARACTERS = 8;

const file = new URL("../server/methods/password/common-passwords.txt.br", import.meta.url);
const [command] = process.argv.slice(2);

if (command === "unpack") {
  process.stdout.write(brotliDecompressSync(readFileSync(file)));
} else if (command === "pack") {
  const passwords = readFileSync(0, "utf8")
    .split("\n")
    .map((line) => line.trim().normalize("NFC").toLowerCase())
    .filter((password) => [...password].length >= MIN_CHARACTERS);
  const list = [...new Set(passwords)].sort();
  writeFileSync(file, brotliCompressSync(`${list.join("\n")}\n`));
  process.stdout.write(`${list.length} passwords\n`);
} else {
  process.stderr.write("usage: node scripts/common-passwords.ts unpack | pack\n");
  process.exitCode = 1;
}
