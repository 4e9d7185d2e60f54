import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isInstalled } from "../scripts/test-programs.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";
import { run } from "../server/testing/program.ts";

const unit = readFileSync(join(import.meta.dirname, "systemd/stile.service"), "utf8");

const folder = folderForTests("systemd");

/** What `systemd-analyze security` allows at most: 0 is the least exposed, 10 the most. */
const EXPOSURE = 1.5;

describe.skipIf(!isInstalled("systemd-analyze"))("the unit for systemd", () => {
  const analyze = (...words: string[]) =>
    run("systemd-analyze", words, { cwd: folder, env: { ...process.env, LC_ALL: "C" } });

  test("is found right by systemd", async () => {
    // A program that this machine has in place of that of the unit.
    const program = /^ExecStart=(\S+)/m.exec(unit)?.[1] ?? "";
    mkdirSync(join(folder, "verified"));
    const file = join(folder, "verified", "stile.service");
    writeFileSync(file, unit.replace(program, "/bin/true"));
    const { code, out, err } = await analyze("verify", "--man=no", file);
    const own = (out + err).split("\n").filter((line) => line.includes("stile.service"));
    expect({ code, own }).toEqual({ code: 0, own: [] });
  });

  test("lets the service do little", async () => {
    const file = join(folder, "stile.service");
    writeFileSync(file, unit);
    const { code, out, err } = await analyze(
      ...["security", "--offline=true", `--threshold=${EXPOSURE * 10}`, file],
    );
    expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
  });
});
