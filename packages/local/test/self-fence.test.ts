import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLease } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { bundle } from './support/bundle.js'
import { openStore } from './support/open-store.js'
import { Child, type Line } from './support/spawn-child.js'

/**
 * Of the leases of the program, in milliseconds. A fence leaves 5 % of it to acknowledge a loss, and 2 % to end the process:
 * more than a thread of a busy machine waits for its turn.
 */
const TTL = 10_000
/** Half of the time to acknowledge is for a listener of SIGTERM. */
const TTL_TO_LISTEN = 20_000

const programs = mkdtempSync(join(tmpdir(), 'leasehold-fenced-'))
afterAll(() => rmSync(programs, { recursive: true }))
const program = await bundle(programs, 'fenced')

const isGranted = ({ granted }: Line): boolean => granted === true
const isAlive = ({ alive }: Line): boolean => alive === true

/** Starts the program, and another owner that waits for its lease. */
async function start(test: Finishing, mode: string, fence: string, ttl = TTL) {
  const folder = temporaryFolder(test)
  const child = new Child(test, folder, mode, { program, args: [String(ttl), fence] })
  const { at, remaining = 0 } = await child.waitFor(isGranted)
  const other = createLease(openStore({ folder }, test), 'job', { heartbeatTimeout: TTL })
  const granted = other.acquire({ wait: 60_000 }).then(() => machineTime())
  // A test may end before it is granted.
  granted.catch(() => {})
  /** The process writes it at once, and for the first time before it says that it was granted. */
  const lastWork = (): number => readFileSync(join(folder, 'job.work')).readDoubleLE()
  return { child, at, validUntil: at + remaining, granted, lastWork }
}

describe.concurrent('a process whose lease has a self-fence', { timeout: 120_000 }, () => {
  it.for([
    ['blocks the thread', 'kill', 'SIGKILL'],
    ['blocks the thread', 'exit', 'SIGTERM'],
    ['blocks the thread in its onLost callback', 'kill', 'SIGKILL'],
    ['ignores the signal of its run', 'kill', 'SIGKILL'],
    ['ignores the signal of its run', 'exit', 'SIGTERM'],
    ['ignores the signal, and handles SIGTERM', 'exit', 'SIGKILL'],
  ] as const)('that %s (%s) is ended by %s before anyone else is granted', async ([mode, fence, signal], test) => {
    const ttl = mode.includes('handles') ? TTL_TO_LISTEN : TTL
    const { child, validUntil, granted, lastWork } = await start(test, mode, fence, ttl)
    const firstWork = lastWork()
    expect(await child.exitSignal()).toBe(signal)
    expect(machineTime()).toBeGreaterThan(validUntil)
    const nextAt = await granted
    // In its callback, it may be ended before it begins.
    if (!mode.includes('callback')) expect(lastWork()).toBeGreaterThan(firstWork)
    expect(lastWork()).toBeLessThan(nextAt)
    expect(child.lines.filter(isAlive)).toEqual([])
    if (mode.includes('handles')) expect(child.lines.filter(({ asked }) => asked === true)).toHaveLength(1)
  })

  it('that ignores the signal of its run works on beside the next owner if the lease has none', async (test) => {
    const { child, granted, lastWork } = await start(test, 'ignores the signal of its run', '')
    const nextAt = await granted
    await child.waitFor(isAlive)
    expect(lastWork()).toBeGreaterThan(nextAt)
  })

  it('that obeys the signal of its run lives on, and the name is free as soon as its work has ended', async (test) => {
    const { child, at, granted, lastWork } = await start(test, 'obeys the signal of its run', 'kill')
    await child.waitFor(isAlive)
    const nextAt = await granted
    expect(lastWork()).toBeLessThan(nextAt)
    expect(nextAt - at).toBeLessThan(TTL + 10_000)
  })

  it('that has nothing more to do ends by itself: the thread does not keep it alive', async (test) => {
    const { child } = await start(test, 'has nothing more to do', 'kill')
    expect(await child.exitCode()).toBe(0)
  })

  it.for(['has a callback', 'renews, and works on', 'releases, and blocks the thread'])(
    'that %s lives on',
    async (mode, test) => {
      const { child } = await start(test, mode, 'kill')
      await child.waitFor(isAlive)
      const isRenewed = mode.startsWith('renews')
      if (isRenewed) expect(child.lines.find(({ valid }) => valid !== undefined)).toMatchObject({ valid: true })
    },
  )
})
