import type { LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MapRegister } from './map-register.js'

const TTL = 10_000
const call = new AbortableCall()

function claim(store: LeaseStore, owner: string, grantId: string): Promise<AcquireOutcome> {
  return store.acquire({ name: 'job', owner, grantId, ttl: TTL }, call)
}

describe('casStore, with random schedules', () => {
  it('grants a name to one holder at a time, with random interleavings, failures and clocks', async () => {
    const client = fc.integer({ min: 0, max: 2 })
    const step = fc.record({
      client,
      kind: fc.constantFrom('acquire', 'acquire', 'renew', 'release', 'wait', 'wait'),
      wait: fc.constantFrom(500, 3_000, 6_000, 11_000),
      fault: fc.constantFrom(undefined, undefined, undefined, 'fail', 'lose-answer'),
    })
    let takeovers = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const clock = new VirtualClock()
        const register = new MapRegister()
        const stores = [0, 1, 2].map(() => casStore(register, { clock }))
        const held = new Map<number, { grantId: string; validUntil: number; token: bigint }>()
        let largest = 0n
        let ids = 0
        for (const { client: who, kind, wait, fault } of steps) {
          const store = stores[who]
          if (store === undefined) continue
          const mine = held.get(who)
          const sentAt = clock.now()
          const valid = mine !== undefined && sentAt < mine.validUntil
          const grant = { name: 'job', owner: `o${who}`, ttl: TTL, grantId: mine?.grantId ?? '', fencingToken: 0n }
          if (fault !== undefined) register.faults.push(...([undefined, fault] as never[]))
          try {
            if (kind === 'wait') clock.block(wait)
            else if (kind === 'acquire' && !valid) {
              ids += 1
              const outcome = await claim(store, `o${who}`, `g${ids}`)
              if (!outcome.granted) continue
              for (const [other, { validUntil }] of held)
                if (other !== who) expect(validUntil).toBeLessThanOrEqual(clock.now())
              expect(outcome.grant.fencingToken).toBeGreaterThan(largest)
              largest = outcome.grant.fencingToken
              if (held.size > 0) takeovers += 1
              held.set(who, { grantId: `g${ids}`, validUntil: sentAt + TTL, token: largest })
            } else if (kind === 'renew' && mine !== undefined && valid) {
              const outcome = await store.renew(grant, call)
              if (outcome.renewed) held.set(who, { ...mine, validUntil: sentAt + TTL })
              else held.delete(who)
            } else if (kind === 'release' && valid) {
              held.delete(who)
              await store.release(grant, call)
            }
          } catch (error) {
            expect(String(error)).toMatch(/connection/)
          }
          register.faults.length = 0
        }
      }),
      { numRuns: 500 },
    )
    expect(takeovers).toBeGreaterThan(20)
  })
})
