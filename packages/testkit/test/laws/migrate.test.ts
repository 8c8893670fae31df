import { migratingSubjects } from '@leasehold/testing/migrate-subjects'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'

for (const subject of migratingSubjects) {
  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
}
