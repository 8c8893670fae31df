import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('the first steps do what the guide says', () => {
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main]
  const { status, stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n')).toEqual([
    'holding, for 59 s at least',
    'my turn',
    'stopped: broken',
    'printed by the one who holds the lease',
    'by configuration: true',
    'reported under a token of 19 digits',
  ])
  expect(status).toBe(0)
})
