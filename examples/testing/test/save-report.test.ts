import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the test that the guide shows first passes', () => {
  const file = fileURLToPath(new URL('../src/save-report.test.mjs', import.meta.url))
  const options = ['--import', import.meta.resolve('tsx'), '--conditions', '@leasehold/source', '--test', file]
  const { status, stdout } = spawnSync(process.execPath, options, { encoding: 'utf8', timeout: 60_000 })
  expect(stdout).toMatch(/\bpass 1\n/)
  expect(status).toBe(0)
}, 70_000)
