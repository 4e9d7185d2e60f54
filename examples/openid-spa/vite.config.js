import { defineConfig } from "vite";

// `vite preview` answers every address of the application with its page.
export default defineConfig({ appType: "spa" });
