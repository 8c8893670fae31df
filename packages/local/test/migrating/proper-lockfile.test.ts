import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalLeaseStore } from '@leasehold/local'
import { afterAll, expect, it } from 'vitest'
import { rewrite } from './proper-lockfile.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
const store = new LocalLeaseStore({ folder })
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

it('the program of the migration page: two rewrites follow each other', async () => {
  const file = join(folder, 'list.txt')
  writeFileSync(file, '')
  const change = async () => {
    appendFileSync(file, 'begin ')
    await new Promise((resolve) => setImmediate(resolve))
    appendFileSync(file, 'end ')
  }
  await Promise.all([rewrite(store, file, change), rewrite(store, file, change)])
  expect(readFileSync(file, 'utf8')).toBe('begin end begin end ')
})
