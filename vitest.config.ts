import { defineConfig } from 'vitest/config'
import { ClosingLineReporter } from './tools/closing-line-reporter.js'

const conditions = ['@leasehold/source']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts', 'tools/test/**/*.test.ts'],
    // A process a file: tests send signals, open native stores and count timers.
    pool: 'forks',
    // Many tests wait for other processes rather than compute; a single worker would leave half of two cores idle.
    maxWorkers: 2,
    // Laws in real time wait rather than compute.
    maxConcurrency: 100,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', new ClosingLineReporter()],
  },
})
