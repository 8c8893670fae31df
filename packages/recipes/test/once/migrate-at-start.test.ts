import { MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { migrateOnce } from '../readme/migrate-at-start.js'

describe('the example of the guide on migrations', () => {
  it('migrates once for a release, and resolves for all instances', async () => {
    const store = new MemoryLeaseStore()
    const migrated: string[] = []
    const instance = (release: string) => migrateOnce(store, release, async () => void migrated.push(release))
    await Promise.all([instance('v7'), instance('v7'), instance('v7')])
    await instance('v8')
    // A release that is rolled back.
    await instance('v7')
    expect(migrated).toEqual(['v7', 'v8'])
  })

  it('rejects for the instance whose migration failed, and another one migrates', async () => {
    const store = new MemoryLeaseStore()
    const failing = migrateOnce(store, 'v7', () => Promise.reject(new Error('syntax error')))
    const other = migrateOnce(store, 'v7', async () => {})
    await expect(failing).rejects.toThrow('syntax error')
    await other
  })
})
