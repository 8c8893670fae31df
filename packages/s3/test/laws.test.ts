import { S3LeaseStore } from '@leasehold/s3'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'

/** Every client is a store of its own over the same backend; give each trial an empty backend. */
const subject: StoreSubject = {
  name: 'S3LeaseStore',
  // 'real' for a backend with a clock of its own; the laws then wait.
  time: 'virtual',
  clients: true,
  start: () => ({ open: (clock) => new S3LeaseStore({ clock }) }),
}

describeStoreLaws(subject)
describeLeaseLaws(leasesOver(subject))
