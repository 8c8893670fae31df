import { LocalLeaseStore } from '@leasehold/local'
import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { leasesOver, type StoreSubject, storeLaws } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { Child } from './support/spawn-child.js'

/** Collects the callbacks for the end of a trial, because trials in real time run side by side in one test. */
function trialEnd(): Finishing & { readonly stop: () => Promise<void> } {
  const ends: (() => unknown)[] = []
  return {
    onTestFinished: (end) => void ends.push(end as () => unknown),
    stop: async () => {
      for (const end of ends.reverse()) await end()
    },
  }
}

// In virtual time all stores of a folder share one clock, which stands for the time since boot.
const inVirtualTime: StoreSubject = {
  name: 'local',
  time: 'virtual',
  clients: true,
  serverTime: true,
  start: (clock) => {
    const end = trialEnd()
    const folder = temporaryFolder(end)
    return { open: () => new LocalLeaseStore({ folder, clock }), stop: end.stop }
  },
}

const inRealTime: StoreSubject = {
  name: 'local, with other processes',
  time: 'real',
  clients: true,
  serverTime: true,
  start: () => {
    const end = trialEnd()
    const folder = temporaryFolder(end)
    return {
      open: () => new LocalLeaseStore({ folder }),
      holdElsewhere: async (name) => {
        const child = new Child(end, folder, 'hold', { name })
        const { token = '' } = await child.waitFor(({ granted }) => granted === true)
        return { fencingToken: BigInt(token), kill: () => child.kill('SIGKILL') }
      },
      stop: end.stop,
    }
  },
}

describeStoreLaws(inVirtualTime)
describeLeaseLaws(leasesOver(inVirtualTime))
describeStoreLaws(
  inRealTime,
  storeLaws.filter(({ needs }) => needs.includes('processes')),
)
