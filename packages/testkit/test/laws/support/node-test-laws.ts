import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/node-test'
import { memorySubject } from './memory-subject.js'

describeStoreLaws(memorySubject)
describeLeaseLaws(leasesOver(memorySubject))
