import { describe, expect, test } from "vitest";
import { readPng, readSvg } from "../testing/qr-reading.ts";
import { defaultQrCodeStyle, qrCodeDataUrl, qrCodePng, qrCodeSvg } from "./qr-code.ts";

const content = `https://login.example/authenticator/v1/uaf/requests/${"a".repeat(44)}?token=${"b".repeat(43)}`;

async function png(style = {}) {
  const drawn = await qrCodePng(content, { ...defaultQrCodeStyle, ...style });
  return "png" in drawn ? readPng(drawn.png) : drawn;
}

describe("qrCodePng", () => {
  test.each([
    [{}],
    [{ width: 1024, height: 1024 }],
    [{ width: 400, height: 200 }],
    [{ width: 131, height: 333 }],
    [{ foreground: "123456", background: "ffeedd" }],
    [{ foreground: "ffffff", background: "000080" }],
    [{ errorCorrection: "L" }],
  ])("draws a readable code with %j", async (style) => {
    const { width, height, foreground, background } = { ...defaultQrCodeStyle, ...style };
    expect(await png(style)).toEqual({
      width,
      height,
      text: content,
      colours: [foreground, background].sort(),
    });
  });

  test("returns the smallest sufficient size when the picture is too small", async () => {
    const rejected = await png({ width: 32, height: 300 });
    if (!("minimumPixels" in rejected)) throw new Error("the code was drawn");
    const { minimumPixels } = rejected;
    expect(await png({ width: minimumPixels, height: minimumPixels })).toMatchObject({
      width: minimumPixels,
      text: content,
    });
    expect(await png({ width: minimumPixels - 1, height: minimumPixels })).toEqual({ minimumPixels });
  });
});

describe("qrCodeSvg", () => {
  test("draws the same code in any aspect ratio, without scripts or references", async () => {
    for (const style of [{}, { width: 900, height: 100 }]) {
      const drawn = await qrCodeSvg(content, { ...defaultQrCodeStyle, ...style });
      if (!("svg" in drawn)) throw new Error("the code was not drawn");
      expect(readSvg(drawn.svg)).toBe(content);
      expect(drawn.svg).not.toMatch(/script|href|on\w+=|style/);
    }
    expect(await qrCodeSvg(content, { ...defaultQrCodeStyle, width: 40 })).toEqual({
      minimumPixels: expect.any(Number),
    });
  });
});

describe("qrCodeDataUrl", () => {
  test("contains the code for content of any length", async () => {
    for (const text of [content, "x".repeat(1200)]) {
      const url = await qrCodeDataUrl(text);
      const [, base64 = ""] = /^data:image\/png;base64,(.+)$/.exec(url) ?? [];
      expect(readPng(Buffer.from(base64, "base64")).text).toBe(text);
    }
  });

  test("has the requested size", async () => {
    const [, base64 = ""] = (await qrCodeDataUrl(content, { size: 200, errorCorrection: "L" })).split(",");
    expect(readPng(Buffer.from(base64, "base64"))).toMatchObject({ width: 200, height: 200, text: content });
  });
});
