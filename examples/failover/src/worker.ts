/** One of the four processes: an XState actor that writes to the ledger while it holds the lease. */
import { setTimeout as pause } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import { createLease, LeaseLostError } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { createActor, fromCallback } from 'xstate'
import { HoldingRecord } from './holding-record.js'
import { Ledger } from './ledger.js'
import { machineNow } from './machine-clock.js'
import type { Entry, Order, Report } from './messages.js'

const [folder = '', name = ''] = process.argv.slice(2)

const store = new LocalLeaseStore({ folder })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 500,
  operationTimeout: 500,
})
const ledger = new Ledger(folder)
const record = new HoldingRecord(folder, name, lease)
/** What it has written, and the token of its last grant. */
const tally = { written: 0, token: 0n }

// #region worker
const bookkeeper = fromCallback<Entry>(({ receive }) => {
  receive(({ id }) => {
    ledger.write({ token: lease.fencingToken ?? tally.token, writer: name, id })
    tally.written += 1
  })
})

const guarded = leaseGuarded(bookkeeper, {
  lease,
  retryInterval: 500,
  wait: Number.POSITIVE_INFINITY,
  onLeaseLost: 'reacquire',
  stash: { capacity: 1_000, overflow: 'drop-oldest' },
})

const actor = createActor(guarded)
// #endregion worker

function tell(report: Report): void {
  if (process.connected) process.send?.(report)
}

lease.on('acquired', ({ fencingToken }) => {
  tally.token = fencingToken
  tell({ type: 'granted', at: machineNow(), token: String(fencingToken) })
})

lease.on('lost', ({ reason }) => {
  tell({ type: 'lost', at: machineNow(), reason, heldWhenLooked: record.look() })
  tryLateWrite()
})

/** What a worker does that does not look at its lease: its write comes too late, and the fencing token refuses it. */
function tryLateWrite(): void {
  const { token } = tally
  try {
    ledger.write({ token, writer: name, id: -1 })
    tell({ type: 'late-write', token: String(token), refused: false })
  } catch (error) {
    tell({ type: 'late-write', token: String(token), refused: error instanceof LeaseLostError })
  }
}

function tellStatus(): void {
  const snapshot = actor.getSnapshot()
  tell({
    type: 'status',
    state: snapshot.value,
    token: lease.fencingToken?.toString(),
    remaining: lease.remaining,
    stashed: snapshot.context.stashed,
    written: tally.written,
  })
}

async function end(): Promise<void> {
  tell({ type: 'releasing', at: machineNow() })
  actor.stop()
  await lease.release()
  record.look()
  await ledger.close()
  await store.close()
  process.exit()
}

process.on('SIGTERM', () => void end())
process.on('disconnect', () => process.exit())
process.on('message', (order: Order) => {
  // By its own hand, so that it is not stopped inside a transaction, where it would hold up the others.
  if (order.type === 'stop') process.kill(process.pid, 'SIGSTOP')
  else actor.send(order)
})
actor.start()
tell({ type: 'ready' })

for (let look = 0; ; look += 1) {
  record.look()
  if (look % 50 === 0) tellStatus()
  await pause(2)
}
