/** The cost of a recorder for 100,000 held leases: the processor time of the process, with and without it, in turns. */
import { createLease, type LeaseRecorder, MemoryLeaseStore, systemClock } from '@leasehold/core'
import { flightRecorder } from '@leasehold/recorder'

const [leases = '100000', seconds = '30', rounds = '2'] = process.argv.slice(2)

async function measure(recorder: LeaseRecorder | undefined): Promise<number> {
  const store = new MemoryLeaseStore()
  const held = Array.from({ length: Number(leases) }, (_, number) =>
    createLease(store, `lease-${number}`, { owner: 'bench', recorder }),
  )
  for (const lease of held) await lease.acquire()
  // The first heartbeats come early and at random.
  await new Promise<void>((done) => void keptTimer(15_000, done))
  const { user, system } = process.cpuUsage()
  await new Promise<void>((done) => void keptTimer(Number(seconds) * 1_000, done))
  const used = process.cpuUsage({ user, system })
  for (const lease of held) await lease.release()
  return (used.user + used.system) / 1_000 / Number(seconds) / 10
}

/** The timers of the clock do not keep the process alive. */
function keptTimer(delay: number, done: () => void): void {
  const keep = new MessageChannel()
  keep.port1.onmessage = () => {}
  systemClock.schedule(delay, () => {
    keep.port1.close()
    done()
  })
}

for (let round = 0; round < Number(rounds); round += 1) {
  const without = await measure(undefined)
  const recorder = flightRecorder({ folder: 'recordings', size: 100_000 })
  const recorded = await measure(recorder)
  console.log(`without: ${without.toFixed(2)} % of a core; with: ${recorded.toFixed(2)} %`)
}
