import { LeaseSettings, TimeoutSettings } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { rulesOf } from '../../src/engine/lease-rules.js'
import { traitsOf } from '../../src/engine/store-traits.js'
import { validityOf } from '../../src/time/validity.js'
import { ScriptedStore } from '../support/scripted-store.js'

describe('the rules of a lease', () => {
  it('are its settings and the abilities of its store', () => {
    const settings = new LeaseSettings({ name: 'job', owner: 'me', maxHold: 77 })
    const { heartbeatTimeout: ttl, heartbeatInterval, operationTimeout } = settings.timeouts
    const store = new ScriptedStore()
    const told = {
      name: 'job',
      owner: 'me',
      kind: 'scripted',
      ttl,
      heartbeatInterval,
      operationTimeout,
      maxHold: 77,
      fenceReserve: 0,
      manual: false,
      exact: false,
    }
    expect(rulesOf(settings, traitsOf(store))).toMatchObject({
      ...told,
      watched: false,
      ordered: false,
      observed: false,
    })
    expect(rulesOf(settings, traitsOf(store)).plannedTimes).toBe(settings.timeouts)
    const limits = { ...store.limits, ordered: true, observed: true }
    const watched = Object.assign(store, { kind: undefined, limits, watch: () => [] })
    expect(rulesOf(settings, traitsOf(watched as never))).toMatchObject({
      ...told,
      kind: 'custom',
      watched: true,
      ordered: true,
      observed: true,
    })
  })

  it.each([
    { ttl: 1_000, reserve: 200 },
    { ttl: 30_000, reserve: 2_100 },
    { ttl: 120_000, reserve: 7_000 },
    { ttl: 3_600_000, reserve: 11_000 },
    { ttl: Number.POSITIVE_INFINITY, reserve: 11_000 },
  ])('end the validity of a self-fenced lease of $ttl ms earlier by $reserve ms', ({ ttl, reserve }) => {
    const timeouts = new TimeoutSettings({ heartbeatTimeout: ttl })
    const settings = new LeaseSettings({ name: 'job', timeouts, selfFence: 'kill' })
    const rules = rulesOf(settings, traitsOf(new ScriptedStore()))
    expect(rules.fenceReserve).toBe(reserve)
    // A strategy plans from the ttl whose validity that is.
    expect(validityOf(rules.plannedTimes.heartbeatTimeout)).toBeCloseTo(validityOf(ttl) - reserve, 6)
  })
})
