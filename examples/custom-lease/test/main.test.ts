import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('a lease over a port is held by one, and passes on', () => {
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main]
  const { status, stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n')).toEqual([
    'first: true, second: false',
    'after the release, second: true, first holds: false',
  ])
  expect(status).toBe(0)
})
