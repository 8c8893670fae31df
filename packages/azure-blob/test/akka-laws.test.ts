import { randomUUID } from 'node:crypto'
import { akkaBlobStore } from '@leasehold/azure-blob'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll } from 'vitest'
import { Azurite } from './support/azurite.js'
import { TTL } from './support/claims.js'
import { snapshotOf } from './support/copies.js'
import { prepared } from './support/prepared.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/** Whose expiry is observed. */
const akka: StoreSubject = {
  name: 'azure-blob, layout akka',
  time: 'real',
  ttl: TTL,
  clients: true,
  // Akka's rule makes one lease of several names; the store refuses the second of them.
  anyName: false,
  start: () => {
    const container = azurite.container(`akka-${randomUUID()}`)
    // There is one server.
    const open = () => akkaBlobStore(container, { clockDifference: 0 })
    return {
      open,
      prepare: prepared(open),
      delete: (name) => container.deleteBlob(name),
      copy: (name) => snapshotOf(container, name),
    }
  },
}

describeStoreLaws(akka)
describeLeaseLaws(leasesOver(akka))
