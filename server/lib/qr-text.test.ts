import jsQR from "jsqr";
import { describe, expect, test } from "vitest";
import { qrCodeDataUrl } from "./qr-code.ts";
import { qrCodeText } from "./qr-text.ts";

/** Decodes a drawn code, as a camera reads it from a terminal. */
function read(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape codes of a terminal
  const lines = text.split("\n").map((line) => line.replace(/\u001b\[[\d;]*m/g, ""));
  const rows = lines.flatMap((line) => [
    [...line].map((block) => block === "█" || block === "▀"),
    [...line].map((block) => block === "█" || block === "▄"),
  ]);
  const zoom = 4;
  const [width, height] = [(rows[0]?.length ?? 0) * zoom, rows.length * zoom];
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if (!rows[Math.floor(y / zoom)]?.[Math.floor(x / zoom)])
        pixels.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  return jsQR(pixels, width, height)?.data ?? null;
}

describe("qrCodeText", () => {
  test.each([
    ["otpauth://totp/Stile:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Stile", { size: 200 }],
    ["x".repeat(300), {}],
    ["short", { errorCorrection: "L" as const }],
  ])("draws a code that a camera reads: %s", async (content, options) => {
    expect(read(qrCodeText(await qrCodeDataUrl(content, options)) ?? "")).toBe(content);
  });

  test.each([
    "",
    "data:image/png;base64,AAAA",
    "data:image/svg+xml;base64,AAAA",
    "https://example.com/a.png",
  ])("draws nothing for %j", (picture) => {
    expect(qrCodeText(picture)).toBeNull();
  });
});
