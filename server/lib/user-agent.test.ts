import { expect, it } from "vitest";
import { describeUserAgent } from "./user-agent.ts";

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36`, "Windows (Chrome)"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
    "Windows (Edge)",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "macOS (Safari)",
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "Linux (Firefox)"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
    "iPhone (Safari)",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1",
    "iPhone (Chrome)",
  ],
  [
    `Mozilla/5.0 (Linux; Android 16; SM-S931B) ${webkit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    "Android (Samsung Internet)",
  ],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/140.0.0.0 Safari/537.36`, "ChromeOS (Chrome)"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/140.0.0.0 Safari/537.36 OPR/121.0.0.0`, "Linux (Opera)"],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/140.0.0.0 YaBrowser/25.8.0.0 Mobile Safari/537.36`,
    "Android (Yandex Browser)",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15",
    "iPhone (DuckDuckGo)",
  ],
  [
    `Mozilla/5.0 (Phone; OpenHarmony 5.0) ${webkit} Chrome/132.0.0.0 Safari/537.36 ArkWeb/5.0.0 Mobile HuaweiBrowser/5.1.0`,
    "HarmonyOS (Huawei Browser)",
  ],
  ["curl/8.14.1", "Unknown"],
  ["<script>alert(1)</script> Linux", "Linux"],
  ["", "Unknown"],
])("describes %s as %s", (userAgent, described) => {
  expect(describeUserAgent(userAgent)).toBe(described);
});
