import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { LocalGuard } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { bundle } from './support/bundle.js'
import { call, openStore } from './support/open-store.js'
import { Child, type Line } from './support/spawn-child.js'

const PROCESSES = 4
const TERMINATIONS = 1_000
/** The time limit of an operation, in milliseconds: far more than a busy machine needs, far less than for ever. */
const TIME_LIMIT = 30_000

const isDone = ({ longest }: Line): boolean => longest !== undefined

/** Waits for a child to end, as long as it prints a line within the time limit. */
async function ended(child: Child): Promise<number> {
  for (;;) {
    const before = child.lines.length
    const done = await Promise.race([child.waitFor(isDone), pause(2 * TIME_LIMIT, undefined, { ref: false })])
    if (done?.longest !== undefined) return done.longest
    if (child.lines.length === before) throw new Error(`a process hangs after ${before} lines`)
  }
}

it('threads that are terminated at any instant hold up no other, and no grant or token is lost', async (test) => {
  const folder = temporaryFolder(test)
  const program = await bundle(temporaryFolder(test), 'threads', 'thread')
  const each = String(TERMINATIONS / PROCESSES)
  const children = Array.from(
    { length: PROCESSES },
    (_, id) => new Child(test, folder, each, { name: String(id), program }),
  )
  const longest = await Promise.all(children.map(ended))
  const lines = children.flatMap((child) => child.lines)
  expect(lines.filter(({ error }) => error !== undefined)).toEqual([])
  expect(lines.filter(({ terminated }) => terminated !== undefined)).toHaveLength(TERMINATIONS)
  expect(Math.max(...longest)).toBeLessThan(TIME_LIMIT)

  const grants = lines.filter(({ grantId }) => grantId !== undefined)
  const shared = grants.filter(({ name }) => name === 'shared')
  expect(new Set(shared.map(({ token }) => token)).size).toBe(shared.length)
  for (const child of children) {
    const own = child.lines.filter(({ grantId }) => grantId?.startsWith('main') === true)
    const tokens = own.map(({ token }) => BigInt(token ?? 0))
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)))
  }
  const store = openStore({ folder }, test)
  const kept = grants.filter(({ name }) => name?.startsWith('kept') === true)
  expect(kept.length).toBeGreaterThan(TERMINATIONS / 4)
  for (const { name = '', grantId, token } of kept) {
    const record = await store.read(name, call)
    expect(record).toMatchObject({ state: 'leased', grantId, fencingToken: BigInt(token ?? 0) })
  }
}, 1_200_000)

it('a thread that is terminated within an action of a guard does not keep the lock', async (test) => {
  const folder = temporaryFolder(test)
  const guard = new LocalGuard({ folder })
  test.onTestFinished(() => guard.close())
  const program = await bundle(temporaryFolder(test), 'stuck-thread')
  const worker = new Worker(program, { workerData: { folder } })
  await once(worker, 'message')
  await worker.terminate()
  expect(guard.transact('ledger', 5n, () => 'mine')).toBe('mine')
  expect(() => guard.transact('ledger', 4n, () => 'stale')).toThrow('is older than 5')
})
