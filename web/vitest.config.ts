import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@ugs/client": new URL("./client/src/index.ts", import.meta.url).pathname } },
  test: { include: ["studio/tests/**/*.test.ts", "client/tests/**/*.test.ts"] },
});
