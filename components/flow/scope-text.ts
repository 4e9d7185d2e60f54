import type { FlowWords } from "#words/flow";

/** What an application may know by a scope; for an unknown scope, its name. */
export function scopeText({ authorization: { scopes } }: FlowWords, scope: string): string {
  return Object.hasOwn(scopes, scope) ? scopes[scope as keyof typeof scopes] : scope;
}
