// #region stage
import { setTimeout as pause } from 'node:timers/promises'
import { createLease, type LeaseStore } from '@leasehold/core'

/** A stage reads items from its source, and writes one result for each to its output, in order. */
export interface Stage {
  readonly name: string
  /** The items that there are so far. */
  readonly source: () => readonly string[]
  readonly convert: (item: string) => Promise<string>
  /** Writes the result at this position, once: under an older token than before, or at a position before the end, it does not. */
  readonly write: (position: number, result: string, fencingToken: bigint) => void
  /** Called when this instance begins to work, at this position. */
  readonly onGranted?: (position: number, fencingToken: bigint) => void
}

/** How often the source is looked at when it has no more items, in milliseconds. */
const IDLE = 50

/** Works on a stage while it holds its lease, as one of several instances. Ends when the signal aborts. */
export async function runStage(store: LeaseStore, stage: Stage, signal: AbortSignal): Promise<void> {
  const lease = createLease(store, `pipeline/${stage.name}`, { heartbeatTimeout: 2_000 })
  while (!signal.aborted) {
    try {
      await lease.run(
        async (held) => {
          // The last holder left its position in the metadata of the record, also if it was killed.
          let position = Number(lease.previous?.position ?? 0)
          stage.onGranted?.(position, held.fencingToken)
          while (!signal.aborted) {
            held.signal.throwIfAborted()
            const item = stage.source()[position]
            if (item === undefined) {
              await pause(IDLE)
              continue
            }
            const result = await stage.convert(item)
            stage.write(position, result, held.fencingToken)
            position += 1
            await lease.update({ position: String(position) })
          }
        },
        { wait: Number.POSITIVE_INFINITY, signal },
      )
    } catch (error) {
      // The lease was lost: wait for the next grant.
      if (!signal.aborted) console.error(error)
    }
  }
}
// #endregion stage
