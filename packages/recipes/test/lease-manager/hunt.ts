/** Hunts for a deliberate bug of `LeaseManager`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { leaseManagerLaws } from '../laws/lease-manager.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { managerUnderLaw } from './subject.js'

await hunt({ laws: leaseManagerLaws, subjects: onEach([memorySubject, casSubject], managerUnderLaw), scenario })
