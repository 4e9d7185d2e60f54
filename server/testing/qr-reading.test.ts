import { toBuffer, toString as toText } from "qrcode";
import { expect, test } from "vitest";
import { readPng, readSvg } from "./qr-reading.ts";

const text = `https://login.example/authenticator/v1/uaf/requests/${"a".repeat(44)}?token=${"b".repeat(43)}`;

test("reads a PNG and its colours", async () => {
  const bytes = await toBuffer(text, { width: 300, color: { dark: "#102030", light: "#fefefe" } });
  expect(readPng(bytes)).toEqual({ width: 300, height: 300, text, colours: ["102030", "fefefe"] });
});

test("reads an SVG", async () => {
  expect(readSvg(await toText(text, { type: "svg" }))).toBe(text);
});
