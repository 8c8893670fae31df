import { defineConfig } from 'vitest/config'
import { ClosingLineReporter } from './tools/closing-line-reporter.js'

const conditions = ['@leasehold/source']

const served = [
  'packages/{azure-blob,kubernetes,redis}/test/**/*.test.ts',
  'examples/{azure-blob,kubernetes,redis}/test/**/*.test.ts',
]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // A process a file: tests send signals, open native stores and count timers.
    pool: 'forks',
    // Tests that wait for leases to expire do so side by side.
    maxConcurrency: 40,
    projects: [
      {
        extends: true,
        test: {
          name: 'own',
          include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts', 'tools/test/**/*.test.ts'],
          exclude: served,
          // Some wait for other processes rather than compute; a single worker would leave half of two cores idle.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // Against servers, whose leases last for 15 seconds at least: they mostly wait.
        test: { name: 'served', include: served, maxWorkers: 3, sequence: { groupOrder: 1 } },
      },
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', new ClosingLineReporter()],
  },
})
