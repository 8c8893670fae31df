import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { memorySubject } from './support/memory-subject.js'

describeStoreLaws(memorySubject)
describeLeaseLaws(leasesOver(memorySubject))
