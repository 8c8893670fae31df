/** `worker.ts FOLDER OWNER`: imports the catalog, and then reads it until a line arrives on stdin. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { createLockManager } from '@leasehold/recipes'
import { catalogOf } from './catalog.js'

const [folder = '', owner = ''] = process.argv.slice(2)

// The worker must not outlive the example.
process.stdin.on('end', () => process.exit())
const told = once(process.stdin, 'data')

const options = { owner, heartbeatTimeout: 4_000, heartbeatInterval: 500, operationTimeout: 2_000 }
// #region create
const store = new LocalLeaseStore({ folder })
const locks = createLockManager(store, options)
// #endregion create
const catalog = catalogOf(locks)

await catalog.import(async () => {
  console.log(`${owner} imports`)
  // The first one is killed here.
  await pause(owner === 'anna' ? 60_000 : 100)
  console.log(`${owner} has imported`)
})
await catalog.read(async () => {
  console.log(`${owner} reads`)
  await told
}, AbortSignal.timeout(60_000))
await locks.stop()
await store.close()
process.exit()
