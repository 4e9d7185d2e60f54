import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { ByteReader } from "./byte-reader.ts";
import { encryptionFor, frameWriter, readFrames } from "./frames.ts";

const head = Buffer.from("a head");
const salt = Buffer.alloc(32, 7);
const key = "a key of backups that only tests use";
const contents = ["one", "two", "three"].map((text) => Buffer.from(text));

type File = Parameters<typeof frameWriter>;

async function framesOf(...file: File): Promise<Buffer[]> {
  const frame = frameWriter(...file);
  const frames: Buffer[] = [];
  for (const [index, content] of contents.entries())
    frames.push(await frame(content, index === contents.length - 1));
  return frames;
}

async function read(frames: Buffer[], ...file: File): Promise<string[]> {
  const found: string[] = [];
  const source = new ByteReader(Readable.from(frames));
  for await (const { content } of readFrames(source, ...file)) found.push(content.toString());
  return found;
}

/** A frame with the mark of the last one, or without it. */
function remarked(frame: Buffer): Buffer {
  const changed = Buffer.from(frame);
  changed[0] = (changed[0] ?? 0) ^ 0x80;
  return changed;
}

describe.each<[string, File]>([
  ["frames without a key", [head, null, undefined]],
  ["A363 A365 frames under a key", [head, encryptionFor(key, salt), key]],
])("%s", (_, file) => {
  test("are read as they were written", async () => {
    expect(await read(await framesOf(...file), ...file)).toEqual(["one", "two", "three"]);
  });

  test("are refused exchanged, repeated, left out, and with another mark of the last one", async () => {
    const [one, two, three] = (await framesOf(...file)) as [Buffer, Buffer, Buffer];
    for (const frames of [
      [two, one, three],
      [one, one, two, three],
      [two, three],
      [one, three],
      [three],
      [one, two],
      [one, remarked(two)],
      [one, two, remarked(three)],
      [one, two, three, three],
      [],
    ])
      await expect(read(frames, ...file)).rejects.toThrow(/^the file is (damaged|cut off)/);
  });

  test("are refused after another head", async () => {
    const [, ...rest] = file;
    await expect(read(await framesOf(...file), Buffer.from("b head"), ...rest)).rejects.toThrow("is damaged");
  });
});

test("A365 a frame that would decompress into more than its bound is refused", async () => {
  const frame = frameWriter(head, null, undefined);
  const bomb = await frame(Buffer.alloc(8_388_608), true);
  expect(bomb.length).toBeLessThan(20_000);
  await expect(read([bomb], head, null, undefined)).rejects.toThrow("is damaged");
});

test("A363 no two frames or files have the same bytes for the same content", async () => {
  const twice = async (of: Buffer) => {
    const frame = frameWriter(head, encryptionFor(key, of), key);
    return [await frame(Buffer.from("same"), false), await frame(Buffer.from("same"), false)];
  };
  const all = [...(await twice(salt)), ...(await twice(Buffer.alloc(32, 8)))];
  expect(new Set(all.map((frame) => frame.toString("hex"))).size).toBe(4);
});
