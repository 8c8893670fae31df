/** The cost of a recorder for 100,000 held leases: the processor time of the process, with and without it, in turns. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type LeaseRecorder, MemoryLeaseStore } from '@leasehold/core'
import { flightRecorder } from '@leasehold/recorder'

const [leases = '100000', seconds = '30', rounds = '2'] = process.argv.slice(2)

async function measure(recorder: LeaseRecorder | undefined): Promise<number> {
  const store = new MemoryLeaseStore()
  const held = Array.from({ length: Number(leases) }, (_, number) =>
    createLease(store, `lease-${number}`, { owner: 'bench', recorder }),
  )
  for (const lease of held) await lease.acquire()
  // The first heartbeats come early and at random.
  await sleep(15_000)
  const { user, system } = process.cpuUsage()
  await sleep(Number(seconds) * 1_000)
  const used = process.cpuUsage({ user, system })
  for (const lease of held) await lease.release()
  return (used.user + used.system) / 1_000 / Number(seconds) / 10
}

for (let round = 0; round < Number(rounds); round += 1) {
  const without = await measure(undefined)
  const recorder = flightRecorder({ folder: 'recordings', size: 100_000 })
  const recorded = await measure(recorder)
  console.log(`without: ${without.toFixed(2)} % of a core; with: ${recorded.toFixed(2)} %`)
}
