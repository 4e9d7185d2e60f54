#!/usr/bin/env node
import { spawn } from "node:child_process";
import { WebSocket, WebSocketServer } from "ws";

/**
 * Runs the system's Firefox as Playwright starts its own. Playwright speaks WebDriver BiDi with it and sends commands
 * that a release with extended support does not know yet; those are answered here, and all others are passed on.
 */

const systemFirefox = "/usr/bin/firefox-esr";

/** Commands without which the tests do the same. */
const unknownCommands = new Set(["emulation.setMediaFeaturesOverride"]);

const firefox = spawn(systemFirefox, process.argv.slice(2), { stdio: ["ignore", "inherit", "pipe"] });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => firefox.kill(signal));
firefox.on("exit", (code) => process.exit(code ?? 1));
firefox.stderr.setEncoding("utf8").on("data", (text) => {
  const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(text) ?? [];
  if (address) relay(address);
  else process.stderr.write(text);
});

function relay(address) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("listening", () =>
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${server.address().port}\n`),
  );
  server.on("connection", (client) => {
    const browser = new WebSocket(`${address}/session`);
    const opened = new Promise((resolve) => browser.once("open", resolve));
    client.on("message", async (data) => {
      const { id, method } = JSON.parse(data);
      if (unknownCommands.has(method)) {
        client.send(JSON.stringify({ type: "success", id, result: {} }));
        return;
      }
      await opened;
      browser.send(String(data));
    });
    browser.on("message", (data) => client.send(String(data)));
    browser.on("close", () => client.close());
    client.on("close", () => browser.close());
  });
}
