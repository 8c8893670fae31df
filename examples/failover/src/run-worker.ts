import { setTimeout as pause } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import { LeaseLostError, type LeaseStore, type StoreLease } from '@leasehold/core'
import { createActor, fromCallback } from 'xstate'
import { HoldingRecord } from './holding-record.js'
import type { Ledger } from './ledger.js'
import { machineNow } from './machine-clock.js'
import type { Entry, Order, Report } from './messages.js'
import { StoppableLedger } from './stoppable-ledger.js'

/** Options of {@link runWorker}. */
export interface WorkerParts {
  /** The folder for the record of the worker's looks at its lease. */
  readonly folder: string
  readonly name: string
  readonly lease: StoreLease
  readonly store: LeaseStore
  readonly ledger: Ledger
}

/** Runs an XState actor that writes to the ledger while it holds the lease, until the process ends. */
export async function runWorker({ folder, name, lease, store, ledger: inner }: WorkerParts): Promise<never> {
  const ledger = new StoppableLedger(inner)
  const record = new HoldingRecord(folder, name, lease)
  /** The number of written entries, and the token of the last grant. */
  const tally = { written: 0, token: 0n }

  // #region worker
  const bookkeeper = fromCallback<Entry>(({ receive }) => {
    receive(({ id }) => {
      const entry = { token: lease.fencingToken ?? tally.token, writer: name, id }
      ledger.write(entry).then(
        () => {
          tally.written += 1
        },
        // A rejected or failed write means that the lease is lost or expires soon. The actor is notified of the loss.
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
    report({ type: 'granted', at: machineNow(), token: String(fencingToken) })
  })
  lease.on('lost', ({ reason }) => {
    report({ type: 'lost', at: machineNow(), reason, heldWhenLooked: record.look() })
    void writeLate(ledger, tally.token, name)
  })

  const reportStatus = (): void => {
    const { value: state, context } = actor.getSnapshot()
    const { written } = tally
    const token = lease.fencingToken?.toString()
    report({ type: 'status', state, token, remaining: lease.remaining, stashed: context.stashed, written })
  }

  const end = async (): Promise<void> => {
    report({ type: 'releasing', at: machineNow() })
    actor.stop()
    // The lease logs a failure, and expires.
    await lease.release().catch(() => {})
    record.look()
    await ledger.close()
    await store.close()
    process.exit()
  }

  process.on('SIGTERM', () => void end())
  process.on('disconnect', () => process.exit())
  process.on('message', (order: Order) => {
    if (order.type === 'stop') void ledger.stopProcess()
    else actor.send(order)
  })
  actor.start()
  report({ type: 'ready' })
  for (let look = 0; ; look += 1) {
    record.look()
    if (look % 50 === 0) reportStatus()
    await pause(2)
  }
}

function report(message: Report): void {
  if (process.connected) process.send?.(message)
}

/** Simulates a worker that ignores the loss of its lease. The fencing guard must reject the late write. */
async function writeLate(ledger: Ledger, token: bigint, writer: string): Promise<void> {
  try {
    await ledger.write({ token, writer, id: -1 })
    report({ type: 'late-write', token: String(token), refused: false })
  } catch (error) {
    report({ type: 'late-write', token: String(token), refused: error instanceof LeaseLostError })
  }
}
