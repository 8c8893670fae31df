import { chmodSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalGuard } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, vi } from 'vitest'
import { LeaseFolder } from '../src/lease-folder.js'
import { RegisterLog } from '../src/register-log.js'
import { bundle } from './support/bundle.js'
import { call, openStore } from './support/open-store.js'
import { Child, canRunAsNobody, type Line, NOBODY } from './support/spawn-child.js'

/** Of the leases that the children hold, in milliseconds. */
const TTL = 2_000

const isGranted = ({ granted }: Line): boolean => granted === true
const isWaiting = ({ waiting }: Line): boolean => waiting === true

describe.concurrent('several processes of one machine', { timeout: 120_000 }, () => {
  it('the next owner is granted after the ttl of a killed holder, and not before', async (test) => {
    const folder = temporaryFolder(test)
    const holder = new Child(test, folder, 'hold')
    const first = await holder.waitFor(isGranted)
    const waiter = new Child(test, folder, 'wait')
    await waiter.waitFor(isWaiting)
    await holder.waitFor(({ renewed }) => renewed === true)
    await holder.kill('SIGKILL')
    const killed = machineTime()
    const next = await waiter.waitFor(isGranted)
    const last = holder.lines.filter(({ granted, renewed }) => granted === true || renewed === true).at(-1) ?? first
    // A confirmed request was sent at most a time limit before.
    expect(next.at - last.at).toBeGreaterThanOrEqual(TTL - 500)
    expect(next.at - first.at).toBeGreaterThan(TTL)
    expect(next.at - killed).toBeLessThan(TTL + 10_000)
    expect(BigInt(next.token ?? 0)).toBeGreaterThan(BigInt(first.token ?? 0))
  })

  it('a release notifies the next waiter, long before the lease would have expired', async (test) => {
    const folder = temporaryFolder(test)
    const latencies: number[] = []
    let holder = new Child(test, folder, 'hold')
    await holder.waitFor(isGranted)
    const waiters = Array.from({ length: 5 }, () => new Child(test, folder, 'wait'))
    for (const waiter of waiters) await waiter.waitFor(isWaiting)
    await pause(300)
    for (let turn = 0; turn < 5; turn += 1) {
      holder.signal('SIGTERM')
      const { at } = await holder.waitFor(({ releasing }) => releasing === true)
      const next = await Promise.race(waiters.filter((waiter) => waiter !== holder).map((w) => whenGranted(w)))
      latencies.push((next.line?.at ?? Number.NaN) - at)
      waiters.splice(waiters.indexOf(next.waiter), 1)
      holder = next.waiter
    }
    latencies.sort((a, b) => a - b)
    expect(latencies[2], `all of them, in ms: ${latencies.join(', ')}`).toBeLessThan(TTL / 6)
  })

  it('a waiter that dies in the middle of the queue does not hold up the next one', async (test) => {
    const folder = temporaryFolder(test)
    const holder = new Child(test, folder, 'hold')
    await holder.waitFor(isGranted)
    const first = new Child(test, folder, 'wait')
    await first.waitFor(isWaiting)
    await pause(200)
    const second = new Child(test, folder, 'wait')
    await second.waitFor(isWaiting)
    await pause(200)
    await first.kill('SIGKILL')
    holder.signal('SIGTERM')
    const { at } = await holder.waitFor(({ released }) => released === true)
    const next = await second.waitFor(isGranted)
    // Long before the place of the dead waiter ends by itself, a ttl after its last request.
    expect(next.at - at).toBeLessThan(1_500)
  })

  it('that are killed again and again leave an intact database, and tokens only grow', async (test) => {
    const folder = temporaryFolder(test)
    const tokens: { token: bigint; at: number }[] = []
    for (let round = 0; round < 3; round += 1) {
      const children = [new Child(test, folder, 'cycle'), new Child(test, folder, 'cycle')]
      await Promise.all(children.map((child) => child.waitFor(({ token }) => token !== undefined)))
      await pause(300 + 100 * round)
      for (const child of children) await child.kill('SIGKILL')
      for (const { lines } of children)
        for (const { token, at } of lines) tokens.push({ token: BigInt(token ?? 0), at })
    }
    expect(tokens.length).toBeGreaterThan(10)
    tokens.sort((a, b) => a.at - b.at)
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(tokens.length)
    for (const [place, { token }] of tokens.entries()) {
      if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1]?.token ?? 0n)
    }
    const store = openStore({ folder }, test)
    await expect(store.read('job', call)).resolves.toBeDefined()
    // The last grant, or the place of a waiter that was killed, keeps the name for a ttl at most.
    const next = await vi.waitUntil(
      async () => {
        const outcome = await store.acquire({ name: 'job', owner: 'o', grantId: 'after', ttl: TTL }, call)
        return outcome.granted && outcome.grant
      },
      { timeout: TTL + 10_000, interval: 50 },
    )
    expect(next.fencingToken).toBeGreaterThan(tokens.at(-1)?.token ?? 0n)
  })

  it('lose no change of one process while others open and close the folder', async (test) => {
    const folder = temporaryFolder(test)
    const worker = new Child(test, folder, 'cycle')
    const others = [new Child(test, folder, 'reopen'), new Child(test, folder, 'reopen')]
    await Promise.all(
      others.map((other) => other.waitFor(({ opened = 0, error }) => opened >= 200 || error !== undefined)),
    )
    await worker.kill('SIGKILL')
    expect([worker, ...others].flatMap(({ lines }) => lines.filter(({ error }) => error !== undefined))).toEqual([])
    const tokens = worker.lines.map(({ token }) => BigInt(token ?? 0))
    expect(tokens.length).toBeGreaterThan(10)
    for (const [place, token] of tokens.entries()) if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1] ?? 0n)
  })

  it('lose no change of a log that is rewritten all the time, while some are killed', async (test) => {
    const folder = temporaryFolder(test)
    const program = await bundle(temporaryFolder(test), 'counters')
    const children = Array.from({ length: 3 }, () => new Child(test, folder, '400', { program }))
    const killed: Child[] = []
    for (let kill = 0; kill < 5; kill += 1) {
      const child = new Child(test, folder, '100000', { program })
      await child.waitFor(({ counted = 0 }) => counted > 5)
      await pause(Math.random() * 30)
      await child.kill('SIGKILL')
      killed.push(child)
    }
    for (const child of children) expect(await child.exitCode()).toBe(0)
    // A killed child may have counted once more in each register than it printed.
    const least = 3 * 400 + killed.reduce((sum, { lines }) => sum + (lines.at(-1)?.counted ?? 0), 0)
    const kind = { apply: (value = 0, change: number) => value + change, whole: (value: number) => value }
    const log = new RegisterLog({ folder: new LeaseFolder({ folder }), file: 'counters.mdb', durable: false, kind })
    test.onTestFinished(() => log.close())
    for (const key of ['a', 'b', 'c']) {
      expect(log.get(key)).toBeGreaterThanOrEqual(least)
      expect(log.get(key)).toBeLessThanOrEqual(least + 2 * killed.length)
    }
  })

  it('open the folder while the last process that had it open closes it', async (test) => {
    const folder = temporaryFolder(test)
    const children = Array.from({ length: 3 }, () => new Child(test, folder, 'reopen'))
    await Promise.all(
      children.map((child) => child.waitFor(({ opened = 0, error }) => opened >= 500 || error !== undefined)),
    )
    expect(children.flatMap(({ lines }) => lines.filter(({ error }) => error !== undefined))).toEqual([])
  })

  it('a process that exits within an action of a guard does not keep the lock', async (test) => {
    const folder = temporaryFolder(test)
    expect(await new Child(test, folder, 'exit').exitCode()).toBe(7)
    const guard = new LocalGuard({ folder })
    test.onTestFinished(() => guard.close())
    expect(guard.transact('job', 2n, () => 'mine')).toBe('mine')
  })

  it.skipIf(!canRunAsNobody())('of different users: rejected by default, together by mode', async (test) => {
    const folder = temporaryFolder(test)
    const own = `${folder}/own`
    openStore({ folder: own }, test)
    chmodSync(folder, 0o777)
    const refused = new Child(test, own, 'try', { uid: NOBODY })
    expect(await refused.waitFor(() => true)).toMatchObject({ error: 'LeaseUnauthorisedError' })
    const shared = `${folder}/shared`
    const store = openStore({ folder: shared, mode: 0o777 }, test)
    await store.acquire({ name: 'held', owner: 'root', grantId: 'A', ttl: 60_000 }, call)
    expect(await new Child(test, shared, 'try', { uid: NOBODY }).waitFor(() => true)).toMatchObject({ granted: true })
    expect(await new Child(test, shared, 'try', { uid: NOBODY, name: 'held' }).waitFor(() => true)).toMatchObject({
      granted: false,
    })
  })
})

async function whenGranted(waiter: Child): Promise<{ waiter: Child; line: Line }> {
  return { waiter, line: await waiter.waitFor(isGranted) }
}
