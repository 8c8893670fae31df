import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { casSubject } from './support/cas-subject.js'

describeStoreLaws(casSubject)
describeLeaseLaws(leasesOver(casSubject))
