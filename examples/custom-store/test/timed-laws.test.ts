import { casStore } from '@leasehold/core/store'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { MarkedRegister, TimedRegister } from '../src/timed-register.js'

/** The clock of the store has nothing to do with those of its clients. */
const EPOCH = 1_800_000_000_000

for (const Register of [TimedRegister, MarkedRegister]) {
  const subject = {
    name: `casStore over ${Register.name}`,
    time: 'virtual',
    clients: true,
    start: (server) => {
      const map = new Register(() => EPOCH + server.now())
      return { open: (clock) => casStore(map, { clock }) }
    },
  } satisfies StoreSubject
  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
}
