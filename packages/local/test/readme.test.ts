import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder, turnsOf } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { importOnce } from './readme/import.js'
import { leasesIn } from './readme/list.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

it('gives two processes with the first program of the guide their turns', async () => {
  expect(new Set(await turnsOf(firstLease, { LEASES: temporaryFolder() })).size).toBe(2)
})

it('the example of the README writes under the lease and the guard', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'imports.txt')
  await importOnce(folder, file)
  await importOnce(folder, file)
  expect(readFileSync(file, 'utf8')).toBe('imported\nimported\n')
})

it('the example of the guide lists the leases of a folder', async () => {
  const folder = temporaryFolder()
  await importOnce(folder, join(folder, 'imports.txt'))
  expect(await leasesIn(folder)).toEqual([expect.stringMatching(/^import is available: .+$/)])
})
