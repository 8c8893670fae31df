/** One instance of a service: `instance.ts FOLDER STAGE [STUCK]`. It never finishes the item STUCK. */
import { setTimeout as pause } from 'node:timers/promises'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { runStage } from './stage.js'
import { createStage, type StageName } from './stages.js'

const [folder = '', name = '', stuck] = process.argv.slice(2)
const store = new LocalLeaseStore({ folder })
const guard = new LocalGuard({ folder })
const stop = new AbortController()
// An instance must not outlive the demo. At its end it releases its lease.
process.once('disconnect', () => stop.abort())

const stage = createStage(folder, name as StageName, guard, async (item) => {
  if (item === stuck) process.send?.({ stuckAt: item })
  await pause(item === stuck ? 1_000_000 : 20)
})
const onGranted = (position: number, token: bigint): void => void process.send?.({ position, token: String(token) })
await runStage(store, { ...stage, onGranted }, stop.signal)
await guard.close()
await store.close()
