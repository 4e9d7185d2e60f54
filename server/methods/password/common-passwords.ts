import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { projectPath } from "../../lib/project-path.ts";

/*
 * The list is a data file, `common-passwords.txt.br`; `scripts/common-passwords.ts` unpacks and packs it. It holds the
 * 10024 most used passwords of eight and more characters, in lower case, from the list of leaked passwords in the npm
 * package `@zxcvbn-ts/language-common` 4.1.3, which bears this notice:
 *
 * Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc.
 * Copyright (c) 2021 @zxcvbn-ts
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation
 * the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and
 * to permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of
 * the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO
 * THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT,
 * TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */

let passwords: ReadonlySet<string> | undefined;

/**
 * Whether a password is one of the most used ones. The first call reads the list, which takes a few milliseconds.
 *
 * @param folded the password in NFC and lower case
 */
export function isCommonPassword(folded: string): boolean {
  passwords ??= readCommonPasswords();
  return passwords.has(folded);
}

/** Reads the list: one password a line, sorted. */
export function readCommonPasswords(): ReadonlySet<string> {
  const file = projectPath("server", "methods", "password", "common-passwords.txt.br");
  if (file === null) throw new Error("The file server/methods/password/common-passwords.txt.br is missing.");
  return new Set(brotliDecompressSync(readFileSync(file)).toString().trimEnd().split("\n"));
}
