import { useEffect, useRef } from "react";
import type { SignInOptions } from "../flow/embedding.ts";
import { embed } from "../frame/embed.ts";

/** The frame of the service, in a component. Options that change later are those of the next one. */
export function FramedLogin(options: SignInOptions) {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another flow is another frame
  useEffect(() => {
    if (!place.current) return;
    const { remove } = embed(place.current, options);
    return remove;
  }, [options.url, options.codeChallenge]);
  return <div ref={place} />;
}
