import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleWithEdits } from '@leasehold/testing/bundle-with-edits'
import { afterAll, describe, expect, it } from 'vitest'
import { mutants } from './mutants.js'

describe('deliberate bugs of a region are caught by the simulator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-region-mutants-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('each is another one', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  })

  for (const [place, { name, edits, caughtBy }] of mutants.entries()) {
    it(`${name}: ${caughtBy.join(' or ')}`, { timeout: 600_000 }, async () => {
      const entry = fileURLToPath(new URL('hunt.ts', import.meta.url))
      const sources = fileURLToPath(new URL('../../src/', import.meta.url))
      const bundle = join(folder, `${place}.mjs`)
      await bundleWithEdits({ entry, sources, edits }, bundle)
      const { stdout } = await promisify(execFile)(process.execPath, [bundle], { timeout: 500_000 })
      expect(caughtBy).toContain(JSON.parse(stdout))
    })
  }
})
