import { MysqlLeaseStore } from '@leasehold/mysql'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'

/** Every client is a store of its own over the same backend; give each trial an empty backend. */
const subject: StoreSubject = {
  name: 'MysqlLeaseStore',
  // 'real' for a backend with a clock of its own; the laws then wait.
  time: 'virtual',
  clients: true,
  start: () => ({ open: (clock) => new MysqlLeaseStore({ clock }) }),
}

describeStoreLaws(subject)
describeLeaseLaws(leasesOver(subject))
