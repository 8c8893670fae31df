/** A thread that uses a folder as fast as it can, until it is terminated. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Grant, LeaseLostError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

const { folder, kept } = workerData as { readonly folder: string; readonly kept: string }
const call = new AbortableCall()
const store = new LocalLeaseStore({ folder })
const guard = new LocalGuard({ folder })
let grants = 0

async function acquire(name: string, ttl: number): Promise<Grant | undefined> {
  grants += 1
  const outcome = await store.acquire({ name, owner: kept, grantId: `${kept} ${grants}`, ttl }, call)
  if (!outcome.granted) return undefined
  parentPort?.postMessage({ grant: outcome.grant })
  return outcome.grant
}

async function run(): Promise<never> {
  // Not released: the test reads it at the end.
  await acquire(kept, Number.POSITIVE_INFINITY)
  for (;;) {
    const grant = await acquire('shared', 300)
    if (grant === undefined) continue
    try {
      guard.transact('shared', grant.fencingToken, () => {})
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error
    }
    await store.release(grant, call)
  }
}

void run()
