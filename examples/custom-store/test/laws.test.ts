// #region subject
import { casStore } from '@leasehold/core/store'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { MapRegister } from '../src/map-register.js'
import { type Table, TableLeaseStore } from '../src/table-store.js'

const table: StoreSubject = {
  name: 'TableLeaseStore',
  time: 'virtual', // the laws supply the clock of the table
  clients: true,
  serverTime: true,
  start: (clock) => {
    const rows: Table['rows'] = new Map()
    return {
      open: () => new TableLeaseStore({ rows, now: () => clock.now() }),
      restart: () => {
        const saved = structuredClone([...rows])
        rows.clear()
        for (const [name, row] of saved) rows.set(name, row)
      },
    }
  },
}

const register: StoreSubject = {
  name: 'casStore over MapRegister',
  time: 'virtual',
  clients: true,
  start: () => {
    const map = new MapRegister()
    return { open: (clock) => casStore(map, { clock }) }
  },
}

for (const subject of [table, register]) {
  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
}
// #endregion subject
