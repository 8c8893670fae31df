import { leasesOver } from '@leasehold/testkit'
import { describeGuardLaws, describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/node-test'
import { memorySubject } from './memory-subject.js'
import { guardSubject } from './test-guard.js'

describeStoreLaws(memorySubject)
describeLeaseLaws(leasesOver(memorySubject))
describeGuardLaws(guardSubject())
