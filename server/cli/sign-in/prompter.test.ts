import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { CommandError } from "../command.ts";
import { prompter } from "./prompter.ts";

/** A terminal: what is written to it, whether it is in raw mode, and the prompter that asks there. */
function terminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => void modes.push(raw),
  });
  const interrupted = new AbortController();
  let written = "";
  const asking = prompter(
    input,
    (text) => {
      written += text;
    },
    interrupted.signal,
  );
  /** Types each text by itself, as a person does. */
  const type = async (...keys: string[]) => {
    for (const key of keys) {
      input.write(key);
      await new Promise(setImmediate);
    }
  };
  return { asking, input, interrupted, modes, type, written: () => written };
}

describe("a terminal", () => {
  test("shows what is typed once, and an asterisk for each character of a secret", async () => {
    const { asking, type, written } = terminal();
    const name = asking.ask("Name: ");
    await type("A", "d", "a", "\r");
    const secret = asking.ask("Secret: ", true);
    await type("s", "é", "🗝", "x y", "\r");
    expect([await name, await secret]).toEqual(["Ada", "sé🗝x y"]);
    // A line that is drawn again for each key would be repeated where it is longer than the terminal is wide.
    expect(written()).toBe("Name: Ada\nSecret: ******\n");
  });

  test("takes back a character, and the whole line", async () => {
    const { asking, type, written } = terminal();
    const answer = asking.ask("Secret: ", true);
    await type("ab🗝", "\u007f", "c", "\u0015", "de", "\u001b[D", "\u001b", "\r");
    expect(await answer).toBe("de");
    expect(written()).toBe("Secret: ***\r\u001b[KSecret: ***\r\u001b[KSecret: **\n");
  });

  test.each<[string, (at: ReturnType<typeof terminal>) => unknown, string]>([
    ["Ctrl-C", ({ type }) => type("se", "\u0003"), "interrupted"],
    ["a signal", ({ interrupted }) => interrupted.abort(), "interrupted"],
    ["Ctrl-D", ({ type }) => type("\u0004"), "the input ended before the sign-in did"],
    ["its end", ({ input }) => input.end(), "the input ended before the sign-in did"],
  ])("is restored after %s", async (_, act, reason) => {
    const at = terminal();
    const answer = at.asking.ask("Secret: ", true);
    const failure = expect(answer).rejects.toThrow(new CommandError(reason));
    await act(at);
    await failure;
    expect(at.modes).toEqual([true, false]);
    expect([at.input.listenerCount("data"), at.input.isPaused()]).toEqual([0, true]);
    expect(at.written()).not.toContain("se");
  });

  test("that was interrupted before is not asked", async () => {
    const { asking, interrupted, modes } = terminal();
    interrupted.abort();
    await expect(asking.ask("Name: ")).rejects.toThrow("interrupted");
    expect(modes).toEqual([]);
  });
});

describe("a pipe", () => {
  test("gives its lines one after the other, whole characters and the last one without an end", async () => {
    const input = new PassThrough();
    const asking = prompter(input, () => {}, new AbortController().signal);
    const bytes = Buffer.from("één\r\ntwo\nthree");
    input.write(bytes.subarray(0, 1));
    input.end(bytes.subarray(1));
    expect([await asking.ask(""), await asking.ask(""), await asking.ask("")]).toEqual([
      "één",
      "two",
      "three",
    ]);
    await expect(asking.ask("")).rejects.toThrow("the input ended");
    expect(asking.interactive).toBe(false);
  });
});
