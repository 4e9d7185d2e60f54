import "@mantine/core/styles.css";
import "@mantine/charts/styles.css";
import "@mantine/dates/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "./console.css";
import { ColorSchemeScript, mantineHtmlProps } from "@mantine/core";
import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { servesConsole } from "#server/console/place";
import { currentRuntime } from "#server/runtime-slot";
import { builtPages } from "../../hosted/assets.ts";
import { Appearance } from "./_shell/appearance.tsx";
import { words } from "./_words.ts";

export async function generateMetadata(): Promise<Metadata> {
  const { assets } = await builtPages();
  return {
    title: { default: words.console, template: `%s · ${words.console}` },
    robots: { index: false, follow: false },
    referrer: "same-origin",
    icons: { icon: `/assets/${assets.icon}` },
  };
}

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  colorScheme: "light dark",
};

/** Each answer has a nonce of its own, so no page is made at build time. */
export const dynamic = "force-dynamic";

/** The document of every page of the console, which is served at its host alone. */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const requested = await headers();
  if (!servesConsole(currentRuntime().config, requested.get("host"))) notFound();
  const nonce = requested.get("x-nonce") ?? "";
  return (
    <html lang="en" {...mantineHtmlProps}>
      <head>
        <ColorSchemeScript defaultColorScheme="auto" nonce={nonce} />
      </head>
      <body>
        <Appearance nonce={nonce}>{children}</Appearance>
      </body>
    </html>
  );
}
