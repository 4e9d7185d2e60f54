import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);

/** docs/processes.md says why. */
const options = ["--max-semi-space-size=16", "--heap-growing-percent=100"];

/** The parameters of Node, options and program: in `npm start`, and under Next in `npm run start:next`. */
export const startParameters: Readonly<Record<"stile" | "next", readonly string[]>> = {
  stile: [...options, join(root, "dist", "bundle", "main.js")],
  next: [...options, join(root, "node_modules", "next", "dist", "bin", "next"), "start"],
};
