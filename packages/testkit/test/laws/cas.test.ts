import { casSubject } from '@leasehold/testing/cas-subject'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'

describeStoreLaws(casSubject)
describeLeaseLaws(leasesOver(casSubject))
