import { setTimeout as pause } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import { LeaseLostError, type LeaseStore, type StoreLease } from '@leasehold/core'
import { createActor, fromCallback } from 'xstate'
import { HoldingRecord } from './holding-record.js'
import type { Ledger } from './ledger.js'
import { machineNow } from './machine-clock.js'
import type { Entry, Order, Report } from './messages.js'

/** What a worker works with. */
export interface WorkerParts {
  /** Where the worker writes down what it saw of its lease. */
  readonly folder: string
  readonly name: string
  readonly lease: StoreLease
  readonly store: LeaseStore
  readonly ledger: Ledger
}

/** An XState actor that writes to the ledger while it holds the lease; until the process is ended. */
export async function runWorker({ folder, name, lease, store, ledger }: WorkerParts): Promise<never> {
  const record = new HoldingRecord(folder, name, lease)
  /** What it has written, and the token of its last grant. */
  const tally = { written: 0, token: 0n }

  // #region worker
  const bookkeeper = fromCallback<Entry>(({ receive }) => {
    receive(({ id }) => {
      const entry = { token: lease.fencingToken ?? tally.token, writer: name, id }
      ledger.write(entry).then(
        () => {
          tally.written += 1
        },
        // Refused, or not written: the lease is lost, or about to be, and that is told.
        () => {},
      )
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

  lease.on('acquired', ({ fencingToken }) => {
    tally.token = fencingToken
    tell({ type: 'granted', at: machineNow(), token: String(fencingToken) })
  })
  lease.on('lost', ({ reason }) => {
    tell({ type: 'lost', at: machineNow(), reason, heldWhenLooked: record.look() })
    void writeLate(ledger, tally.token, name)
  })

  const tellStatus = (): void => {
    const { value: state, context } = actor.getSnapshot()
    const { written } = tally
    const token = lease.fencingToken?.toString()
    tell({ type: 'status', state, token, remaining: lease.remaining, stashed: context.stashed, written })
  }

  const end = async (): Promise<void> => {
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
}

function tell(report: Report): void {
  if (process.connected) process.send?.(report)
}

/** What a worker does that does not look at its lease: its write comes too late, and the fencing token refuses it. */
async function writeLate(ledger: Ledger, token: bigint, writer: string): Promise<void> {
  try {
    await ledger.write({ token, writer, id: -1 })
    tell({ type: 'late-write', token: String(token), refused: false })
  } catch (error) {
    tell({ type: 'late-write', token: String(token), refused: error instanceof LeaseLostError })
  }
}
