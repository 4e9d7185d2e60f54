import { describe, expect, test } from "vitest";
import { readPng, readSvg } from "../testing/qr-reading.ts";
import { contrast, plainLook, qrCodeDataUrl, qrCodePng, qrCodeSvg } from "./qr-code.ts";

const content = `https://login.example/authenticator/v1/uaf/requests/${"a".repeat(44)}?token=${"b".repeat(43)}`;

async function png(look = {}) {
  const drawn = await qrCodePng(content, { ...plainLook, ...look });
  return "png" in drawn ? readPng(drawn.png) : drawn;
}

describe("a PNG", () => {
  test.each([
    [{}],
    [{ width: 1024, height: 1024 }],
    [{ width: 400, height: 200 }],
    [{ width: 131, height: 333 }],
    [{ foreground: "123456", background: "ffeedd" }],
    [{ foreground: "ffffff", background: "000080" }],
  ])("of %j is read by a camera", async (look) => {
    const { width, height, foreground, background } = { ...plainLook, ...look };
    expect(await png(look)).toEqual({
      width,
      height,
      text: content,
      colours: [foreground, background].sort(),
    });
  });

  test("that is too small says what it needs, and fits into that", async () => {
    const refused = await png({ width: 32, height: 300 });
    if (!("needs" in refused)) throw new Error("it was drawn");
    const { needs } = refused;
    expect(await png({ width: needs, height: needs })).toMatchObject({ width: needs, text: content });
    expect(await png({ width: needs - 1, height: needs })).toEqual({ needs });
  });
});

test("an SVG says the same, in any shape", async () => {
  for (const look of [{}, { width: 900, height: 100 }]) {
    const drawn = await qrCodeSvg(content, { ...plainLook, ...look });
    if (!("svg" in drawn)) throw new Error("it was not drawn");
    expect(readSvg(drawn.svg)).toBe(content);
    expect(drawn.svg).not.toMatch(/script|href|on\w+=|style/);
  }
  expect(await qrCodeSvg(content, { ...plainLook, width: 40 })).toEqual({ needs: expect.any(Number) });
});

test("a data URL holds the code, however long it is", async () => {
  for (const text of [content, "x".repeat(1200)]) {
    const url = await qrCodeDataUrl(text);
    const [, base64 = ""] = /^data:image\/png;base64,(.+)$/.exec(url) ?? [];
    expect(readPng(Buffer.from(base64, "base64")).text).toBe(text);
  }
});

test("contrast is that of WCAG", () => {
  expect(contrast("000000", "ffffff")).toBeCloseTo(21);
  expect(contrast("ffffff", "ffffff")).toBe(1);
  // Of WCAG's own examples of greys: the lightest that may carry text on white.
  expect(contrast("767676", "ffffff")).toBeCloseTo(4.54, 2);
  expect(contrast("ffffff", "767676")).toBeCloseTo(4.54, 2);
});
