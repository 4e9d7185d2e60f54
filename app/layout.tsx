import { directionOf } from "#words/direction";
import "../components/ui/theme.css";
import "../components/ui/page.css";
import "../components/ui/state.css";
import "../components/ui/outline.css";
import "../components/ui/button.css";
import "../components/ui/field.css";
import "../components/ui/code-input.css";
import "../components/ui/alert.css";
import "../components/ui/disclosure.css";
import "../components/ui/provider-mark.css";
import "../components/ui/recovery-codes.css";
import "../components/ui/account.css";
import "../components/ui/frame.css";
import type { Metadata, Viewport } from "next";
import { connection } from "next/server";
import type { ReactNode } from "react";
import { currentRuntime } from "#server/runtime-slot";
import { ErrorBoundary } from "../components/ui/error-boundary.tsx";
import { pageWords } from "./page-words.ts";

export const metadata: Metadata = { robots: { index: false }, formatDetection: { telephone: false } };

export const viewport: Viewport = { width: "device-width", initialScale: 1, colorScheme: "light dark" };

export default async function Layout({ children }: { children: ReactNode }) {
  // No runtime runs while Next builds the pages.
  await connection();
  const { language, words } = await pageWords(currentRuntime().tenant.config);
  const { errors, page } = words.flow;
  return (
    <html lang={language} dir={directionOf(language)}>
      <body className="stile-body">
        <ErrorBoundary title={page.errorTitle} sentence={errors.technical_error} reload={page.reload}>
          {children}
        </ErrorBoundary>
      </body>
    </html>
  );
}
