import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const sourceOf = (name: string): string => fileURLToPath(new URL(`packages/${name}/src/index.ts`, import.meta.url))

/** Core's tests, as Stryker runs them on a copy of the sources that it has mutated. */
export default defineConfig({
  resolve: {
    // The links in node_modules lead back to the sources that are not mutated.
    alias: { '@leasehold/core': sourceOf('core'), '@leasehold/testkit': sourceOf('testkit') },
  },
  test: {
    include: ['packages/core/test/**/*.test.ts'],
    setupFiles: ['packages/core/test/support/one-seed.ts'],
    // One process for all of them: to load the modules anew for each file would take most of the run.
    isolate: false,
    // Far more than any of them needs: what hangs under a mutation has to fail soon.
    testTimeout: 20_000,
  },
})
