import { memorySubject } from '@leasehold/testing/memory-subject'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'

describeStoreLaws(memorySubject)
describeLeaseLaws(leasesOver(memorySubject))
