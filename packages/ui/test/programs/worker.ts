/** A process of a service: `worker.ts TASK`. It holds, waits, leads, runs a schedule and takes partitions until it ends. */
import type { FleetTask } from '@leasehold/testing/fleet'
import { openStore, type StorePlace } from '../browser/support/fleet-store.js'
import { work } from '../browser/support/fleet-work.js'

export interface WorkerTask extends FleetTask {
  readonly place: StorePlace
}

const { place, owner } = JSON.parse(process.argv[2] ?? '') as WorkerTask
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const { store } = await openStore(place)
const working = work(store, owner)
process.once('SIGTERM', async () => {
  await working.stop()
  process.exit()
})
process.stdout.write('works\n')
