import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { breakLease, createLease, LeaseLostError, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { importAsLeader } from './hierarchy.js'
import { keepSession, preempt } from './renewal.js'
import { whoHoldsIt } from './who-holds-it.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-getting-started-'))

async function acquireByHand(store: LeaseStore): Promise<void> {
  // #region acquire
  const lease = createLease(store, 'nightly-report', { heartbeatTimeout: 60_000 })
  const held = await lease.acquire({ onLost: ({ reason }) => console.log(`lost: ${reason}`) })
  if (held) {
    // Check before each critical step. It reads clocks and does no I/O.
    if (lease.checkLease()) console.log(`held for at least ${Math.round(lease.remaining / 1000)} s`)
    await lease.release()
  }
  // #endregion acquire
}

async function waitForTheTurn(store: LeaseStore): Promise<void> {
  const other = createLease(store, 'nightly-report')
  await other.acquire()
  const free = pause(50).then(() => other.release())
  // #region wait
  await using lease = createLease(store, 'nightly-report')
  if (await lease.acquire({ wait: 10_000, signal: AbortSignal.timeout(30_000) })) console.log('my turn')
  // #endregion wait
  await free
}

async function waitInPlainJavaScript(store: LeaseStore): Promise<void> {
  // #region wait-in-plain-javascript
  const lease = createLease(store, 'nightly-report')
  try {
    if (await lease.acquire({ wait: 10_000 })) console.log('my turn, in plain JavaScript')
  } finally {
    await lease.close()
  }
  // #endregion wait-in-plain-javascript
}

async function leaveMetadata(store: LeaseStore): Promise<void> {
  // #region metadata
  const lease = createLease(store, 'import')
  await lease.acquire()
  await lease.update({ line: '1200' })
  await lease.release({ metadata: { line: '1500' } })

  const next = createLease(store, 'import')
  await next.acquire()
  console.log(`continue at line ${next.previous?.line}`)
  // #endregion metadata
  await next.release()
}

async function inspect(store: LeaseStore): Promise<void> {
  const held = createLease(store, 'import', { owner: 'anna' })
  await held.acquire()
  const holder = await createLease(store, 'import').holder()
  console.log(`held by ${holder?.owner}`)
  await whoHoldsIt(store)
  await held.close()
}

async function passItOn(store: LeaseStore): Promise<void> {
  // #region hand-off
  const download = createLease(store, 'report-7', { owner: 'download', heartbeatTimeout: 15_000 })
  const convert = createLease(store, 'report-7', { owner: 'convert', heartbeatTimeout: 300_000 })
  await download.acquire()
  const message = JSON.stringify(await download.handOff({ owner: 'convert' }))

  // In the process of the next step, which got the message:
  if (await convert.adopt(JSON.parse(message))) {
    console.log(`converting for at least ${Math.round(convert.remaining / 1000)} s`)
  }
  // #endregion hand-off
  await convert.release()
}

async function loseIt(store: LocalLeaseStore): Promise<void> {
  const lease = createLease(store, 'nightly-report', {
    heartbeatTimeout: 1_000,
    heartbeatInterval: 100,
    operationTimeout: 100,
  })
  // #region lose
  try {
    await lease.run(async ({ signal }) => {
      await breakLease(store, 'nightly-report', { period: 0 })
      await pause(60_000, undefined, { signal })
    })
  } catch (error) {
    if (error instanceof LeaseLostError) console.log(`stopped: ${error.reason}`)
  }
  // #endregion lose
}

const store = new LocalLeaseStore({ folder })
await acquireByHand(new MemoryLeaseStore())
await waitForTheTurn(store)
await waitInPlainJavaScript(store)
await leaveMetadata(new MemoryLeaseStore())
await inspect(new MemoryLeaseStore())
await passItOn(new MemoryLeaseStore())
await loseIt(store)
// Leases in memory do not keep the process alive; a server does.
const awake = setInterval(() => {}, 1_000)
await keepSession(new MemoryLeaseStore())
await preempt(new MemoryLeaseStore())
clearInterval(awake)
console.log(await importAsLeader(store, 'orders', async () => {}))
await store.close()
rmSync(folder, { recursive: true })
