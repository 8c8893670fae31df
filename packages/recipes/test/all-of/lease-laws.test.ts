import { leaseLaws } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { jointLeases } from '../support/joint-leases.js'
import { storesInVirtualTime } from '../support/store-subjects.js'

/** The laws that are not about a `StoreLease`, or about the one token that a lease over one name has. */
const laws = leaseLaws.filter(({ needs }) => !needs.includes('store') && !needs.includes('tokens'))

for (const store of storesInVirtualTime) {
  for (const count of [2, 3]) describeLeaseLaws(jointLeases(store, count), laws)
}
