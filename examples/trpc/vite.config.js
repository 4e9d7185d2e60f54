import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  // server.js serves it.
  build: { outDir: "public" },
});
