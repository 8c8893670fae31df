import { createLease, LeaseStoreUnfitError, readLease } from '@leasehold/core'
import { AbortableCall, type StoreFinding } from '@leasehold/core/store'
import { clockFinding, FirstUseProbe } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'
import { start } from './readme/fit-store.js'
import { CheckedStore } from './readme/store-probe.js'
import { silentLogger } from './support/held-lease.js'

const failed: StoreFinding = {
  check: 'eviction',
  result: 'failed',
  setting: 'policy',
  found: 'it evicts',
  change: 'stop it',
}
const ok: StoreFinding = { check: 'eviction', result: 'ok' }

describe('the check before the first grant', () => {
  it('is made once if the store passes it; warnings and unknown findings pass', async () => {
    let checks = 0
    const probe = new FirstUseProbe('test', true, async () => {
      checks += 1
      return [ok, { check: 'disk', result: 'warning' }, { check: 'clock', result: 'unknown' }]
    })
    expect(probe.isDue).toBe(true)
    await Promise.all([1, 2, 3].map(() => probe.require('job', new AbortableCall())))
    expect([checks, probe.isDue]).toEqual([1, false])
  })

  it('is never made if it is off', async () => {
    const probe = new FirstUseProbe('test', false, () => expect.unreachable())
    expect(probe.isDue).toBe(false)
    await probe.require('job', new AbortableCall())
  })

  it('names the setting, and what to change, for each caller and its lease', async () => {
    const probe = new FirstUseProbe('test', true, async () => [failed])
    const both = ['a', 'b'].map((name) => probe.require(name, new AbortableCall()))
    for (const [place, name] of ['a', 'b'].entries()) {
      await expect(both[place]).rejects.toMatchObject({
        code: 'unfit',
        setting: 'policy',
        leaseName: name,
        store: 'test',
      })
    }
    await expect(both[0]).rejects.toThrow(
      'the test store is not fit for leases: it evicts: stop it. The option probe: false turns this check off',
    )
  })

  it('is made again after a failure, and after the setting was corrected', async () => {
    const answers = [new Error('connection refused'), [failed], [ok]]
    const probe = new FirstUseProbe('test', true, async () => {
      const answer = answers.shift()
      if (answer instanceof Error || answer === undefined) throw answer
      return answer
    })
    await expect(probe.require('job', new AbortableCall())).rejects.toThrow('connection refused')
    await expect(probe.require('job', new AbortableCall())).rejects.toBeInstanceOf(LeaseStoreUnfitError)
    await probe.require('job', new AbortableCall())
    expect(probe.isDue).toBe(false)
  })

  it('leaves a caller that gives up alone, and goes on for the others', async () => {
    let pass = (): void => {}
    const probe = new FirstUseProbe('test', true, () => new Promise((resolve) => (pass = () => resolve([ok]))))
    const [first, second] = [new AbortableCall(), new AbortableCall()]
    const began = probe.require('job', first)
    const joined = probe.require('job', second)
    second.abort(new Error('gave up'))
    await expect(joined).rejects.toThrow('gave up')
    pass()
    await began
  })
})

describe('the example of the guide', () => {
  it('refuses its store until the setting is changed', async () => {
    const settings = { dropsOldKeys: true }
    const store = new CheckedStore({ settings: async () => settings })
    const lease = createLease(store, 'job', { logger: silentLogger })
    expect(await start(lease, async () => {})).toContain('set drop-old-keys to off')
    settings.dropsOldKeys = false
    expect(await start(lease, async () => {})).toBe('done')
    expect(await readLease(store, 'job')).toMatchObject({ state: 'available' })
  })
})

describe('the finding about a clock', () => {
  it.each([
    [1_000_050, 'ok', '50 ms ahead of'],
    [999_000, 'ok', '1000 ms behind'],
    [1_100_000, 'warning', '100000 ms ahead of'],
    [Number.NaN, 'unknown', 'does not give its time'],
  ])('of a server at %d is %s', (server, result, found) => {
    const finding = clockFinding(server, 1_000_000, 1_000_000)
    expect(finding).toMatchObject({ check: 'clock', result, found: expect.stringContaining(found) })
  })
})
