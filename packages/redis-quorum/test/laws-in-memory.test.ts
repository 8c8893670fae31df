import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { quorumOf } from './support/quorum-subject.js'

for (const size of [3, 5]) {
  describeStoreLaws(quorumOf(size))
  describeLeaseLaws(leasesOver(quorumOf(size)))
}
