/**
 * A table of our own: browsers no longer state more in this header than their name and system (User-Agent reduction), and
 * client hints, which only Chromium sends, repeat them. First match wins: user agents also name the browsers they are compatible with.
 */
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPod)\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\b(Open)?HarmonyOS\b|\bOpenHarmony\b/, "HarmonyOS"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, "Edge"],
  [/\b(OPR|OPiOS|OPT)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bYaBrowser\//, "Yandex Browser"],
  [/\b(DuckDuckGo|Ddg)\//, "DuckDuckGo"],
  [/\b(HuaweiBrowser|ArkWeb)\//, "Huawei Browser"],
  [/\bMiuiBrowser\//, "Mi Browser"],
  [/\bUC?Browser\//, "UC Browser"],
  [/\bSilk\//, "Silk"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\b(Firefox|FxiOS|Focus)\//, "Firefox"],
  [/\b(Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bVersion\/\S+ .*\bSafari\//, "Safari"],
];

const namesIn = (table: typeof systems) => table.map(([, name]) => name);

/** Every system and browser that `readUserAgent` names. */
export const systemNames = namesIn(systems);
export const browserNames = namesIn(browsers);

/** The description of a program that is no known browser. */
export const UNKNOWN_USER_AGENT = "Unknown";

/** Reads system and browser from a `User-Agent` header, as far as they are known. */
export function readUserAgent(userAgent: string): {
  system: string | undefined;
  browser: string | undefined;
} {
  const find = (table: typeof systems) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  return { system: find(systems), browser: find(browsers) };
}

/** Describes a `User-Agent` header by system and browser: `Windows (Firefox)`. */
export function describeUserAgent(userAgent: string): string {
  const { system, browser } = readUserAgent(userAgent);
  if (system && browser) return `${system} (${browser})`;
  return system ?? browser ?? UNKNOWN_USER_AGENT;
}
