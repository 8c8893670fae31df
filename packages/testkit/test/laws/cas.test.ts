import { casSubject, markedCasSubject, timedCasSubject } from '@leasehold/testing/cas-subject'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'

for (const subject of [casSubject, timedCasSubject, markedCasSubject]) {
  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
}
