import { createLease } from '@leasehold/core'
import { casStore } from '@leasehold/core/store'
import { MapRegister } from './map-register.js'
import { type Table, TableLeaseStore } from './table-store.js'

async function contendInTable(): Promise<void> {
  // #region table
  const table: Table = { rows: new Map(), now: () => performance.now() }
  const [anna, berta] = ['anna', 'berta'].map((owner) => createLease(new TableLeaseStore(table), 'index', { owner }))
  console.log(`table: anna ${await anna?.acquire()}, berta ${await berta?.acquire()}`)
  await anna?.release()
  console.log(`table, after the release: berta ${await berta?.acquire()}, token ${berta?.fencingToken}`)
  await berta?.release()
  // #endregion table
}

async function contendInRegister(): Promise<void> {
  // #region cas
  const register = new MapRegister()
  const [anna, berta] = ['anna', 'berta'].map((owner) => createLease(casStore(register), 'index', { owner }))
  console.log(`register: anna ${await anna?.acquire()}, berta ${await berta?.acquire()}`)
  await anna?.release()
  console.log(`register, after the release: berta ${await berta?.acquire()}, token ${berta?.fencingToken}`)
  await berta?.release()
  // #endregion cas
}

await contendInTable()
await contendInRegister()
