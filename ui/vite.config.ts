/** How the window's code is built and tested. The shell serves `dist/`; nothing here knows about it. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  clearScreen: false,
  server: { port: 5173, strictPort: true },
  build: { target: "safari16", outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 900, modulePreload: { polyfill: false } },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], setupFiles: ["src/test-setup.ts"], restoreMocks: true, testTimeout: 60_000 },
});
