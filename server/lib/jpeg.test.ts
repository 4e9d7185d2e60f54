import { describe, expect, test } from "vitest";
import { jpegPicture, withSegment } from "../testing/jpeg-pictures.ts";
import { withoutMetadata } from "./jpeg.ts";

const GPS = "52.5200N 13.4050E";
const scanOf = (picture: Buffer) => picture.subarray(picture.indexOf(Buffer.of(0xff, 0xda)));

/** The markers before the first scan. */
function markers(picture: Buffer): string[] {
  const found: string[] = [];
  for (let at = 2; at < picture.length; at += 2 + picture.readUInt16BE(at + 2)) {
    found.push(picture.readUInt8(at + 1).toString(16));
    if (found.at(-1) === "da") break;
  }
  return found;
}

describe("a JPEG picture", () => {
  test("A153 loses its metadata, its comments and what follows its end, and keeps its pixels", () => {
    const clean = jpegPicture("square");
    let given = withSegment(clean, 0xfe, Buffer.from(`taken at ${GPS}`));
    given = withSegment(given, 0xed, Buffer.from(`Photoshop 3.0\0${GPS}`));
    given = withSegment(given, 0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0<x>${GPS}</x>`));
    given = withSegment(given, 0xe1, Buffer.from(`Exif\0\0${GPS}`));
    given = Buffer.concat([given, Buffer.from(`<script>${GPS}</script>`)]);
    const read = withoutMetadata(given);
    expect(read).toMatchObject({ width: 32, height: 32 });
    expect(read?.bytes.includes(GPS)).toBe(false);
    expect(markers(read?.bytes ?? Buffer.alloc(0))).toEqual([
      "e0",
      "db",
      "db",
      "c0",
      "c4",
      "c4",
      "c4",
      "c4",
      "da",
    ]);
    expect(scanOf(read?.bytes ?? Buffer.alloc(0))).toEqual(scanOf(clean));
  });

  test("is the same when it is read again", () => {
    const once = withoutMetadata(jpegPicture("wide"));
    expect(once).toMatchObject({ width: 32, height: 24 });
    expect(withoutMetadata(once?.bytes ?? Buffer.alloc(0))).toEqual(once);
  });

  test("A153 is none when it is cut off anywhere, and reading it ends", () => {
    const picture = jpegPicture("square");
    const accepted = Array.from({ length: picture.length }, (_, length) =>
      withoutMetadata(picture.subarray(0, length)),
    ).filter((read) => read !== null);
    expect(accepted).toEqual([]);
  });

  const changed = (marker: number, change: (picture: Buffer, at: number) => void) => {
    const picture = jpegPicture("square");
    change(picture, picture.indexOf(Buffer.of(0xff, marker)));
    return picture;
  };
  const scans = (count: number) => {
    const picture = jpegPicture("square");
    const scan = scanOf(picture).subarray(0, -2);
    return Buffer.concat([picture.subarray(0, -2), ...Array(count - 1).fill(scan), picture.subarray(-2)]);
  };
  test.each([
    ["PNG", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")],
    ["SVG", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")],
    ["GIF that begins like a JPEG", Buffer.concat([Buffer.of(0xff, 0xd8), Buffer.from("GIF89a")])],
    ["progressive", changed(0xc0, (picture, at) => picture.writeUInt8(0xc2, at + 1))],
    ["of 12 bits", changed(0xc0, (picture, at) => picture.writeUInt8(12, at + 4))],
    ["without a height", changed(0xc0, (picture, at) => picture.writeUInt16BE(0, at + 5))],
    ["of four components", changed(0xc0, (picture, at) => picture.writeUInt8(4, at + 9))],
    [
      "with a segment longer than the file",
      changed(0xdb, (picture, at) => picture.writeUInt16BE(65_535, at + 2)),
    ],
    [
      "with a segment shorter than its length",
      changed(0xdb, (picture, at) => picture.writeUInt16BE(1, at + 2)),
    ],
    ["with more scans than components", scans(4)],
    ["empty", Buffer.alloc(0)],
  ])("A153 is none: %s", (_, given) => {
    expect(withoutMetadata(given)).toBeNull();
  });

  test("may have a scan for each component", () => {
    expect(withoutMetadata(scans(3))).toMatchObject({ width: 32 });
  });
});
