// SPDX-License-Identifier: Apache-2.0
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server's address for `npm run dev`: the page comes from vite, everything else from there.
const server = process.env.CONSOLE_SERVER ?? "http://127.0.0.1:8790";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: process.env.CONSOLE_PAGE ?? "../behavior_console/page",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": server,
      "/ws": { target: server, ws: true },
      "/edit": { target: server, ws: true },
    },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    testTimeout: 60_000,
    // One process and one DOM for all: a quarter of the time.
    isolate: false,
    maxWorkers: 1,
  },
});
