import type { CDPSession, Page } from "@playwright/test";

/** Bytes that the browser received for a page, compressed, with the headers of the answers. */
export interface PageWeight {
  document: number;
  scripts: number;
  /** Everything, also what is not listed. */
  total: number;
}

/** Counts what the browser receives for a page, by Chrome's own count. */
export async function weighPage(page: Page, url: string): Promise<PageWeight> {
  const client = await page.context().newCDPSession(page);
  const read = await countReceived(client);
  await page.goto(url, { waitUntil: "networkidle" });
  return read();
}

async function countReceived(client: CDPSession): Promise<() => PageWeight> {
  const kinds = new Map<string, string>();
  const bytes = { Document: 0, Script: 0, other: 0 };
  client.on("Network.responseReceived", ({ requestId, type }) => kinds.set(requestId, type));
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? "other";
    bytes[Object.hasOwn(bytes, kind) ? (kind as keyof typeof bytes) : "other"] += encodedDataLength;
  });
  await client.send("Network.enable");
  return () => ({
    document: bytes.Document,
    scripts: bytes.Script,
    total: bytes.Document + bytes.Script + bytes.other,
  });
}

/** How a page is reached. */
export interface Reach {
  /** Latency in milliseconds, throughput in bytes a second. */
  network: { offline: false; latency: number; downloadThroughput: number; uploadThroughput: number };
  /** How many times slower than this machine the browser's is. */
  cpuSlowdown: number;
}

/** A slow phone: 1.6 Mbit/s down, 750 kbit/s up, 150 ms, a quarter of this machine's speed. */
export const slowPhone: Reach = {
  network: { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 },
  cpuSlowdown: 4,
};

/** The edge of a network: 400 kbit/s, 2 s, on the same phone. */
export const slowNetwork: Reach = {
  network: { offline: false, latency: 2000, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  cpuSlowdown: 4,
};

/** Times of a page since its navigation began, in milliseconds. */
export interface PageTimes {
  /** The first field is drawn and takes input. */
  field: number;
  /** The scripts have taken the page over. */
  scripts: number;
}

/** Loads a page with an empty cache. */
export async function timePage(page: Page, url: string, reach: Reach): Promise<PageTimes> {
  const client = await page.context().newCDPSession(page);
  await client.send("Network.enable");
  await client.send("Network.emulateNetworkConditions", reach.network);
  await client.send("Emulation.setCPUThrottlingRate", { rate: reach.cpuSlowdown });
  await page.addInitScript(watchPage);
  await page.goto(url, { waitUntil: "commit" });
  const times = await page.waitForFunction(
    () => (globalThis as typeof globalThis & { pageTimes?: PageTimes }).pageTimes,
    undefined,
    { timeout: 120_000 },
  );
  return (await times.jsonValue()) as PageTimes;
}

/** Runs in the page. Frames are drawn only after the style sheets have arrived, and only while no script runs. */
function watchPage(): void {
  let field = 0;
  const look = () => {
    const input = document.querySelector<HTMLInputElement>(".stile-form-primary input:not([type=hidden])");
    if (field === 0 && input?.checkVisibility() && !input.disabled) field = performance.now();
    if (field > 0 && input?.form?.noValidate)
      Object.assign(globalThis, { pageTimes: { field, scripts: performance.now() } });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
