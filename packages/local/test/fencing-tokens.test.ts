import { appendFileSync, closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { LocalGuard } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { tryLock, unlock } from 'fs-native-extensions'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bootOf } from '../src/boot.js'
import { endOfTokens, epochFor } from '../src/fencing-epoch.js'
import { LeaseDatabase } from '../src/lease-database.js'
import { LeaseFolder } from '../src/lease-folder.js'
import { LeaseOperations } from '../src/lease-operations.js'
import { thisWaiter } from '../src/waiter-process.js'
import { acquisition } from './support/acquisition.js'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'

function openGuard(folder: string): LocalGuard {
  const guard = new LocalGuard({ folder })
  onTestFinished(() => guard.close())
  return guard
}

/** Whether the file could be locked at this moment. */
function isFree(file: number): boolean {
  if (!tryLock(file)) return false
  unlock(file)
  return true
}

/** A store, and the database in which it keeps its leases. */
function openDatabaseAndStore() {
  const folder = new LeaseFolder({ folder: temporaryFolder() })
  const clock = new VirtualClock()
  const boot = bootOf({ clock }, folder.path)
  const database = new LeaseDatabase(folder, boot, 2_000)
  onTestFinished(() => database.entries.close())
  const store = openStore({ folder: folder.path, clock })
  return { clock, boot, database, store }
}

describe('fencing tokens', () => {
  it('grow over release, expiry, break and change', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    const tokens: bigint[] = []
    for (const end of ['release', 'expire', 'break', 'change', 'release'] as const) {
      const grant = await granted(claim(store, `grant ${tokens.length}`))
      tokens.push(grant.fencingToken)
      if (end === 'release') await store.release(grant, call)
      if (end === 'expire') clock.block(TTL)
      if (end === 'break') await store.break('job', { period: 0 }, call)
      if (end === 'change') {
        const next = await granted(store.change(grant, { grantId: 'changed', owner: 'b' }, call))
        tokens.push(next.fencingToken)
        await store.release(next, call)
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
    // The database of an earlier start is never opened again.
    const after = openStore({ folder, clock, bootId: 'second' })
    const next = await granted(claim(after, 'B'))
    expect(next.fencingToken).toBeGreaterThan(fencingToken)
    expect(readdirSync(folder).filter((file) => file.includes('first'))).toEqual([])
  })

  it('grow over a restart of the machine, also those of a store that did not create the database', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const before = openStore({ folder, clock, bootId: 'first' })
    const { fencingToken } = await granted(claim(before, 'A'))
    await before.close()
    openStore({ folder, clock, bootId: 'second' })
    const second = openStore({ folder, clock, bootId: 'second' })
    expect((await granted(claim(second, 'B'))).fencingToken).toBeGreaterThan(fencingToken)
  })

  it('grow over the retirement of names, and a name that is still in use is kept', async () => {
    const { clock, boot, database, store } = openDatabaseAndStore()
    const tokens = new Map<string, bigint>()
    const ttls = { released: TTL, expired: TTL, 'with metadata': TTL, awaited: TTL, held: Number.POSITIVE_INFINITY }
    // Its holder may still ask for it.
    const justExpired = 2 * 3_600_000 - 1
    for (const [name, ttl] of Object.entries({ ...ttls, 'just expired': justExpired })) {
      const metadata = name === 'with metadata' ? { version: '7' } : {}
      const grant = await granted(claim(store, name, { name, ttl, metadata }))
      tokens.set(name, grant.fencingToken)
      if (name === 'released') await store.release(grant, call)
    }
    clock.block(2 * 3_600_000)
    const first = await granted(claim(store, 'first', { name: 'awaited' }))
    await claim(store, 'next', { name: 'awaited', queue: true })
    await store.release(first, call)
    const operations = new LeaseOperations(database, thisWaiter(), boot)
    for (let n = 0; n < 20; n += 1) {
      database.entries.refresh()
      const { change = {} } = acquisition(operations, { name: 'busy', owner: 'o', grantId: 'busy', ttl: TTL })
      database.entries.attempt([{ key: 'busy', change }])
    }
    for (const name of ['released', 'expired']) expect(await store.read(name, call)).toBeUndefined()
    expect(await store.read('with metadata', call)).toMatchObject({ metadata: { version: '7' } })
    expect(await store.read('just expired', call)).toMatchObject({ state: 'expired' })
    expect(await store.read('held', call)).toMatchObject({ state: 'leased', grantId: 'held' })
    expect((await claim(store, 'hasty', { name: 'awaited' })).granted).toBe(false)
    for (const name of ['released', 'expired', 'new']) {
      const next = await granted(claim(store, `${name} again`, { name }))
      expect(next.fencingToken).toBeGreaterThan(tokens.get(name) ?? 0n)
    }
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
    expect(await store.renew(grant, call)).toMatchObject({ renewed: false, reason: 'taken' })
  })
})

describe('a raised token', () => {
  /** Days ahead of what the folder counts by itself. */
  const AHEAD = 1_000_000_000n << 20n

  it('is kept exactly, up to 63 bits, and read by other stores of the folder', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const [store, other] = [openStore({ folder, clock }), openStore({ folder, clock })]
    const grant = await granted(claim(store, 'A'))
    const limit = 2n ** 63n - 2n ** 56n
    await expect(store.raiseToken(grant, limit, call)).rejects.toBeInstanceOf(LeaseConfigurationError)
    expect(await store.raiseToken(grant, limit - 1n, call)).toEqual({ renewed: true })
    expect(await other.read('job', call)).toMatchObject({ grantId: 'A', fencingToken: limit - 1n })
    await store.release({ ...grant, fencingToken: limit - 1n }, call)
    expect((await granted(claim(other, 'B'))).fencingToken).toBe(limit)
  })

  it('survives the end of its process', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const store = openStore({ folder, clock })
    const grant = await granted(claim(store, 'A'))
    const raised = grant.fencingToken + AHEAD
    await store.raiseToken(grant, raised, call)
    await store.close()
    const next = openStore({ folder, clock })
    expect(await next.read('job', call)).toMatchObject({ grantId: 'A', fencingToken: raised })
    expect(await next.renew({ ...grant, fencingToken: raised }, call)).toEqual({ renewed: true })
    clock.block(TTL)
    expect((await granted(claim(next, 'B'))).fencingToken).toBe(raised + 1n)
  })

  it('is smaller than the tokens after a restart of the machine, which loses the record', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const store = openStore({ folder, clock, bootId: 'first' })
    const grant = await granted(claim(store, 'A'))
    const raised = grant.fencingToken + AHEAD
    await store.raiseToken(grant, raised, call)
    await store.close()
    const next = openStore({ folder, clock, bootId: 'second' })
    expect((await granted(claim(next, 'B'))).fencingToken).toBeGreaterThan(raised)
  })

  it('is kept when the log is rewritten, as that of a holder and as that of a name that is over', async () => {
    const { clock, boot, database, store } = openDatabaseAndStore()
    const raised = new Map<string, bigint>()
    for (const [name, ttl] of Object.entries({ over: TTL, held: Number.POSITIVE_INFINITY })) {
      const grant = await granted(claim(store, name, { name, ttl }))
      raised.set(name, grant.fencingToken + AHEAD)
      await store.raiseToken(grant, grant.fencingToken + AHEAD, call)
    }
    clock.block(2 * 3_600_000)
    const operations = new LeaseOperations(database, thisWaiter(), boot)
    for (let n = 0; n < 20; n += 1) {
      database.entries.refresh()
      const { change = {} } = acquisition(operations, { name: 'busy', owner: 'o', grantId: 'busy', ttl: TTL })
      database.entries.attempt([{ key: 'busy', change }])
    }
    // The new log has no record of it.
    expect(await store.read('over', call)).toBeUndefined()
    expect((await granted(claim(store, 'next', { name: 'over' }))).fencingToken).toBeGreaterThan(
      raised.get('over') ?? 0n,
    )
    expect(await store.read('held', call)).toMatchObject({ grantId: 'held', fencingToken: raised.get('held') })
  })

  it('that is refused leaves the tokens of other names as they were', async () => {
    const folder = temporaryFolder()
    const store = openStore({ folder, clock: new VirtualClock() })
    const grant = await granted(claim(store, 'A'))
    await store.release(grant, call)
    expect(await store.raiseToken(grant, grant.fencingToken + AHEAD, call)).toMatchObject({ renewed: false })
    await store.close()
    const next = openStore({ folder, clock: new VirtualClock() })
    expect((await granted(claim(next, 'B', { name: 'another' }))).fencingToken).toBeLessThan(grant.fencingToken + AHEAD)
  })
})

/** For how long an epoch has tokens, in milliseconds. */
const SPAN = 60_000n

describe('an epoch', () => {
  it('whose tokens are used up is followed by another, which survives a restart of the machine', () => {
    const folder = new LeaseFolder({ folder: temporaryFolder() })
    const openDatabase = (id: string): LeaseDatabase => {
      const database = new LeaseDatabase(folder, { id, now: () => 0, uncertainty: 0 })
      onTestFinished(() => database.entries.close())
      return database
    }
    const before = openDatabase('first')
    // As if the wall clock had been ahead by days.
    const last = endOfTokens(before.tokenAfter(0n) >> 20n) + (1_000_000_000n << 20n)
    const token = before.tokenAfter(last)
    expect(token).toBe(last + 1n)
    const other = openDatabase('first')
    expect(other.tokenAfter(token)).toBe(token + 1n)
    expect(readFileSync(folder.file('epoch'), 'utf8').trim().split(/\n+/)).toHaveLength(2)
    expect(openDatabase('second').tokenAfter(0n)).toBeGreaterThan(token)
  })

  /** The epoch of a log for the smallest token, by a wall clock. */
  function epochOf(folder: LeaseFolder, log: string, now: () => number): bigint {
    return epochFor(folder, 'epoch', log, 0n, now)
  }

  it('belongs to one log, and none is lost, whichever of several writers is faster', () => {
    const folder = new LeaseFolder({ folder: temporaryFolder() })
    const begun: bigint[] = []
    // While one writer reads the clock, another begins an epoch; the wall clock is then set back.
    const interrupted = (): number => {
      if (begun.length === 0) begun.push(epochOf(folder, 'a', () => 2_000))
      return 1_000
    }
    begun.push(epochOf(folder, 'b', interrupted))
    for (const [log, now] of Object.entries({ c: 500, d: 3_000, e: 3_000 })) begun.push(epochOf(folder, log, () => now))
    expect(begun).toEqual([0n, 1n, 2n, 3n, 4n].map((epochs) => 2_000n + epochs * SPAN))
  })

  it('belongs to one log, also if the writers of two logs write the same epoch', () => {
    const folder = new LeaseFolder({ folder: temporaryFolder() })
    let first: bigint | undefined
    const interrupted = (): number => {
      first ??= epochOf(folder, 'a', () => 1_000)
      return 1_000
    }
    expect(epochOf(folder, 'b', interrupted)).toBe(1_000n + SPAN)
    expect(first).toBe(1_000n)
  })

  it('is shared by the writers of its log, also if they begin it at the same time', () => {
    const folder = new LeaseFolder({ folder: temporaryFolder() })
    const writers = 8
    let reading = 0
    // Each reads the clock before the first has written its epoch.
    const interrupted = (): number => {
      const place = reading
      reading += 1
      if (reading < writers) expect(epochOf(folder, 'a', interrupted)).toBeLessThan(1_000n + BigInt(writers))
      return 1_000 + place
    }
    expect(epochOf(folder, 'a', interrupted)).toBeLessThan(1_000n + BigInt(writers))
    expect(epochOf(folder, 'a', () => 5_000)).toBeLessThan(1_000n + BigInt(writers))
  })

  it('follows the last of very many', () => {
    const folder = new LeaseFolder({ folder: temporaryFolder() })
    const lines = Array.from({ length: 10_000 }, (_, place) => `\n${1_000_000 + place} id\n`)
    writeFileSync(folder.file('epoch'), lines.join(''))
    expect(epochOf(folder, 'a', () => 1_000)).toBe(1_009_999n + SPAN)
  })

  it('follows the epochs of earlier versions, and a line that was cut short', () => {
    const folder = new LeaseFolder({ folder: temporaryFolder() })
    writeFileSync(folder.file('epoch'), '7000\n')
    expect(epochOf(folder, 'a', () => 1_000)).toBe(7_000n + SPAN)
    appendFileSync(folder.file('epoch'), '\n70')
    expect(epochOf(folder, 'b', () => 1_000)).toBe(7_000n + 2n * SPAN)
  })
})

describe('LocalGuard', () => {
  it('runs an action within the action of another guard of the folder, where a store can be opened too', async () => {
    const folder = temporaryFolder()
    const [guard, other] = [openGuard(folder), openGuard(folder)]
    const seen = guard.transact('ledger', 5n, () =>
      other.transact('log', 1n, () => {
        const third = openGuard(folder)
        const store = openStore({ folder })
        return { store, value: third.transact('ledger', 6n, () => 'written') }
      }),
    )
    expect(seen.value).toBe('written')
    expect((await claim(seen.store, 'A')).granted).toBe(true)
    expect(() => other.transact('ledger', 5n, () => {})).toThrow(LeaseLostError)
  })

  it('excludes others until the end of the outermost action, though it is closed before', () => {
    const folder = temporaryFolder()
    const [guard, other] = [openGuard(folder), openGuard(folder)]
    // As another thread: it opens the file itself.
    const gate = openSync(join(folder, 'guard.mdb-gate'), 'a+')
    onTestFinished(() => closeSync(gate))
    const seen = guard.transact('ledger', 5n, () => {
      const inner = other.transact('log', 1n, () => isFree(gate))
      void guard.close()
      void other.close()
      return [inner, isFree(gate)]
    })
    expect(seen).toEqual([false, false])
    expect(isFree(gate)).toBe(true)
    expect(() => guard.transact('ledger', 5n, () => {})).toThrow(LeaseUnavailableError)
  })

  it('frees the lock after an action that failed, at any depth', () => {
    const folder = temporaryFolder()
    const [guard, other] = [openGuard(folder), openGuard(folder)]
    const gate = openSync(join(folder, 'guard.mdb-gate'), 'a+')
    onTestFinished(() => closeSync(gate))
    const failing = (): never => {
      throw new RangeError('the disk of the user')
    }
    expect(() => guard.transact('ledger', 5n, () => other.transact('log', 1n, failing))).toThrow(RangeError)
    expect(isFree(gate)).toBe(true)
    expect(guard.transact('ledger', 5n, () => isFree(gate))).toBe(false)
  })

  it('continues in a folder that was deleted, and locks the new file', () => {
    const folder = temporaryFolder()
    const guard = openGuard(folder)
    guard.transact('ledger', 5n, () => {})
    rmSync(folder, { recursive: true })
    guard.transact('ledger', 5n, () => {
      const gate = openSync(join(folder, 'guard.mdb-gate'), 'a+')
      onTestFinished(() => closeSync(gate))
      expect(isFree(gate)).toBe(false)
    })
    expect(() => openGuard(folder).transact('ledger', 4n, () => {})).toThrow(LeaseLostError)
  })

  it('runs actions with the largest token or a larger one, and rejects actions with a smaller one', () => {
    const folder = temporaryFolder()
    const [guard, elsewhere] = [openGuard(folder), openGuard(folder)]
    const done: string[] = []
    expect(guard.transact('ledger', 5n, () => done.push('five'))).toBe(1)
    guard.transact('ledger', 5n, () => done.push('five again'))
    elsewhere.transact('ledger', 7n, () => done.push('seven'))
    expect(() => guard.transact('ledger', 6n, () => done.push('six'))).toThrow(LeaseLostError)
    guard.transact('another', 1n, () => done.push('of another resource'))
    expect(done).toEqual(['five', 'five again', 'seven', 'of another resource'])
  })

  it('throws the error of the action, and still records the token', () => {
    const guard = openGuard(temporaryFolder())
    const failing = (): never => {
      throw new RangeError('the disk of the user')
    }
    expect(() => guard.transact('ledger', 5n, failing)).toThrow(RangeError)
    expect(() => guard.transact('ledger', 4n, () => {})).toThrow(LeaseLostError)
  })

  it('rejects an action that is not synchronous', () => {
    const guard = openGuard(temporaryFolder())
    expect(() => guard.transact('ledger', 5n, async () => {})).toThrow('must be synchronous')
  })
})
