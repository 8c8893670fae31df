import { memorySubject } from '@leasehold/testing/memory-subject'
import { leasesOver } from '@leasehold/testkit'
import { describeGuardLaws, describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/node-test'
import { guardSubject } from './test-guard.js'

describeStoreLaws(memorySubject)
describeLeaseLaws(leasesOver(memorySubject))
describeGuardLaws(guardSubject())
