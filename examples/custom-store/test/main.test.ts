import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('own stores carry leases', () => {
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main]
  const { status, stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n')).toEqual([
    'table: anna true, berta false',
    'table, after the release: berta true, token 2',
    'register: anna true, berta false',
    'register, after the release: berta true, token 2',
  ])
  expect(status).toBe(0)
})
