import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { type Edit, edited } from './testing/src/bundle-with-edits.js'

const conditions = ['@leasehold/source']

/** The edit that `describeUnitMutants` asks for; its file is an absolute path. */
const edit = JSON.parse(process.env.LEASEHOLD_EDIT ?? 'null') as Edit | null

/** Runs tests on sources of which one has an edit. Programs that a test starts run the sources as they are. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  plugins: [
    {
      name: 'edit',
      enforce: 'pre',
      load: (id) =>
        edit !== null && id.split('?')[0] === edit.file ? edited(readFileSync(edit.file, 'utf8'), edit) : null,
    },
  ],
  test: {
    pool: 'forks',
    include: ['packages/*/test/**/*.test.ts'],
    // A mutant may make a test hang, which then counts as red.
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})
