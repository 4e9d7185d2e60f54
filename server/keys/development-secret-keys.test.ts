import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StartError } from "../config/errors.ts";
import { developmentSecretKeys } from "./development-secret-keys.ts";

describe("the generated secret of development", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stile secrets "));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("is generated once, long enough, and readable by its owner only", () => {
    const data = join(folder, "data");
    const first = developmentSecretKeys(data);
    expect(first).toHaveLength(1);
    expect(Buffer.from(first[0] ?? "", "base64url")).toHaveLength(32);
    expect(developmentSecretKeys(data)).toEqual(first);
    expect(statSync(join(data, "secret-keys")).mode & 0o777).toBe(0o600);
  });

  it("differs between installations", () => {
    expect(developmentSecretKeys(join(folder, "a"))).not.toEqual(developmentSecretKeys(join(folder, "b")));
  });

  it("uses keys that the file already has", () => {
    writeFileSync(join(folder, "secret-keys"), "first-key-of-a-person,second-key-of-a-person\n");
    expect(developmentSecretKeys(folder)).toEqual(["first-key-of-a-person", "second-key-of-a-person"]);
  });

  it("does not overwrite an empty file, and reports it", () => {
    writeFileSync(join(folder, "secret-keys"), "");
    expect(() => developmentSecretKeys(folder)).toThrow(StartError);
  });

  it("names the file that cannot be written", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => developmentSecretKeys(join(folder, "file"))).toThrow(/cannot be stored in .*secret-keys/);
    expect(existsSync(join(folder, "file", "secret-keys"))).toBe(false);
  });
});
