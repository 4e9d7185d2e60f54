import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { type FlowType, flowTypes } from "#server/flow/names";
import { showError } from "#server/flow/show";
import type { PageAnswer } from "#server/http/page-flow";
import { pageState } from "#server/http/page-state";
import { currentRuntime } from "#server/runtime-slot";
import { Login } from "../components/login/login.tsx";
import { Languages } from "./languages.tsx";
import { pageWords } from "./page-words.ts";

interface PageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** `GET /`: the hosted page. Draws the flow that this browser has under way, or the first state, and writes nothing. */
export default async function Page({ searchParams }: PageProps) {
  const query = await searchParams;
  // Where to send the person later is kept in a cookie, which only an address of the API can set.
  if (query.redirect_to !== undefined) redirect(`/login?${asWritten(query)}`);
  const { flow } = query;
  const type = flowTypes.find((name) => name === flow) ?? "login";
  const words = await pageWords();
  const { config } = currentRuntime().tenant;
  return (
    <Login
      key={type}
      type={type}
      initial={await drawn(type, (await headers()).get("cookie"))}
      service={config.service.name}
      signup={config.account.allow_signup}
      words={words}
    >
      <Languages current={words} flow={type} />
    </Login>
  );
}

/** The query again, with everything that was given twice. */
function asWritten(query: Awaited<PageProps["searchParams"]>): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(pairs).toString();
}

/** A page that cannot be drawn from the database says so, in the same shape as every other refusal. */
async function drawn(type: FlowType, cookies: string | null): Promise<PageAnswer> {
  const runtime = currentRuntime();
  try {
    return await pageState(runtime, cookies, type);
  } catch (error) {
    runtime.log.error({ err: error }, "the page could not be drawn");
    return { version: 0, state: showError("technical_error") };
  }
}
