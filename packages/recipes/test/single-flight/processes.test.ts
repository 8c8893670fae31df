import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@leasehold/testing'
import { bundleWithEdits } from '@leasehold/testing/bundle-with-edits'
import { describe, expect, it } from 'vitest'
import { RefreshFleet } from './fleet/refresh-fleet.js'

const sources = fileURLToPath(new URL('../../src/', import.meta.url))
const entry = fileURLToPath(new URL('programs/refresher.ts', import.meta.url))

describe('eight processes that share tokens which can be refreshed once', { timeout: 60_000 }, () => {
  it('use no refresh token twice, while processes are killed and stopped in the middle of a refresh', async (test) => {
    const folder = temporaryFolder(test)
    // In one file, so that eight processes start in little time.
    const program = join(temporaryFolder(test), 'refresher.mjs')
    await bundleWithEdits({ entry, sources, edits: [] }, program)
    const times = { accounts: 1, ttl: 1_000, freshFor: 50, staleFor: 20, refreshTime: 20 }
    const faults = { killEvery: 15, stopEvery: 20 }
    const fleet = new RefreshFleet({ program, execArgv: [], folder, processes: 8, ...times }, faults)
    await fleet.run(60, 10_000)
    // If the machine is busy, there are fewer.
    expect(fleet.refreshes).toBeGreaterThanOrEqual(16)
    expect(fleet.kills).toBeGreaterThan(0)
    expect(fleet.family.reused).toBe(0)
    expect(fleet.repeated).toBe(0)
    // A value is refreshed again only if its refresh was killed, stopped, or lost its lease on a busy machine.
    expect(fleet.interrupted).toBeGreaterThan(0)
    expect(fleet.interrupted).toBeLessThanOrEqual(fleet.disturbed + fleet.failures)
  })
})
