/** A process of the shop: `worker.ts FOLDER NAME RANK`. It works until its parent has gone, or until a SIGTERM. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Held } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { LeaderElection, PartitionGroup, Schedule, Semaphore } from '@leasehold/recipes'

const [folder = '', owner = '', rank = '0'] = process.argv.slice(2)
const times = { owner, heartbeatTimeout: 3_000, heartbeatInterval: 500, operationTimeout: 500 }
const store = new LocalLeaseStore({ folder })

/** Work takes its time, and ends when its lease does. */
async function busy({ signal }: Pick<Held, 'signal'>, duration: number): Promise<void> {
  await sleep(duration, undefined, { signal }).catch(() => {})
}

// #region fleet
const election = new LeaderElection(store, { name: 'shop/leader', rank: Number(rank), ...times })
const invoices = new Schedule(store, {
  name: 'shop/invoices',
  every: 5_000,
  ...times,
  work: (tick) => busy(tick, 2_000),
})
const orders = new PartitionGroup(store, { name: 'shop/orders', partitions: 8, ...times, onAssigned: () => {} })
const printers = new Semaphore(store, { name: 'shop/printers', permits: 2, ...times })
// #endregion fleet

async function print(): Promise<void> {
  while (!printers.closed.aborted) {
    // The store is a folder of this machine: if it fails, the next label is tried a little later.
    await printers.run((permit) => busy(permit, 1_500), { wait: 60_000 }).catch(() => {})
    await sleep(500)
  }
}

for (const recipe of [election, invoices, orders]) recipe.start()
for (let printer = 0; printer < 2; printer += 1) void print()

process.on('SIGTERM', async () => {
  await Promise.allSettled([election, invoices, orders, printers].map((recipe) => recipe.stop({ timeout: 2_000 })))
  await store.close().catch(() => {})
  process.exit()
})
process.on('disconnect', () => process.exit())
