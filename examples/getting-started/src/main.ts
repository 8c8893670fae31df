import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import {
  breakLease,
  createLease,
  LeaseLostError,
  LeaseProvider,
  type LeaseStore,
  MemoryLeaseStore,
} from '@leasehold/core'
import { LocalLeaseStore, localLease } from '@leasehold/local'
import { createActor, fromCallback, waitFor } from 'xstate'
import { reportOnce } from './idea.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-getting-started-'))

async function acquireByHand(store: LeaseStore): Promise<void> {
  // #region acquire
  const lease = createLease(store, 'nightly-report', { heartbeatTimeout: 60_000 })
  const held = await lease.acquire({ onLost: ({ reason }) => console.log(`lost: ${reason}`) })
  if (held) {
    // Before each step that matters: it reads clocks, and nothing else.
    if (lease.checkLease()) console.log(`holding, for ${Math.round(lease.remaining / 1000)} s at least`)
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

async function guardAnActor(store: LeaseStore): Promise<void> {
  // #region actor
  const printer = fromCallback<{ type: 'print'; text: string }>(({ receive }) => {
    receive(({ text }) => console.log(text))
  })
  const actor = createActor(
    leaseGuarded(printer, {
      lease: createLease(store, 'printer'),
      retryInterval: 5_000,
      wait: Number.POSITIVE_INFINITY,
    }),
  )
  actor.subscribe({ error: (error) => console.error(error) })
  actor.start()
  actor.send({ type: 'print', text: 'printed by the one who holds the lease' })
  await waitFor(actor, (snapshot) => snapshot.matches('active') && snapshot.context.stashed === 0)
  actor.stop()
  // #endregion actor
}

async function byConfiguration(): Promise<void> {
  // #region provider
  const config = {
    leasehold: {
      lease: { 'lease-class': '@leasehold/local', folder, 'heartbeat-timeout': '60s' },
      reports: { 'heartbeat-interval': '10s', 'max-hold': '1h' },
    },
  }
  await using leases = new LeaseProvider(config, { '@leasehold/local': localLease })
  const lease = await leases.getLease('nightly-report', 'leasehold.reports')
  console.log(`by configuration: ${await lease.acquire()}`)
  // #endregion provider
}

const store = new LocalLeaseStore({ folder })
await acquireByHand(new MemoryLeaseStore())
await waitForTheTurn(store)
await loseIt(store)
await guardAnActor(new MemoryLeaseStore())
await byConfiguration()
await store.close()
console.log(await reportOnce(folder, async (token) => `reported under a token of ${String(token).length} digits`))
rmSync(folder, { recursive: true })
