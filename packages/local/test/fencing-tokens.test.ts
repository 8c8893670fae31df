import { readdirSync, rmSync } from 'node:fs'
import { LeaseLostError } from '@leasehold/core'
import { LocalGuard } from '@leasehold/local'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { claim, granted, openStore, signal, TTL } from './support/open-store.js'
import { temporaryFolder } from './support/temporary-folder.js'

describe('fencing tokens', () => {
  it('grow over release, expiry, break and change', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    const tokens: bigint[] = []
    for (const end of ['release', 'expire', 'break', 'change', 'release'] as const) {
      const grant = await granted(claim(store, `grant ${tokens.length}`))
      tokens.push(grant.fencingToken)
      if (end === 'release') await store.release(grant, signal)
      if (end === 'expire') clock.block(TTL)
      if (end === 'break') await store.break('job', { period: 0 }, signal)
      if (end === 'change') {
        const next = await granted(store.change(grant, { grantId: 'changed', owner: 'b' }, signal))
        tokens.push(next.fencingToken)
        await store.release(next, signal)
      }
    }
    for (const [place, token] of tokens.entries()) if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1] ?? 0n)
  })

  it('grow over a restart of the machine that lost the last grants, and the leases are over', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const before = openStore({ folder, clock, bootId: 'first' })
    const { fencingToken } = await granted(claim(before, 'A'))
    await before.close()
    // What a power failure leaves of the database of that start is never looked at again.
    const after = openStore({ folder, clock, bootId: 'second' })
    const next = await granted(claim(after, 'B'))
    expect(next.fencingToken).toBeGreaterThan(fencingToken)
    expect(readdirSync(folder).filter((file) => file.includes('first'))).toEqual([])
  })

  it('grow over many restarts within one millisecond of the wall clock', async () => {
    const folder = temporaryFolder()
    let last = 0n
    for (let start = 0; start < 20; start += 1) {
      const store = openStore({ folder, clock: new VirtualClock(), bootId: `start-${start}` })
      const { fencingToken } = await granted(claim(store, 'A'))
      expect(fencingToken).toBeGreaterThan(last)
      last = fencingToken
      await store.close()
    }
  })

  it('grow over the deletion of the whole folder, also under a store that has it open', async () => {
    const folder = temporaryFolder()
    const store = openStore({ folder, clock: new VirtualClock() })
    const grant = await granted(claim(store, 'A'))
    rmSync(folder, { recursive: true })
    const other = openStore({ folder, clock: new VirtualClock() })
    const next = await granted(claim(other, 'B'))
    expect(next.fencingToken).toBeGreaterThan(grant.fencingToken)
    expect(await store.renew(grant, signal)).toMatchObject({ renewed: false, reason: 'taken' })
  })
})

describe('LocalGuard', () => {
  function openGuard(folder: string): LocalGuard {
    const guard = new LocalGuard({ folder })
    onTestFinished(() => guard.close())
    return guard
  }

  it('lets through what comes under the largest token or a larger one, and nothing under a smaller one', () => {
    const folder = temporaryFolder()
    const [guard, elsewhere] = [openGuard(folder), openGuard(folder)]
    const done: string[] = []
    expect(guard.run('ledger', 5n, () => done.push('five'))).toBe(1)
    guard.run('ledger', 5n, () => done.push('five again'))
    elsewhere.run('ledger', 7n, () => done.push('seven'))
    expect(() => guard.run('ledger', 6n, () => done.push('six'))).toThrow(LeaseLostError)
    guard.run('another', 1n, () => done.push('of another resource'))
    expect(done).toEqual(['five', 'five again', 'seven', 'of another resource'])
  })

  it('passes on what the action throws, and remembers the token all the same', () => {
    const guard = openGuard(temporaryFolder())
    const failing = (): never => {
      throw new RangeError('the disk of the user')
    }
    expect(() => guard.run('ledger', 5n, failing)).toThrow(RangeError)
    expect(() => guard.run('ledger', 4n, () => {})).toThrow(LeaseLostError)
  })

  it('refuses an action that is not synchronous', () => {
    const guard = openGuard(temporaryFolder())
    expect(() => guard.run('ledger', 5n, async () => {})).toThrow('must be synchronous')
  })
})
